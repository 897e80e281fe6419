/* FreeRTOS-MPU with time slicing (port GCC/ARM_CM4_MPU, wrappers of the second version). Two lines concern the memory
 * library: the hook at the end, and the eight regions. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000u
#define configTICK_RATE_HZ 1000u
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 5
#define configMINIMAL_STACK_SIZE 128u
#define configMAX_TASK_NAME_LEN 12
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configUSE_EVENT_GROUPS 0
#define configUSE_STREAM_BUFFERS 0
#define configUSE_MUTEXES 0
#define configUSE_TASK_NOTIFICATIONS 1
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configCHECK_HANDLER_INSTALLATION 0
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1

#define configKERNEL_INTERRUPT_PRIORITY 0xff
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x40

#define configTOTAL_MPU_REGIONS 8
#define configUSE_MPU_WRAPPERS_V1 0
#define configENABLE_ACCESS_CONTROL_LIST 0
#define configPROTECTED_KERNEL_OBJECT_POOL_SIZE 16
#define configSYSTEM_CALL_STACK_SIZE 128
#define configENFORCE_SYSTEM_CALLS_FROM_KERNEL_ONLY 1
#define configALLOW_UNPRIVILEGED_CRITICAL_SECTIONS 0
#define configENABLE_ERRATA_837070_WORKAROUND 0

/* Normal memory, write-back, allocating, not shareable (TEX=001 S=0 C=1 B=1): a Cortex-M7 does not cache shareable
 * memory. */
#define configTEX_S_C_B_FLASH 0x0bUL
#define configTEX_S_C_B_SRAM 0x0bUL

/* The registers of the task that is switched to: FreeRTOS loads what is in its control block right after this. */
void regions_switched_in(void *task, void *registers);
#define traceTASK_SWITCHED_IN() regions_switched_in(pxCurrentTCB, &pxCurrentTCB->xMPUSettings.xRegion[1])

#endif
