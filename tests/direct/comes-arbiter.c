/* Gives Non-secure state to one domain after the other, each 2 ms. Exit codes: 2 if a call failed. */
#include "cofferdam.h"

enum { FIRST = 80000, TICKS_OF_2_MS = 40000 };

int main(void) {
    uint32_t one = cof_cap("one", COF_KIND_DOMAIN), two = cof_cap("two", COF_KIND_DOMAIN);
    uint64_t next = FIRST;
    for (uint32_t change = 0;; change++) {
        if (cof_sleep_until(next) != 0)
            return 2;
        /* The handler's timer has steps of several cycles: this moves the call by less. */
        for (volatile uint32_t turn = 0; turn < change / 32 % 5; turn++)
            ;
        if (cof_occupy(change & 1 ? two : one) != 0)
            return 2;
        next += TICKS_OF_2_MS;
    }
}
