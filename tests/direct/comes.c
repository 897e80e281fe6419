/* A handler that comes at any time of a change to another domain, with a deed of its own: over the kernel it stays for
 * longer than looks are apart. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "devices.h"

/* The arbiter changes to the other domain at 6 ms, 10 ms, and so on. The phases are those between its call and the
 * change. */
enum { ROUNDS = 64, PHASES = 16, FIRST_PHASE = 170, FIRST = 120000, PERIOD = 80000, AHEAD = 4000 };

static volatile uint32_t *timer;

COF_ENTRY void fired(void) {
    uint32_t is_over_thread = (uint32_t)(uintptr_t)__builtin_return_address(0) & 8;
    timer[3] = 1;
    timer[0] = 0;
    for (volatile uint32_t turn = 0; is_over_thread == 0 && turn < 4000; turn++)
        ;
}

int main(void) {
    timer = registers_of("timer1");
    if (timer == 0)
        return 1;
    timer[2] = 0;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    uint64_t change = FIRST;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        change += PERIOD;
        if (cof_sleep_until(change - AHEAD) != 0)
            return 2;
        uint32_t now = (uint32_t)cof_time_now();
        timer[0] = 0;
        timer[3] = 1;
        timer[1] = (uint32_t)change - now + FIRST_PHASE + round % PHASES;
        timer[0] = 9;
    }
    return 0;
}
