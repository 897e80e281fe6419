/* Handlers that stay in the way into the kernel: the outer one, which an inner one without an end interrupts there, and
 * one whose link leads into the way in again. Both use up their capacity in each period. Mark 2: how often they have
 * been entered. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "devices.h"

enum { ROUNDS = 80, TICKS_OF_5_MS = 100000 };

static volatile uint32_t *timer, *uart;
static volatile uint32_t entered, links;

/* Comes from 3 us on, at another place in the way in each time. */
static void start_inner(void) {
    timer[0] = 0;
    timer[3] = 1;
    timer[1] = 60 + entered % 7;
    timer[0] = 9;
}

COF_ENTRY void outer(void) {
    uart[3] = 1;
    entered++;
    if (links) {
        uint32_t way_in = cof_wake_address;
        __asm__ volatile("mov lr, %0\n\tbx %1" ::"r"(way_in & ~1u), "r"(way_in | 1) : "lr");
    }
    start_inner();
    for (;;)
        cof_wake();
}

COF_ENTRY void inner(void) {
    timer[3] = 1;
    timer[0] = 0;
    entered++;
    for (;;)
        ;
}

int main(void) {
    timer = registers_of("timer1");
    uart = sender();
    if (timer == 0 || uart == 0)
        return 1;
    uint32_t kind = COF_KIND_INTERRUPT;
    if (cof_interrupt_ack(cof_cap("inner", kind)) != 0 || cof_interrupt_ack(cof_cap("outer", kind)) != 0)
        return 2;
    uint64_t next = cof_time_now();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        links = round % 4 == 3;
        uart[0] = '.';
        next += TICKS_OF_5_MS;
        if (cof_sleep_until(next) != 0)
            return 2;
    }
    return cof_mark(2, entered) != 0 ? 2 : 0;
}
