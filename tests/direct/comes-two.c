/* A domain with a handler that does nothing wrong. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "devices.h"

enum { TICKS_OF_10_MS = 200000 };

static volatile uint32_t *uart;

COF_ENTRY void fired(void) {
    uart[3] = 1;
}

int main(void) {
    uart = sender();
    if (uart == 0)
        return 1;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    for (;;)
        if (cof_sleep_until(cof_time_now() + TICKS_OF_10_MS) != 0)
            return 2;
}
