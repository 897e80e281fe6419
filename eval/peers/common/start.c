/* Vectors, the way from reset to the scheduler, and the exit. */
#include "peer.h"

extern uint32_t __stack_top[];
void SVC_HANDLER(void);
void PENDSV_HANDLER(void);
void SYSTICK_HANDLER(void);
void probe_irq_start(void);
void reset(void);

#define SCB_CCR (*(volatile uint32_t *)0xe000ed14u)
#define SCB_ICIALLU (*(volatile uint32_t *)0xe000ef50u)
#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88u)
#define NVIC_ISER0 (*(volatile uint32_t *)0xe000e100u)
#define NVIC_IPR(irq) (((volatile uint8_t *)0xe000e400u)[irq])
#define CACHES_ON ((1u << 16) | (1u << 17))
#define RUN_ENDS 0xff10u /* the record of abi::trace that ends a run */

static void fault(void) {
    peer_exit(2);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 32] = {
    [0] = __stack_top,
    [1] = reset,
    [2] = fault,
    [3] = fault,
    [4] = fault,
    [5] = fault,
    [6] = fault,
    [11] = SVC_HANDLER,
    [12] = fault,
    [14] = PENDSV_HANDLER,
    [15] = SYSTICK_HANDLER,
    [16 + TIMER1_IRQ] = probe_irq_start,
};

void peer_exit(uint32_t status) {
    __asm volatile("cpsid i" ::: "memory");
    peer_port[0] = status;
    peer_port[1] = RUN_ENDS;
    for (;;) {
    }
}

int peer_privileged(void) {
    uint32_t control;
    __asm volatile("mrs %0, control" : "=r"(control));
    return (control & 1u) == 0;
}

/* The tick stays off: nothing measured needs time, and it would only lengthen the peer's maxima. */
void vPortSetupTimerInterrupt(void) {}

void reset(void) {
    if (HAS_CACHES) {
        SCB_ICIALLU = 0;
        SCB_CCR |= CACHES_ON;
    }
    SCB_CPACR |= 0xfu << 20;
    __asm volatile("dsb\nisb" ::: "memory");
    NVIC_IPR(TIMER1_IRQ) = configMAX_SYSCALL_INTERRUPT_PRIORITY;
    NVIC_ISER0 = 1u << TIMER1_IRQ;
    board_set_up();
    workloads_create();
    vTaskStartScheduler();
    peer_exit(3);
}

PRIVILEGED_DATA static StaticTask_t idle_control;
static StackType_t idle_stack[configMINIMAL_STACK_SIZE] __attribute__((aligned(configMINIMAL_STACK_SIZE * 4)));

void vApplicationGetIdleTaskMemory(StaticTask_t **control, StackType_t **stack, configSTACK_DEPTH_TYPE *words) {
    *control = &idle_control;
    *stack = idle_stack;
    *words = configMINIMAL_STACK_SIZE;
}
