/* Restarts a domain as often as it dies. */
#include "cofferdam.h"

int main(void) {
    uint32_t died = cof_cap("died", COF_KIND_NOTIFICATION), dies = cof_cap("dies", COF_KIND_DOMAIN), bits;
    for (;;) {
        cof_wait(died, ~0u, &bits);
        cof_fault_next(dies, 0, 0);
        while (cof_domain_restart(dies, 0) == COF_E_AGAIN) {}
    }
}
