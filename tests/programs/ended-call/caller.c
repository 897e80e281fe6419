/* Enters one of two gates so that its bound ends at a boundary of all budgets. */
#include "cofferdam.h"

static uint32_t seed = 99;

static uint32_t draw(uint32_t n) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

int main(void) {
    uint32_t gate[2] = {cof_cap("slow", COF_KIND_GATE), cof_cap("mid", COF_KIND_GATE)}, value;
    uint32_t ms = cof_ticks_per_second() / 1000;
    for (uint64_t boundary = 50 * ms;; boundary += 10 * ms) {
        while (boundary < cof_time_now())
            boundary += 10 * ms;
        cof_sleep_until(boundary - ms / 10 - ms / 100 + draw(ms / 50));
        cof_gate_call(gate[draw(2)], 0, 0, 0, &value);
    }
}
