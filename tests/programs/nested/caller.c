/* Less important than the victim: enters a gate shortly before each release of the victim. */
#include "cofferdam.h"

int main(void) {
    uint32_t gate = cof_cap("outer", COF_KIND_GATE), budget = cof_cap("own", COF_KIND_BUDGET);
    uint32_t us = cof_ticks_per_second() / 1000000, next;
    cof_budget_query(budget, 0, &next);
    uint64_t grid = cof_time_now() + next;
    for (;;) {
        grid += 5000 * us;
        cof_sleep_until(grid - 30 * us);
        cof_gate_call(gate, 16 * us, 0, 0, 0);
    }
}
