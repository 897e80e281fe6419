// Fills the tables of any of the SoC's MMUs, for tests: one domain at a time, regions in ascending order.
// The kernel's own code is crates/rtmmu; this one knows neither a tree nor a list of frames.
#ifndef MMU_H
#define MMU_H

#include "soc.h"

struct domain {
    uint32_t base; // first entry in the tables; Sv32: the table page of the root, the next one is the second level
    uint32_t pages_log2; // at most 10
};

// Empties the domain's tables and writes `junk` wherever contents must not matter.
void domain_clear(const struct domain *domain, uint32_t junk);
// Makes the MMU translate for the domain.
void domain_switch(const struct domain *domain);
// A region of `pages` pages from `page` on, nothing mapped. RTMMU: one header.
void region_begin(const struct domain *domain, uint32_t page, uint32_t pages, uint32_t rights);
// Maps `page` of the region that begins at `region`.
void page_map(const struct domain *domain, uint32_t region, uint32_t page, uint32_t frame, uint32_t rights);
// Unmaps a region: RTMMU one store, the others one for each page.
void region_end(const struct domain *domain, uint32_t page, uint32_t pages);

#endif
