/* Regions, trie and slots against models that are as simple as can be: a table with an entry for each granule. */
#include "check.h"

#define WINDOW 0x20000000u
#define GRANULES 512u /* of 32 bytes */

static unsigned encoded, refused, covered, inserted, full, removed, filled, violations, unmapped;

/* Any range of the window, or every other time one that is expressible. */
static cfm_span window_span(void) {
    const uint32_t first = below(GRANULES), count = 1 + below(GRANULES - first);
    cfm_span span = {.base = WINDOW + 32 * first, .len = 32ull * count}, place;
    if (below(2) == 0 && cfm_region_place(span.len, span.base, &place) == CFM_OK &&
        place.base + place.len <= WINDOW + 32 * GRANULES)
        return place;
    return span;
}

static int in_span(cfm_span span, uint32_t address) {
    return address >= span.base && address - span.base < span.len;
}

static int is_exact(const cfm_regs *regs, uint32_t count, cfm_span span) {
    for (uint32_t address = WINDOW - 64; address < WINDOW + 32 * GRANULES + 64; address += 32) {
        int any = 0;
        for (uint32_t i = 0; i < count; i++)
            any |= contains(regs[i], address) && contains(regs[i], address + 31);
        if (any != in_span(span, address))
            return 0;
    }
    return 1;
}

static void check_refusal(cfm_span asked, const cfm_refusal *why) {
    cfm_regs regs;
    CHECK(why->rule == CFM_RULE_ONE_REGION && why->limit == 1);
    CHECK(why->asked.base == asked.base && why->asked.len == asked.len && why->regions >= 2);
    CHECK(why->grown.base <= asked.base && why->grown.base + why->grown.len >= asked.base + asked.len);
    CHECK(cfm_region_encode(&why->grown, CFM_READ, CFM_WRITE_BACK, &regs, NULL) == CFM_OK);
    CHECK(why->moved.base >= asked.base && why->moved.len >= asked.len);
    CHECK(cfm_region_encode(&why->moved, CFM_READ, CFM_WRITE_BACK, &regs, NULL) == CFM_OK);
}

static void regions(void) {
    for (unsigned round = 0; round < 5000; round++) {
        const cfm_span span = window_span();
        cfm_regs one, many[CFM_COVER_MOST];
        cfm_refusal why;
        uint32_t count = 99;
        const cfm_status status = cfm_region_encode(&span, CFM_READ | CFM_WRITE, CFM_WRITE_BACK, &one, &why);
        if (status == CFM_OK) {
            CHECK(is_exact(&one, 1, span) && one.rasr >> 24 == 0x13); /* never executed, read and write */
            CHECK((one.rasr >> 16 & 63) == 11);                       /* TEX 001, C, B, not shareable */
            encoded++;
        } else {
            CHECK(status == CFM_REFUSED);
            check_refusal(span, &why);
            refused++;
        }
        CHECK(cfm_region_cover(&span, CFM_READ, CFM_WRITE_BACK, many, CFM_COVER_MOST, &count, &why) == CFM_OK);
        CHECK(count >= 1 && count <= CFM_COVER_MOST && (count == 1) == (status == CFM_OK));
        CHECK(is_exact(many, count, span));
        if (count > 1) {
            uint32_t same = 99;
            CHECK(cfm_region_cover(&span, CFM_READ, CFM_WRITE_BACK, many, count - 1, &same, &why) == CFM_REFUSED);
            CHECK(why.rule == CFM_RULE_REGISTERS && why.limit == count - 1 && why.regions == count && same == 99);
        }
        covered++;
    }
}

static void rules(void) {
    const struct {
        cfm_span span;
        uint32_t access, memory, rule;
    } cases[] = {
        {{0, 0x1000, 0}, CFM_READ, CFM_WRITE_BACK, CFM_RULE_EMPTY},
        {{0x2000, 0xfffff000u, 0}, CFM_READ, CFM_WRITE_BACK, CFM_RULE_ADDRESS_SPACE},
        {{0x21, 0x1000, 0}, CFM_READ, CFM_WRITE_BACK, CFM_RULE_GRANULE},
        {{0x60, 0x1000, 0}, CFM_READ, CFM_WRITE_BACK, CFM_RULE_ONE_REGION},
        {{0x1000, 0x40000000u, 0}, CFM_READ | CFM_EXECUTE, CFM_DEVICE, CFM_RULE_DEVICE_EXECUTE},
        {{0x1000, 0x1000, 0}, CFM_EXECUTE, CFM_WRITE_BACK, CFM_RULE_EXECUTE_UNREADABLE},
    };
    cfm_regs regs = {1, 2};
    cfm_span place;
    /* 96 bytes at 0x1000 are three eighths of 256 bytes: one region. At 0x10e0 they cross the end of a block. */
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        cfm_span span = cases[i].span;
        cfm_refusal why;
        if (cases[i].rule == CFM_RULE_ONE_REGION)
            span.base = 0x10e0;
        CHECK(cfm_region_encode(&span, cases[i].access, cases[i].memory, &regs, &why) == CFM_REFUSED);
        CHECK(why.rule == cases[i].rule && regs.rbar == 1 && regs.rasr == 2);
    }
    const cfm_span all = {.len = 1ull << 32};
    CHECK(cfm_region_encode(&all, 0, CFM_WRITE_BACK, &regs, NULL) == CFM_OK && regs.rasr == 0x110b003fu);
    CHECK(cfm_region_encode(&all, CFM_WRITE, CFM_WRITE_BACK, &regs, NULL) == CFM_ARGUMENT);
    CHECK(cfm_region_encode(&all, 8, CFM_WRITE_BACK, &regs, NULL) == CFM_ARGUMENT);
    CHECK(cfm_region_encode(&all, CFM_READ, 5, &regs, NULL) == CFM_ARGUMENT);
    CHECK(cfm_region_place(5000, 0x20000100u, &place) == CFM_OK);
    CHECK(place.len == 5120 && place.base >= 0x20000100u);
    CHECK(cfm_region_encode(&place, CFM_READ, CFM_WRITE_BACK, &regs, NULL) == CFM_OK);
    CHECK(cfm_region_place(0, 0, &place) == CFM_ARGUMENT);
    CHECK(cfm_region_place(0x1000, 0xfffff001u, &place) == CFM_REFUSED);
}

/* The trie's part of the address space: 4096 granules of 256 bytes, spread over 64 places so that every level is
 * used. */
#define CELLS 4096u
#define REGIONS_MOST 200u

static uint32_t cell_address(uint32_t cell) {
    return 0x20000000u + cell % 64 * 256 + cell / 64 % 8 * 0x10000u + cell / 512 * 0x1800000u;
}

static cfm_node nodes[96];
static cfm_regs leaves[REGIONS_MOST];
static cfm_trie trie;
static cfm_regs known[REGIONS_MOST];
static uint32_t known_count;

static cfm_regs random_region(void) {
    for (;;) {
        const uint32_t cells = 1u << below(4), eighths = below(4) == 0 ? 1 + below(7) : 8,
                       cell = below(CELLS) / cells * cells;
        cfm_regs regs;
        const cfm_span span = {.base = cell_address(cell), .len = 256ull * cells / 8 * eighths};
        if (cfm_region_encode(&span, CFM_READ | CFM_WRITE, CFM_WRITE_BACK, &regs, NULL) == CFM_OK &&
            (regs.rasr >> 1 & 31) >= 7)
            return regs;
    }
}

static const cfm_regs *find_known(uint32_t address) {
    for (uint32_t i = 0; i < known_count; i++)
        if (contains(known[i], address))
            return &known[i];
    return NULL;
}

static int is_free(cfm_regs regs) {
    for (uint32_t offset = 0; offset >> ((regs.rasr >> 1 & 31) + 1) == 0; offset += 32)
        if (contains(regs, regs.rbar + offset) && find_known(regs.rbar + offset) != NULL)
            return 0;
    return 1;
}

static void insert_one(void) {
    const cfm_regs regs = random_region();
    const cfm_status status = cfm_trie_insert(&trie, &regs);
    if (!is_free(regs)) {
        CHECK(status == (known_count == REGIONS_MOST ? CFM_NO_LEAVES : CFM_MAPPED));
    } else if (known_count == REGIONS_MOST) {
        CHECK(status == CFM_NO_LEAVES);
    } else if (status == CFM_NO_NODES) {
        full++;
    } else {
        CHECK(status == CFM_OK);
        known[known_count++] = regs;
        inserted++;
    }
}

/* The header's formula for the number of nodes. */
static uint32_t most_nodes(void) {
    static const uint32_t blocks[] = {26, 22, 16, 10};
    uint32_t most = 1;
    for (unsigned level = 0; level < 4; level++) {
        uint32_t seen[2 * REGIONS_MOST + 1], count = 0;
        for (uint32_t i = 0; i < known_count; i++) {
            const uint32_t log2 = (known[i].rasr >> 1 & 31) + 1,
                           granule = (known[i].rasr >> 8 & 255) != 0 ? log2 - 3 : log2;
            if (granule >= blocks[level])
                continue;
            for (uint32_t offset = 0; offset >> log2 == 0; offset += 32) {
                const uint32_t block = (known[i].rbar + offset) >> blocks[level];
                if (contains(known[i], known[i].rbar + offset) && (count == 0 || seen[count - 1] != block))
                    seen[count++] = block;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t before = 0;
            for (uint32_t j = 0; j < i; j++)
                before |= seen[j] == seen[i];
            most += !before;
        }
    }
    return most;
}

static void look_up(void) {
    const uint32_t address = cell_address(below(CELLS)) + below(256);
    const cfm_regs *expected = find_known(address);
    cfm_regs found = {7, 7};
    uint32_t depth = 99;
    const cfm_status status = cfm_trie_lookup(&trie, address, &found);
    CHECK(status == (expected == NULL ? CFM_NOT_MAPPED : CFM_OK));
    CHECK(expected == NULL ? found.rbar == 7 : memcmp(&found, expected, sizeof found) == 0);
    CHECK(cfm_trie_depth(&trie, address, &depth) == CFM_OK && depth <= CFM_TRIE_DEPTH);
}

static void trie_init(uint32_t node_count) {
    CHECK(cfm_trie_init(&trie, nodes, node_count, leaves, REGIONS_MOST) == CFM_OK);
    known_count = 0;
}

static void tries(void) {
    cfm_trie_use use;
    for (unsigned round = 0; round < 4; round++) {
        const uint32_t node_count = round < 2 ? 96 : 8;
        trie_init(node_count);
        for (unsigned step = 0; step < 4000; step++) {
            if (below(3) != 0 || known_count == 0) {
                insert_one();
            } else {
                const uint32_t victim = below(known_count);
                CHECK(cfm_trie_remove(&trie, &known[victim]) == CFM_OK);
                CHECK(cfm_trie_remove(&trie, &known[victim]) == CFM_NOT_MAPPED);
                known[victim] = known[--known_count];
                removed++;
            }
            look_up();
            CHECK(cfm_trie_usage(&trie, &use) == CFM_OK && use.regions == known_count && use.free_nodes <= node_count);
            if (step % 16 == 0)
                CHECK(node_count - use.free_nodes <= most_nodes());
        }
        while (known_count > 0)
            CHECK(cfm_trie_remove(&trie, &known[--known_count]) == CFM_OK);
        CHECK(cfm_trie_usage(&trie, &use) == CFM_OK && use.regions == 0 && use.free_nodes == node_count);
    }
    const cfm_regs off = {0x20000000u, 0};
    CHECK(cfm_trie_insert(&trie, &off) == CFM_MALFORMED);
}

/* Mostly one that is mapped. */
static uint32_t some_address(void) {
    if (below(8) == 0)
        return cell_address(below(CELLS)) + below(256);
    const cfm_regs regs = known[below(known_count)];
    return regs.rbar + below(1u << ((regs.rasr >> 1 & 31) + 1));
}

/* One task: pinned regions outside of the trie, and the rest of the registers for what is in it. */
static void slots_of(uint32_t pinned_count, uint32_t usable, uint32_t policy) {
    cfm_slots slots;
    cfm_regs pinned[CFM_REGIONS];
    for (uint32_t i = 0; i < pinned_count; i++) {
        const cfm_span span = {.base = 0x10000000u + i * 0x1000, .len = 0x1000};
        CHECK(cfm_region_encode(&span, CFM_READ, CFM_WRITE_BACK, &pinned[i], NULL) == CFM_OK);
    }
    CHECK(cfm_slots_init(&slots, pinned, pinned_count, usable, cfm_slots_needed(0, 1), policy) == CFM_OK);
    trie_init(96);
    while (known_count < 60)
        insert_one();
    const cfm_regs *image = cfm_slots_image(&slots);
    cfm_regs before[CFM_REGIONS];
    for (unsigned step = 0; step < 2000; step++) {
        const uint32_t address = some_address();
        const cfm_regs *region = find_known(address);
        cfm_regs out = {7, 7};
        int loaded = 0;
        memcpy(before, image, sizeof before);
        for (uint32_t i = 0; i < CFM_REGIONS; i++)
            loaded |= contains(before[i], address);
        const cfm_status status = cfm_slots_fill(&slots, &trie, address, &out);
        const uint32_t slot = out.rbar & 15;
        if (region == NULL || loaded) {
            CHECK(status == (region == NULL ? CFM_UNMAPPED : CFM_PRESENT) && out.rbar == 7);
            CHECK(memcmp(before, image, sizeof before) == 0);
            violations++;
            continue;
        }
        CHECK(status == CFM_OK && (out.rbar & 16) != 0 && slot >= pinned_count && slot < usable);
        CHECK((out.rbar & ~31u) == region->rbar && out.rasr == region->rasr);
        before[slot] = out;
        CHECK(memcmp(before, image, sizeof before) == 0);
        filled++;
        if (below(64) == 0 && known_count > 30) {
            uint32_t was_loaded = 99;
            const cfm_regs gone = *region;
            CHECK(cfm_slots_unmap(&slots, &trie, &gone, &out, &was_loaded) == CFM_OK && was_loaded == 1);
            CHECK(out.rbar == (16 | slot) && out.rasr == 0 && memcmp(&image[slot], &out, sizeof out) == 0);
            CHECK(cfm_slots_unmap(&slots, &trie, &gone, &out, &was_loaded) == CFM_NOT_MAPPED);
            known[region - known] = known[--known_count];
            unmapped++;
        }
    }
    CHECK(cfm_slots_evict(&slots) == CFM_OK);
    for (uint32_t i = 0; i < CFM_REGIONS; i++)
        CHECK((image[i].rbar & 31) == (16 | i) && (image[i].rasr & 1) == (i < pinned_count));
}

static void slots_limits(void) {
    cfm_slots slots;
    const cfm_regs bad[1] = {{0x20000000u, 0}};
    cfm_regs good[CFM_REGIONS];
    for (uint32_t i = 0; i < CFM_REGIONS; i++)
        good[i] = (cfm_regs){0x20000000u + i * 0x1000, 0x130b0017u};
    CHECK(cfm_slots_needed(0, 0) == 0 && cfm_slots_needed(1, 0) == 2 && cfm_slots_needed(1, 1) == 4);
    CHECK(cfm_slots_most_misses(CFM_BIT_PLRU, 4) == 6 && cfm_slots_most_misses(CFM_ROUND_ROBIN, 4) == 4);
    CHECK(cfm_slots_most_misses(9, 4) == 0 && cfm_slots_most_misses(CFM_BIT_PLRU, 9) == 0);
    CHECK(cfm_slots_init(&slots, bad, 1, 8, 2, CFM_BIT_PLRU) == CFM_MALFORMED);
    CHECK(cfm_slots_init(&slots, good, 4, 3, 0, CFM_BIT_PLRU) == CFM_TOO_MANY_PINNED);
    CHECK(cfm_slots_init(&slots, good, 2, 3, 2, CFM_BIT_PLRU) == CFM_TOO_FEW_PAGED);
    CHECK(cfm_slots_init(&slots, good, 1, 9, 2, CFM_BIT_PLRU) == CFM_ARGUMENT);
    CHECK(cfm_slots_init(&slots, good, 1, 8, 2, 99) == CFM_ARGUMENT);
    CHECK(cfm_slots_init(&slots, NULL, 0, 8, 2, CFM_ROUND_ROBIN) == CFM_OK);
}

int main(void) {
    CHECK(cfm_version() == CFM_VERSION);
    regions();
    rules();
    tries();
    slots_of(1, 3, CFM_BIT_PLRU);
    slots_of(0, 8, CFM_BIT_PLRU);
    slots_of(5, 8, CFM_ROUND_ROBIN);
    slots_limits();
    printf("encoded %u\nrefused %u\ncovered %u\n", encoded, refused, covered);
    printf("inserted %u\nfull %u\nremoved %u\n", inserted, full, removed);
    printf("filled %u\nviolations %u\nunmapped %u\n", filled, violations, unmapped);
    return 0;
}
