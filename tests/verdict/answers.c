/* A hostile domain that asks for what it may ask for: its gate copies an answer into its caller's memory, and its
 * thread restarts a domain that faults. */
#include <cofferdam.h>
#include <stdint.h>

static uint32_t answer[4] = {1, 2, 3, 4};

COF_ENTRY uint64_t fill(uint32_t badge, uint32_t to, uint32_t unused1, uint32_t unused2) {
    (void)badge, (void)unused1, (void)unused2;
    answer[0]++;
    return cof_reply(cof_gate_copy_out(to, answer, sizeof answer), 0);
}

int main(void) {
    const uint32_t faults = cof_cap("faults", COF_KIND_NOTIFICATION), fallen = cof_cap("fallen", COF_KIND_DOMAIN);
    for (;;) {
        (void)cof_wait(faults, ~0u, 0);
        while (cof_domain_restart(fallen, 0) == COF_E_AGAIN) {
            /* It takes as many steps as the domain has memory. */
        }
    }
}
