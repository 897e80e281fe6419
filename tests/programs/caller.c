/* Calls the gate of the domain `threads`. */
#include <stdio.h>

#include "cofferdam.h"

int main(void) {
    uint32_t gate = cof_cap("serve", COF_KIND_GATE), value[3] = {0};
    int32_t status = 0;
    for (uint32_t call = 0; call < 3; call++)
        status |= cof_gate_call(gate, 100 * (call + 1), 0, 0, &value[call]);
    printf("calls: %ld, %lu %lu %lu\n", (long)status, (unsigned long)value[0], (unsigned long)value[1],
           (unsigned long)value[2]);
    return 0;
}
