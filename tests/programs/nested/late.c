/* Stays beyond its bound, but returns before a timer can come. */
#include "cofferdam.h"

COF_ENTRY uint64_t late(uint32_t badge, uint32_t ticks, uint32_t x, uint32_t y) {
    uint32_t from = (uint32_t)cof_time_now();
    (void)badge, (void)x, (void)y;
    while ((uint32_t)cof_time_now() - from < ticks) {
    }
    return cof_reply(0, 0);
}

int main(void) {
    for (;;)
        cof_sleep_until(~0ull);
}
