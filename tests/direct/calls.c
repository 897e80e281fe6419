/* Has the kernel run for as much of the time as its budget allows. */
#include "cofferdam.h"

enum { CALLS = 8000 };

int main(void) {
    for (int i = 0; i < CALLS; i++)
        cof_yield();
    return 0;
}
