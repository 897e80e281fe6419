/* Threads that are due at the boundaries of all budgets, or a few microseconds beside them. */
#include "cofferdam.h"

static volatile uint32_t seed = 7;

static uint32_t draw(uint32_t n) {
    uint32_t s = seed;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    seed = s;
    return s % n;
}

COF_ENTRY void sleeper(const uint32_t *info, uint32_t argument) {
    uint32_t ms = cof_ticks_per_second() / 1000;
    (void)info, (void)argument;
    for (;;) {
        uint64_t at = cof_time_now();
        at += 10 * ms - (uint32_t)(at % (10 * ms));
        cof_sleep_until(at + (draw(3) ? 0 : draw(ms / 50)) - (draw(4) ? 0 : draw(ms / 50)));
    }
}

int main(void) {
    for (;;)
        cof_sleep_until(~0ull);
}
