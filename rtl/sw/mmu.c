#include "mmu.h"

#define ENTRIES (1u << (MMU_KIND >> 16 & 0xff))
#define C (TABLE_A)
#define SP (TABLE_A + ENTRIES)
#define H (TABLE_B)
#define S (TABLE_B + ENTRIES)
#define D (TABLE_D)
#define RIGHTS_SHIFT 28
#define VALID 0x80000000u
#define SP_MASK 0xfffffu

static uint32_t kind(void) {
    return MMU_KIND & 7;
}

// Second level of Sv32: 1024 entries in the table page behind the root. Accessed, dirty, user, valid.
static volatile uint32_t *sv32_leaf(const struct domain *domain, uint32_t page) {
    return D + (domain->base - TABLE_D_PAGE + 1) * 1024 + page;
}
static uint32_t sv32_entry(uint32_t frame, uint32_t rights) {
    return frame << 10 | 0xc0 | 0x10 | rights << 1 | 1;
}

void domain_clear(const struct domain *domain, uint32_t junk) {
    const uint32_t pages = 1u << domain->pages_log2, base = domain->base;
    switch (kind()) {
    case KIND_RTMMU:
        for (uint32_t i = 0; i < pages; i++) {
            SP[base + i] = 0;
            C[base + i] = H[base + i] = S[base + i] = D[base + i] = junk == 0xffffffff ? i : junk;
        }
        break;
    case KIND_DIRECT:
        for (uint32_t i = 0; i < pages; i++)
            D[base + i] = 0;
        break;
    case KIND_SV32:
        for (uint32_t i = 0; i < 1024; i++) {
            D[(base - TABLE_D_PAGE) * 1024 + i] = 0;
            *sv32_leaf(domain, i) = 0;
        }
        D[(base - TABLE_D_PAGE) * 1024 + 512] = (base + 1) << 10 | 1;
        break;
    default:
        break;
    }
}

void domain_switch(const struct domain *domain) {
    MMU_BASE = domain->base;
    MMU_PAGES_LOG2 = domain->pages_log2;
    MMU_CONTROL = 1;
}

void region_begin(const struct domain *domain, uint32_t page, uint32_t pages, uint32_t rights) {
    (void)pages;
    if (kind() == KIND_RTMMU)
        SP[domain->base + page] = VALID | rights << RIGHTS_SHIFT | page;
}

void page_map(const struct domain *domain, uint32_t region, uint32_t page, uint32_t frame, uint32_t rights) {
    const uint32_t base = domain->base;
    switch (kind()) {
    case KIND_RTMMU: {
        const uint32_t header = SP[base + region], top = header & SP_MASK;
        D[base + page] = frame;
        C[base + page] = region;
        H[base + page] = top;
        S[base + top] = page;
        SP[base + region] = header + 1;
        break;
    }
    case KIND_DIRECT:
        D[base + page] = VALID | rights << RIGHTS_SHIFT | frame;
        break;
    case KIND_SV32:
        *sv32_leaf(domain, page) = sv32_entry(frame, rights);
        MMU_FLUSH = 0;
        break;
    default:
        break;
    }
}

void region_end(const struct domain *domain, uint32_t page, uint32_t pages) {
    const uint32_t base = domain->base;
    switch (kind()) {
    case KIND_RTMMU:
        SP[base + page] = page;
        break;
    case KIND_DIRECT:
        for (uint32_t i = 0; i < pages; i++)
            D[base + page + i] = 0;
        break;
    case KIND_SV32:
        for (uint32_t i = 0; i < pages; i++)
            *sv32_leaf(domain, page + i) = 0;
        MMU_FLUSH = 0;
        break;
    default:
        break;
    }
}
