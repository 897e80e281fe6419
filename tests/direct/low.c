/* Waits with its stack pointer closer to the end of its stack in each life, while handlers of another domain interrupt
 * it: their frame does not fit at last. Each life ends in a fault of its own. */
#include "cofferdam.h"

enum { FIRST_BYTES = 400, STEP_BYTES = 8, LIVES = 12, ROUNDS = 40000 };

int main(void) {
    uint32_t life = cof_restarts() % LIVES, rounds = ROUNDS;
    uint32_t sp = ((uint32_t)(uintptr_t)__builtin_frame_address(0) & ~7u) - FIRST_BYTES - STEP_BYTES * life;
    __asm__ volatile("mov r4, sp\n mov sp, %1\n 1: subs %0, #1\n bne 1b\n mov sp, r4\n"
                     : "+r"(rounds)
                     : "r"(sp)
                     : "r4", "cc", "memory");
    __builtin_trap();
}
