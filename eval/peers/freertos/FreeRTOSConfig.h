/* FreeRTOS without protection (ports GCC/ARM_CM7/r0p1 and GCC/ARM_CM33_NTZ): every task is privileged. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "config.h"

#define configENABLE_MPU 0

#endif
