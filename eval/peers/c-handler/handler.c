/* The handler of a miss, as a developer would write it: all of it C, compiled with -O2, run from flash. A fault at an
 * address whose range is not in a register loads it there; any other fault is a violation. */
#include "ranges.h"

#define IACCVIOL 0x01u
#define DACCVIOL 0x02u
#define MMARVALID 0x80u
#define MMFSR (*(volatile uint8_t *)0xe000ed28u)
#define MMFAR (*(volatile uint32_t *)0xe000ed34u)
#define MPU_RBAR (*(volatile uint32_t *)0xe000ed9cu)
#define MPU_RASR (*(volatile uint32_t *)0xe000eda0u)
#define RBAR_VALID 0x10u
#define RBAR_REGION 0x0fu
#define FRAME_PC 6u /* word of the exception frame */
#define VIOLATION 5u

struct domain *current;

/* The program counter that the hardware has stacked. */
static uint32_t faulting_instruction(void) {
    const uint32_t *frame;
    __asm volatile("mrs %0, psp" : "=r"(frame));
    return frame[FRAME_PC];
}

static int contains(const struct range *range, uint32_t address) {
    const uint32_t offset = address - (range->rbar & ~31u);
    const uint32_t eighth = offset >> (((range->rasr >> 1) & 31u) - 2u);
    return eighth < 8 && ((range->rasr >> 8 >> eighth) & 1u) == 0;
}

/* The range at `address`, which lies in no register; a null pointer if there is none, or if it is loaded and thus
 * denies the access. */
static struct range *find(const struct domain *domain, uint32_t address) {
    uintptr_t entry = domain->root;
    while ((entry & LEAF) == 0) {
        const struct node *const node = (const struct node *)entry;
        entry = node->entries[(address >> node->shift) % ENTRIES];
    }
    struct range *const range = (struct range *)(entry - LEAF);
    if (range == 0 || !contains(range, address))
        return 0;
    const struct range *const last = &domain->image[range->rbar & RBAR_REGION & (REGIONS - 1)];
    return last->rbar == range->rbar && last->rasr == range->rasr ? 0 : range;
}

/* The region to give up: bit-PLRU, where a use that can be seen is a fill. */
static uint32_t victim(struct domain *domain) {
    const uint32_t region = (uint32_t)__builtin_ctz(domain->candidates);
    domain->candidates &= ~(1u << region);
    if (domain->candidates == 0)
        domain->candidates = (((1u << PAGED) - 1u) << (REGIONS - PAGED)) & ~(1u << region);
    return region;
}

void memory_fault(void) {
    struct domain *const domain = current;
    const uint32_t why = MMFSR;
    struct range *range = 0;
    if (why == (DACCVIOL | MMARVALID)) {
        range = find(domain, MMFAR);
    } else if (why == IACCVIOL) {
        /* An instruction of four bytes may begin in one range and end in the next. */
        const uint32_t address = faulting_instruction();
        range = find(domain, address);
        if (range == 0)
            range = find(domain, address + 2);
    }
    if (range == 0)
        stop(VIOLATION);
    const uint32_t region = victim(domain);
    const struct range loaded = {(range->rbar & ~31u) | RBAR_VALID | region, range->rasr};
    MPU_RBAR = loaded.rbar;
    MPU_RASR = loaded.rasr;
    range->rbar = loaded.rbar;
    domain->image[region] = loaded;
    domain->misses++;
    MMFSR = (uint8_t)why; /* write one to clear */
    __asm volatile("dsb" ::: "memory");
}
