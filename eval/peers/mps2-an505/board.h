/* The board as the peers use it, all of it Secure, and the names that its port of FreeRTOS has. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define TIMER1 0x50001000u /* 20 MHz */
#define TIMER1_IRQ 4u
#define HAS_CACHES 0

#define SVC_HANDLER SVC_Handler
#define PENDSV_HANDLER PendSV_Handler
#define SYSTICK_HANDLER SysTick_Handler

/* One security state: the port without its Secure side. */
#define configENABLE_TRUSTZONE 0
#define configRUN_FREERTOS_SECURE_ONLY 1
#define configENABLE_FPU 1

/* The shared memory of tasks, as regions of the protected build. */
#define TASK_REGIONS                                                                                                   \
    {                                                                                                                  \
        {&shared, SHARED_BYTES, tskMPU_REGION_READ_WRITE | tskMPU_REGION_EXECUTE_NEVER}, {                             \
            (void *)TIMER1, 32, tskMPU_REGION_READ_WRITE | tskMPU_REGION_EXECUTE_NEVER | tskMPU_REGION_DEVICE_MEMORY   \
        }                                                                                                              \
    }

/* The peripheral protection controller lets unprivileged code at the timer. */
static inline void board_set_up(void) {
    *(volatile uint32_t *)0x500800b0u |= 1u << 1;
}

#endif
