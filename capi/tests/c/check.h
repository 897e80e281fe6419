/* The helpers that the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cofferdam_mem.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* xorshift64*: the same numbers everywhere. */
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint32_t below(uint32_t n) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 0x2545f4914f6cdd1du >> 32) % n);
}

/* Decides by the manual whether a pair of registers permits an address (ARM DDI 0403, B3.5): the
 * region is on, it contains the address, and the eighth that does is not disabled. */
static inline int contains(cfm_regs regs, uint32_t address) {
    const uint32_t log2 = (regs.rasr >> 1 & 31u) + 1, base = regs.rbar & ~31u;
    const uint64_t offset = (uint64_t)address - base;
    if ((regs.rasr & 1) == 0 || address < base || offset >> log2 != 0)
        return 0;
    return log2 < 8 || (regs.rasr >> 8 >> (offset >> (log2 - 3)) & 1) == 0;
}

#endif
