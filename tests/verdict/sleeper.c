/* Sleeps for a drawn time, again and again: each time another thread is switched to, which may run for E + X without
 * paying. */
#include <stdint.h>

#include "cofferdam.h"

int main(void) {
    uint32_t drawn = 12345;
    for (int n = 0; n < 400; n++) {
        drawn = drawn * 1103515245u + 12345u;
        cof_sleep_until(cof_time_now() + 300 + (drawn >> 16) % 600);
    }
    return 0;
}
