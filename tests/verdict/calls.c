/* Calls all the time: of its stays, the kernel's part is the larger one. */
#include "cofferdam.h"

int main(void) {
    for (;;)
        (void)cof_time_now();
}
