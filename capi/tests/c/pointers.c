/* Every function with each of its pointers null, misaligned, and (objects) never initialised. Nothing may be written
 * then. */
#include "check.h"

static unsigned nulls, misaligned, stale;

static cfm_node nodes[4];
static cfm_regs leaves[8], regs, out;
static cfm_span span = {.base = 0x20000000u, .len = 0x1000};
static cfm_refusal why;
static cfm_trie trie, no_trie;
static cfm_slots slots, no_slots;
static cfm_trie_use use;
static uint32_t word;

/* The same pointer, one byte further. */
#define ODD(pointer) ((void *)((char *)(pointer) + 1))
#define NULL_REFUSED(call)                                                                                             \
    do {                                                                                                               \
        CHECK((call) == CFM_NULL);                                                                                     \
        nulls++;                                                                                                       \
    } while (0)
#define ODD_REFUSED(call)                                                                                              \
    do {                                                                                                               \
        CHECK((call) == CFM_MISALIGNED);                                                                               \
        misaligned++;                                                                                                  \
    } while (0)
#define STALE_REFUSED(call)                                                                                            \
    do {                                                                                                               \
        CHECK((call) == CFM_STALE);                                                                                    \
        stale++;                                                                                                       \
    } while (0)

static void regions(void) {
    const uint32_t rw = CFM_READ | CFM_WRITE;
    NULL_REFUSED(cfm_region_encode(NULL, rw, 0, &out, &why));
    NULL_REFUSED(cfm_region_encode(&span, rw, 0, NULL, &why));
    ODD_REFUSED(cfm_region_encode(ODD(&span), rw, 0, &out, &why));
    ODD_REFUSED(cfm_region_encode(&span, rw, 0, ODD(&out), &why));
    ODD_REFUSED(cfm_region_encode(&span, rw, 0, &out, ODD(&why)));
    NULL_REFUSED(cfm_region_cover(NULL, rw, 0, &out, 1, &word, &why));
    NULL_REFUSED(cfm_region_cover(&span, rw, 0, NULL, 1, &word, &why));
    NULL_REFUSED(cfm_region_cover(&span, rw, 0, &out, 1, NULL, &why));
    ODD_REFUSED(cfm_region_cover(ODD(&span), rw, 0, &out, 1, &word, &why));
    ODD_REFUSED(cfm_region_cover(&span, rw, 0, ODD(&out), 1, &word, &why));
    ODD_REFUSED(cfm_region_cover(&span, rw, 0, &out, 1, ODD(&word), &why));
    ODD_REFUSED(cfm_region_cover(&span, rw, 0, &out, 1, &word, ODD(&why)));
    NULL_REFUSED(cfm_region_place(1, 0, NULL));
    ODD_REFUSED(cfm_region_place(1, 0, ODD(&span)));
}

static void tries(void) {
    NULL_REFUSED(cfm_trie_init(NULL, nodes, 4, leaves, 8));
    NULL_REFUSED(cfm_trie_init(&trie, NULL, 4, leaves, 8));
    NULL_REFUSED(cfm_trie_init(&trie, nodes, 4, NULL, 8));
    ODD_REFUSED(cfm_trie_init(ODD(&trie), nodes, 4, leaves, 8));
    ODD_REFUSED(cfm_trie_init(&trie, ODD(nodes), 3, leaves, 8));
    ODD_REFUSED(cfm_trie_init(&trie, nodes, 4, ODD(leaves), 7));
    CHECK(cfm_trie_init(&trie, nodes, 4, (cfm_regs *)&nodes[3], 8) == CFM_OVERLAPPING);
    CHECK(cfm_trie_init((cfm_trie *)(uintptr_t)&nodes[0].words[2], nodes, 4, leaves, 8) == CFM_OVERLAPPING);
    CHECK(cfm_trie_init(&trie, (cfm_node *)(UINTPTR_MAX - 63), 1, leaves, 8) == CFM_ARGUMENT);
    STALE_REFUSED(cfm_trie_insert(&trie, &regs)); /* nothing of the above has made it one */
    CHECK(cfm_trie_init(&trie, NULL, 0, NULL, 0) == CFM_OK);
    CHECK(cfm_trie_insert(&trie, &regs) == CFM_NO_LEAVES);
    CHECK(cfm_trie_init(&trie, nodes, 4, leaves, 8) == CFM_OK);
    NULL_REFUSED(cfm_trie_insert(NULL, &regs));
    NULL_REFUSED(cfm_trie_insert(&trie, NULL));
    ODD_REFUSED(cfm_trie_insert(ODD(&trie), &regs));
    ODD_REFUSED(cfm_trie_insert(&trie, ODD(&regs)));
    STALE_REFUSED(cfm_trie_insert(&no_trie, &regs));
    CHECK(cfm_trie_insert(&trie, &regs) == CFM_OK);
    NULL_REFUSED(cfm_trie_remove(NULL, &regs));
    NULL_REFUSED(cfm_trie_remove(&trie, NULL));
    ODD_REFUSED(cfm_trie_remove(ODD(&trie), &regs));
    ODD_REFUSED(cfm_trie_remove(&trie, ODD(&regs)));
    STALE_REFUSED(cfm_trie_remove(&no_trie, &regs));
    NULL_REFUSED(cfm_trie_lookup(NULL, 0, &out));
    NULL_REFUSED(cfm_trie_lookup(&trie, 0x20000000u, NULL));
    ODD_REFUSED(cfm_trie_lookup(ODD(&trie), 0, &out));
    ODD_REFUSED(cfm_trie_lookup(&trie, 0x20000000u, ODD(&out)));
    STALE_REFUSED(cfm_trie_lookup(&no_trie, 0, &out));
    NULL_REFUSED(cfm_trie_usage(NULL, &use));
    NULL_REFUSED(cfm_trie_usage(&trie, NULL));
    ODD_REFUSED(cfm_trie_usage(ODD(&trie), &use));
    ODD_REFUSED(cfm_trie_usage(&trie, ODD(&use)));
    STALE_REFUSED(cfm_trie_usage(&no_trie, &use));
    NULL_REFUSED(cfm_trie_depth(NULL, 0, &word));
    NULL_REFUSED(cfm_trie_depth(&trie, 0, NULL));
    ODD_REFUSED(cfm_trie_depth(ODD(&trie), 0, &word));
    ODD_REFUSED(cfm_trie_depth(&trie, 0, ODD(&word)));
    STALE_REFUSED(cfm_trie_depth(&no_trie, 0, &word));
}

static void all_slots(void) {
    NULL_REFUSED(cfm_slots_init(NULL, &regs, 1, 8, 2, 0));
    NULL_REFUSED(cfm_slots_init(&slots, NULL, 1, 8, 2, 0));
    ODD_REFUSED(cfm_slots_init(ODD(&slots), &regs, 1, 8, 2, 0));
    ODD_REFUSED(cfm_slots_init(&slots, ODD(&regs), 1, 8, 2, 0));
    STALE_REFUSED(cfm_slots_evict(&slots));
    CHECK(cfm_slots_init(&slots, NULL, 0, 3, 2, 0) == CFM_OK);
    NULL_REFUSED(cfm_slots_fill(NULL, &trie, 0x20000000u, &out));
    NULL_REFUSED(cfm_slots_fill(&slots, NULL, 0x20000000u, &out));
    NULL_REFUSED(cfm_slots_fill(&slots, &trie, 0x20000000u, NULL));
    ODD_REFUSED(cfm_slots_fill(ODD(&slots), &trie, 0x20000000u, &out));
    ODD_REFUSED(cfm_slots_fill(&slots, ODD(&trie), 0x20000000u, &out));
    ODD_REFUSED(cfm_slots_fill(&slots, &trie, 0x20000000u, ODD(&out)));
    STALE_REFUSED(cfm_slots_fill(&no_slots, &trie, 0x20000000u, &out));
    STALE_REFUSED(cfm_slots_fill(&slots, &no_trie, 0x20000000u, &out));
    STALE_REFUSED(cfm_slots_fill((cfm_slots *)(void *)&no_slots, (cfm_trie *)(void *)&slots, 0x20000000u, &out));
    NULL_REFUSED(cfm_slots_unmap(NULL, &trie, &regs, &out, &word));
    NULL_REFUSED(cfm_slots_unmap(&slots, NULL, &regs, &out, &word));
    NULL_REFUSED(cfm_slots_unmap(&slots, &trie, NULL, &out, &word));
    NULL_REFUSED(cfm_slots_unmap(&slots, &trie, &regs, NULL, &word));
    NULL_REFUSED(cfm_slots_unmap(&slots, &trie, &regs, &out, NULL));
    ODD_REFUSED(cfm_slots_unmap(ODD(&slots), &trie, &regs, &out, &word));
    ODD_REFUSED(cfm_slots_unmap(&slots, ODD(&trie), &regs, &out, &word));
    ODD_REFUSED(cfm_slots_unmap(&slots, &trie, ODD(&regs), &out, &word));
    ODD_REFUSED(cfm_slots_unmap(&slots, &trie, &regs, ODD(&out), &word));
    ODD_REFUSED(cfm_slots_unmap(&slots, &trie, &regs, &out, ODD(&word)));
    STALE_REFUSED(cfm_slots_unmap(&no_slots, &trie, &regs, &out, &word));
    NULL_REFUSED(cfm_slots_evict(NULL));
    ODD_REFUSED(cfm_slots_evict(ODD(&slots)));
    STALE_REFUSED(cfm_slots_evict(&no_slots));
    CHECK(cfm_slots_image(NULL) == NULL && cfm_slots_image(ODD(&slots)) == NULL && cfm_slots_image(&no_slots) == NULL);
    /* Refused calls have loaded nothing: the first fill takes the first slot. */
    CHECK(cfm_slots_fill(&slots, &trie, 0x20000000u, &out) == CFM_OK && (out.rbar & 31) == 16);
}

int main(void) {
    CHECK(cfm_region_encode(&span, CFM_READ | CFM_WRITE, 0, &regs, NULL) == CFM_OK);
    const cfm_refusal no_why = why;
    regions();
    tries();
    all_slots();
    CHECK(memcmp(&why, &no_why, sizeof why) == 0 && word == 0 && use.regions == 0 && span.len == 0x1000);
    printf("null %u\nmisaligned %u\nstale %u\n", nulls, misaligned, stale);
    return 0;
}
