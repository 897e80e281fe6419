/* Calls the gate `look` before anything of its domain has run, and when all has. */
#include <stdio.h>

#include "cofferdam.h"

int main(void) {
    uint32_t gate = cof_cap("look", COF_KIND_GATE), value = 0;
    int32_t early = cof_gate_call(gate, 0, 0, 0, &value);
    cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 25);
    int32_t late = cof_gate_call(gate, 0, 0, 0, &value);
    printf("early %d, late %d: %u\n", (int)early, (int)late, (unsigned)value);
    return 0;
}
