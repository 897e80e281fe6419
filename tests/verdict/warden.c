/* Restarts the domain `w` in every second period, and computes for the rest of the period. */
#include <cofferdam.h>
#include <stdint.h>
int main(void) {
    const uint32_t w = cof_cap("w", COF_KIND_DOMAIN);
    const uint64_t period = cof_ticks_per_second() / 100;
    for (;;) {
        const uint64_t now = cof_time_now() / period;
        if (now % 2 == 0 && now > 0) {
            (void)cof_domain_stop(w);
            while (cof_domain_restart(w, 0) == COF_E_AGAIN) {
            }
        }
        while (cof_time_now() / period == now) {
        }
    }
}
