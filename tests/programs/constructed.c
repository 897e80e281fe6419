/* A program with a constructor: a gate's caller comes before it has run, and the second thread before the first. */
#include <stdio.h>

#include "cofferdam.h"

static int value, times;

__attribute__((constructor)) static void construct(void) {
    value = 7;
    times++;
}

COF_ENTRY uint64_t look(uint32_t badge, uint32_t unused0, uint32_t unused1, uint32_t unused2) {
    (void)badge;
    (void)unused0;
    (void)unused1;
    (void)unused2;
    return cof_reply(0, (uint32_t)(10 * value + times));
}

COF_ENTRY void second(const uint32_t *info, uint32_t argument) {
    printf("second %lu: %d, %d times, block %s\n", (unsigned long)argument, value, times,
           info == cof_info() ? "found" : "LOST");
    cof_exit(0);
}

int main(void) {
    printf("first: %d, %d times\n", value, times);
    /* Until the client has called again. */
    cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 15);
    return 0;
}
