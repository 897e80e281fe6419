/* More memory ranges than the protection unit has regions, in plain C and without a kernel: the design of MxU,
 * section 4.3. */
#ifndef RANGES_H
#define RANGES_H

#include <stdint.h>

#define REGIONS 8u
#define PAGED 3u /* of the regions, the last ones: what is paged takes turns in them */
#define ENTRIES 64u
#define LEAF 1u /* set in an entry that holds the address of a range */

/* A range as the protection unit takes it: the base, with the region that it was in last in bits 3 to 0; and
 * attributes, disabled eighths, size, enable. */
struct range {
    uint32_t rbar, rasr;
};

/* A node tells ranges apart by six bits of the address, from bit `shift` on. An entry is a node's address, a range's
 * with LEAF, or LEAF alone for nothing. */
struct node {
    uint32_t shift;
    uintptr_t entries[ENTRIES];
};

/* The ranges that a thread may access. */
struct domain {
    uintptr_t root;              /* an entry */
    struct range image[REGIONS]; /* what the registers hold while it runs */
    uint32_t candidates;         /* bit-PLRU: paged regions not filled lately, one bit each */
    uint32_t misses;
};

/* The domain that the registers describe. */
extern struct domain *current;

/* Vector of exception 4. */
void memory_fault(void);

/* Ends the run. */
_Noreturn void stop(uint32_t status);

#endif
