/* Calls the gate of `service` before the service's first thread has run, and then while it runs. */
#include <stdio.h>

#include "cofferdam.h"

int main(void) {
    uint32_t gate = cof_cap("show", COF_KIND_GATE), value, wrong = 0, failed = 0;
    for (int call = 0; call < 20; call++) {
        value = 0;
        failed += cof_gate_call(gate, 0, 0, 0, &value) != 0;
        wrong += value;
        if (call >= 2)
            cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 3700);
    }
    printf("%u calls failed, %u wrong\n", (unsigned)failed, (unsigned)wrong);
    return 0;
}
