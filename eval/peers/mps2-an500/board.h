/* The board as the peers use it, and the names that its port of FreeRTOS has. */
#ifndef BOARD_H
#define BOARD_H

#define TIMER1 0x40001000u /* 25 MHz */
#define TIMER1_IRQ 9u
#define HAS_CACHES 1

#define SVC_HANDLER vPortSVCHandler
#define PENDSV_HANDLER xPortPendSVHandler
#define SYSTICK_HANDLER xPortSysTickHandler

/* The shared memory of tasks, as a region of the protected build; the port opens the devices to every task. */
#define TASK_REGIONS                                                                                                   \
    {                                                                                                                  \
        {                                                                                                              \
            &shared, SHARED_BYTES,                                                                                     \
                portMPU_REGION_READ_WRITE | portMPU_REGION_EXECUTE_NEVER | (configTEX_S_C_B_SRAM << 16)                \
        }                                                                                                              \
    }

static inline void board_set_up(void) {}

#endif
