/* Calls a gate whose calls take longer than their bound, as long as that is let in. */
#include "cofferdam.h"

static uint32_t late;

COF_ENTRY uint64_t outer(uint32_t badge, uint32_t ticks, uint32_t x, uint32_t y) {
    uint32_t calls = 0;
    (void)badge, (void)x, (void)y;
    while (cof_gate_call(late, ticks, 0, 0, 0) == 0)
        calls++;
    return cof_reply(0, calls);
}

int main(void) {
    late = cof_cap("late", COF_KIND_GATE);
    for (;;)
        cof_sleep_until(~0ull);
}
