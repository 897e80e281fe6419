/* FreeRTOS with memory protection (ports GCC/ARM_CM4_MPU and GCC/ARM_CM33_NTZ, wrappers of the second version): the
 * tasks are unprivileged, each with its own stack region. Access control lists for kernel objects stay off, which makes
 * the peer faster. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "config.h"

#define configENABLE_MPU 1
#define configTOTAL_MPU_REGIONS 8
#define configUSE_MPU_WRAPPERS_V1 0
#define configENABLE_ACCESS_CONTROL_LIST 0
#define configPROTECTED_KERNEL_OBJECT_POOL_SIZE 32
#define configSYSTEM_CALL_STACK_SIZE 128
#define configENFORCE_SYSTEM_CALLS_FROM_KERNEL_ONLY 1
#define configALLOW_UNPRIVILEGED_CRITICAL_SECTIONS 0
#define configENABLE_ERRATA_837070_WORKAROUND 0

/* Normal memory, write-back, allocating, not shareable (TEX=001 S=0 C=1 B=1): the port's default is shareable, which a
 * Cortex-M7 does not cache. The Cortex-M33's port has attributes of its own. */
#define configTEX_S_C_B_FLASH 0x0bUL
#define configTEX_S_C_B_SRAM 0x0bUL

#endif
