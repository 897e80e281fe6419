/* Keeps a pattern in floating-point registers for as long as its budget lasts, and faults if one of them changes. */
#include "cofferdam.h"

enum { ROUNDS = 6000 };

int main(void) {
    for (;;) {
        uint32_t wrong;
        __asm__ volatile("ldr r0, =0x5ec2e716\n"
                         "vmov s0, r0\n vmov s1, r0\n vmov s15, r0\n vmov s16, r0\n vmov s20, r0\n vmov s31, r0\n"
                         "mov r1, %1\n"
                         "0: vmov r2, s0\n eors r2, r0\n"
                         "vmov r3, s1\n eors r3, r0\n orrs r2, r3\n vmov r3, s15\n eors r3, r0\n orrs r2, r3\n"
                         "vmov r3, s16\n eors r3, r0\n orrs r2, r3\n vmov r3, s20\n eors r3, r0\n orrs r2, r3\n"
                         "vmov r3, s31\n eors r3, r0\n orrs r2, r3\n"
                         "bne 1f\n subs r1, #1\n bne 0b\n1: mov %0, r2\n"
                         : "=r"(wrong)
                         : "r"(ROUNDS)
                         : "r0", "r1", "r2", "r3", "s0", "s1", "s15", "s16", "s20", "s31", "cc");
        if (wrong != 0)
            __builtin_trap();
    }
}
