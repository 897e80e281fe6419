/* The configuration that both peers share. Everything that only costs time is off: assertions,
 * tracing, stack checks, statistics, and the tick (see peer.c), so that a peer is measured at its
 * best. */
#ifndef PEER_CONFIG_H
#define PEER_CONFIG_H

#include "board.h"

#define configCPU_CLOCK_HZ 25000000u /* the board's clock; nothing measured depends on it */
#define configTICK_RATE_HZ 1000u
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 128u
#define configMAX_TASK_NAME_LEN 8
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configUSE_EVENT_GROUPS 0
#define configUSE_STREAM_BUFFERS 0
#define configUSE_MUTEXES 0
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_TRACE_FACILITY 0
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configCHECK_HANDLER_INSTALLATION 0
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define INCLUDE_vTaskSuspend 1

/* Priorities of interrupts: 0 is the most urgent; the peers mask everything from MAX_SYSCALL on. */
#define configKERNEL_INTERRUPT_PRIORITY 0xff
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x40

#endif
