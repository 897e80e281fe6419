/* Faults once. In its second life it only computes, so that it neither waits nor sleeps. */
#include "cofferdam.h"

int main(void) {
    if (cof_restarts() == 0)
        __builtin_trap();
    for (;;)
        __asm__ volatile("nop");
}
