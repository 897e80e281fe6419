/* Calls the gate `ask` once, as early as it can. */
#include <stdio.h>

#include "cofferdam.h"

int main(void) {
    uint32_t value = 0;
    int32_t status = cof_gate_call(cof_cap("ask", COF_KIND_GATE), 40, 0, 0, &value);
    printf("status %d, value %u\n", (int)status, (unsigned)value);
    return 0;
}
