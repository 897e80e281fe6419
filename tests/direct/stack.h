/* A thread that waits with its stack pointer where a handler's frame does not fit at last: closer to the end of its stack
 * in each life. */
#ifndef DIRECT_STACK_H
#define DIRECT_STACK_H
#include "cofferdam.h"

enum { FIRST_BYTES = 400, STEP_BYTES = 8, LIVES = 12, ROUNDS = 40000 };

/* Waits, from 0 to LIVES - 1 steps down, and then faults: each life ends in a fault of its own. */
static inline __attribute__((always_inline, noreturn)) void wait_low(uint32_t life) {
    uint32_t rounds = ROUNDS;
    uint32_t sp = ((uint32_t)(uintptr_t)__builtin_frame_address(0) & ~7u) - FIRST_BYTES - STEP_BYTES * life;
    __asm__ volatile("mov r4, sp\n mov sp, %1\n 1: subs %0, #1\n bne 1b\n mov sp, r4\n"
                     : "+r"(rounds)
                     : "r"(sp)
                     : "r4", "cc", "memory");
    __builtin_trap();
}
#endif
