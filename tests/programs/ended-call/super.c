/* Restarts the callee after each fault. */
#include "cofferdam.h"

int main(void) {
    uint32_t faults = cof_cap("faults", COF_KIND_NOTIFICATION), g = cof_cap("g", COF_KIND_DOMAIN);
    uint32_t bits, left, fault, address;
    for (;;) {
        cof_wait(faults, ~0u, &bits);
        while (cof_fault_next(g, &fault, &address) == 0 && fault)
            ;
        while (cof_domain_restart(g, &left) == COF_E_AGAIN)
            ;
    }
}
