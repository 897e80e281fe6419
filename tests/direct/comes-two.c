/* A domain with a handler that does nothing wrong. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "cofferdam.h"

enum { TICKS_OF_10_MS = 200000 };

static volatile uint32_t *uart;

COF_ENTRY void fired(void) {
    uart[3] = 1;
}

int main(void) {
    struct cof_area area;
    if (cof_area("uart1", &area) != 0)
        return 1;
    uart = (volatile uint32_t *)(uintptr_t)area.base;
    uart[4] = 16;
    uart[2] = 5;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    for (;;)
        if (cof_sleep_until(cof_time_now() + TICKS_OF_10_MS) != 0)
            return 2;
}
