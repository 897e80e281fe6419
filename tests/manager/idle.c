/* A client that asks for nothing. */
#include "cofferdam.h"

int main(void) {
    for (;;)
        cof_sleep_until(cof_time_now() + 10ull * cof_ticks_per_second());
}
