/* Vectors, the way from reset to the thread, supervisor calls, and the exit. */
#include "misses.h"

#define SCB_CCR (*(volatile uint32_t *)0xe000ed14u)
#define SCB_SHCSR (*(volatile uint32_t *)0xe000ed24u)
#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88u)
#define SCB_ICIALLU (*(volatile uint32_t *)0xe000ef50u)
#define MPU_CTRL (*(volatile uint32_t *)0xe000ed94u)
#define MPU_RBAR (*(volatile uint32_t *)0xe000ed9cu)
#define MPU_RASR (*(volatile uint32_t *)0xe000eda0u)
#define CACHES_ON ((1u << 16) | (1u << 17))
#define MEMFAULTENA (1u << 16)
#define MPU_ON_WITH_BACKGROUND 5u
#define RUN_ENDS 0xff10u /* the record of abi::trace that ends a run */

extern uint32_t __stack_top[];
void reset(void);

/* The observer counts masked stretches from the first word 1 that is stored to the second word: after start-up. */
volatile uint32_t peer_port[2];

_Noreturn void stop(uint32_t status) {
    __asm volatile("cpsid i" ::: "memory");
    peer_port[0] = status;
    peer_port[1] = RUN_ENDS;
    for (;;) {
    }
}

static void fault(void) {
    stop(2);
}

/* From now on the registers are those of a domain. */
static void load_regions(struct domain *domain) {
    current = domain;
    for (uint32_t region = 0; region < REGIONS; region++) {
        MPU_RBAR = domain->image[region].rbar;
        MPU_RASR = domain->image[region].rasr;
    }
    __asm volatile("dsb\nisb" ::: "memory");
}

/* The thread asks for another domain, or, with a number behind the last one, for the end: status 0 if each load has
 * missed once and read 0. */
static void supervisor_call(void) {
    const uint32_t *frame;
    __asm volatile("mrs %0, psp" : "=r"(frame));
    if (frame[0] >= DOMAINS)
        stop(frame[1] == 0 && misses_are_complete() ? 0 : 1);
    load_regions(&domains[frame[0]]);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    [0] = __stack_top,  [1] = reset, [2] = fault, [3] = fault,
    [4] = memory_fault, [5] = fault, [6] = fault, [11] = supervisor_call,
};

void reset(void) {
    SCB_ICIALLU = 0;
    SCB_CCR |= CACHES_ON;
    SCB_CPACR |= 0xfu << 20;
    SCB_SHCSR |= MEMFAULTENA;
    domains_create();
    load_regions(&domains[0]);
    MPU_CTRL = MPU_ON_WITH_BACKGROUND;
    peer_port[0] = 0;
    peer_port[1] = 1;
    __asm volatile("msr psp, %0\n"
                   "mov r0, #3\n" /* unprivileged, on the process stack */
                   "msr control, r0\n"
                   "dsb\nisb\n"
                   "bx %1"
                   :
                   : "r"(thread_stack + STACK_BYTES / 4), "r"(thread)
                   : "r0", "memory");
    __builtin_unreachable();
}
