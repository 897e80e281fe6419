/* Keeps a pattern in its registers, with FLOATS in those of the floating-point unit, for as long as its budget lasts.
 * It faults if one of them changes; its stack pointer must be right whenever it returns from a function. */
#include "cofferdam.h"

enum { ROUNDS = 40 };

#ifdef FLOATS
static __attribute__((noinline)) uint32_t keep(void) {
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
                     : "r0", "r1", "r2", "r3", "lr", "s0", "s1", "s15", "s16", "s20", "s31", "cc");
    return wrong;
}
#else
static __attribute__((noinline)) uint32_t keep(void) {
    uint32_t wrong;
    __asm__ volatile("ldr r0, =0x5ec2e716\n"
                     "mov r4, r0\n mov r5, r0\n mov r6, r0\n mov r8, r0\n mov r9, r0\n mov r10, r0\n mov r11, r0\n"
                     "mov r1, %1\n"
                     "0: eors r2, r4, r0\n eors r3, r5, r0\n orrs r2, r3\n eors r3, r6, r0\n orrs r2, r3\n"
                     "eors r3, r8, r0\n orrs r2, r3\n eors r3, r9, r0\n orrs r2, r3\n eors r3, r10, r0\n orrs r2, r3\n"
                     "eors r3, r11, r0\n orrs r2, r3\n"
                     "bne 1f\n subs r1, #1\n bne 0b\n1: mov %0, r2\n"
                     : "=r"(wrong)
                     : "r"(ROUNDS)
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "cc");
    return wrong;
}
#endif

int main(void) {
    while (keep() == 0)
        ;
    __builtin_trap();
}
