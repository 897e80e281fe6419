/* Asks for answers, and is done when the other domain has been restarted a few times. */
#include <cofferdam.h>
#include <stdint.h>

#define CALLS 20

#ifdef FALLS
static volatile uint32_t changed[64];
int main(void) {
    for (unsigned index = 0; index < 64; index++)
        changed[index] = cof_restarts() + 1;
    if (cof_restarts() < 3)
        __builtin_trap();
    return 0;
}
#else
static uint32_t answer[4];
int main(void) {
    const uint32_t gate = cof_cap("fill", COF_KIND_GATE);
    for (uint32_t call = 0; call < CALLS; call++) {
        if (cof_gate_call(gate, (uint32_t)(uintptr_t)answer, 0, 0, 0) != 0)
            return 1;
        if (answer[0] != call + 2 || answer[3] != 4)
            return 2;
        (void)cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 500);
    }
    return 0;
}
#endif
