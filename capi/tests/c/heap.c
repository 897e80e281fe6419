/* The heap against a list of blocks: nothing overlaps, nothing leaves its piece, contents stay, misuse is found. */
#include "check.h"

#define MOST 64u

static _Alignas(8) uint8_t pieces[3][9000], records[(2 * (MOST + 3) + 1) * 24], foreign[64];
static const uint32_t lengths[3] = {9000, 4000, 2003};
static cfm_heap heap, no_heap;
static struct block {
    uint8_t *at;
    uint32_t bytes;
    uint8_t mark;
} blocks[MOST];
static uint32_t count, allocated, freed, resized, full;

static int in_a_piece(const uint8_t *at, uint32_t bytes) {
    for (unsigned i = 0; i < 3; i++)
        if (at >= pieces[i] && at + bytes <= pieces[i] + lengths[i])
            return 1;
    return 0;
}

static void check_block(struct block block, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        CHECK(block.at[i] == block.mark);
}

static void note(uint8_t *at, uint32_t bytes, uint32_t align) {
    CHECK(in_a_piece(at, bytes) && (uintptr_t)at % align == 0 && (uintptr_t)at % 8 == 0);
    for (uint32_t i = 0; i < count; i++)
        CHECK(at + bytes <= blocks[i].at || blocks[i].at + blocks[i].bytes <= at || bytes == 0 || blocks[i].bytes == 0);
    blocks[count] = (struct block){at, bytes, (uint8_t)below(256)};
    memset(at, blocks[count].mark, bytes);
    count++;
}

static void start(unsigned piece_count) {
    memset(pieces, 0xa5, sizeof pieces);
    uint64_t bytes;
    CHECK(cfm_heap_init(&heap) == CFM_OK);
    CHECK(cfm_heap_record_bytes(MOST, 3, &bytes) == CFM_OK && bytes == sizeof records);
    CHECK(cfm_heap_add_records(&heap, records, sizeof records) == CFM_OK);
    for (unsigned i = 0; i < piece_count; i++)
        CHECK(cfm_heap_add(&heap, pieces[i], lengths[i]) == CFM_OK);
    count = 0;
}

static void step(void) {
    uint8_t *at = NULL;
    const uint32_t bytes = below(4) == 0 ? below(3000) : below(100), align = below(8) == 0 ? 1u << below(9) : 1;
    if (count < MOST && below(2) == 0) {
        const cfm_status status = cfm_heap_alloc(&heap, bytes, align, &at);
        CHECK(status == CFM_OK || (status == CFM_FULL && at == NULL));
        if (status == CFM_OK) {
            uint32_t size;
            note(at, bytes, align);
            CHECK(cfm_heap_size(&heap, at, &size) == CFM_OK && size >= bytes);
            allocated++;
        } else {
            full++;
        }
    } else if (count > 0) {
        struct block *const victim = &blocks[below(count)];
        const struct block old = *victim;
        check_block(old, old.bytes);
        if (below(3) == 0) {
            if (cfm_heap_resize(&heap, old.at, bytes, &at) != CFM_OK)
                return;
            *victim = blocks[--count];
            check_block((struct block){at, bytes, old.mark}, bytes < old.bytes ? bytes : old.bytes);
            note(at, bytes, 1);
            resized++;
        } else {
            CHECK(cfm_heap_free(&heap, old.at) == CFM_OK);
            const cfm_status again = cfm_heap_free(&heap, old.at);
            CHECK(again == CFM_DOUBLE_FREE || again == CFM_NOT_A_BLOCK);
            *victim = blocks[--count];
            freed++;
        }
    }
}

static void histories(void) {
    cfm_heap_use use;
    start(3);
    CHECK(cfm_heap_usage(&heap, &use) == CFM_OK && use.blocks == 0 && use.used == 0);
    const uint32_t capacity = use.capacity;
    CHECK(capacity > 14960 && capacity < 15003);
    for (unsigned i = 0; i < 40000; i++)
        step();
    while (count > 0) {
        check_block(blocks[count - 1], blocks[count - 1].bytes);
        CHECK(cfm_heap_free(&heap, blocks[--count].at) == CFM_OK);
    }
    CHECK(cfm_heap_usage(&heap, &use) == CFM_OK && use.blocks == 0 && use.used == 0 && use.capacity == capacity);
    CHECK(use.peak > 8000 && use.peak <= capacity);
    for (unsigned i = 0; i < 3; i++) /* what was not given */
        for (uint32_t at = lengths[i]; at < sizeof pieces[i]; at++)
            CHECK(pieces[i][at] == 0xa5);
}

/* With as much memory as the bound says, no history within the envelope is ever refused. */
static void envelope(void) {
    const uint32_t live = 600, largest = 100, most = 12;
    uint64_t bytes;
    CHECK(cfm_heap_worst_case(live, largest, most, 1, &bytes) == CFM_OK && bytes <= lengths[0]);
    CHECK(cfm_heap_init(&heap) == CFM_OK);
    CHECK(cfm_heap_add_records(&heap, records, (2 * (most + 1) + 1) * 24) == CFM_OK);
    CHECK(cfm_heap_add(&heap, pieces[0], (uint32_t)bytes) == CFM_OK);
    uint32_t now = 0, served = 0;
    for (count = 0; served < 20000;) {
        const uint32_t request = below(largest + 1);
        if (count < most && now + request <= live) {
            uint8_t *at;
            CHECK(cfm_heap_alloc(&heap, request, 1, &at) == CFM_OK);
            blocks[count++] = (struct block){at, request, 0};
            now += request;
            served++;
        } else {
            struct block *const victim = &blocks[below(count)];
            now -= victim->bytes;
            CHECK(cfm_heap_free(&heap, victim->at) == CFM_OK);
            *victim = blocks[--count];
        }
    }
    CHECK(cfm_heap_worst_case(1, 1u << 30, 1, 1, &bytes) == CFM_ARGUMENT);
    printf("envelope %u\n", served);
}

static void misuse(void) {
    uint8_t *at = NULL, *other = NULL;
    uint32_t size = 0;
    cfm_heap_use use;
    uint64_t bytes;
    start(1);
    CHECK(cfm_heap_alloc(&heap, 64, 3, &at) == CFM_ARGUMENT && cfm_heap_alloc(&heap, 64, 0, &at) == CFM_ARGUMENT);
    CHECK(cfm_heap_alloc(&heap, 1u << 27, 1, &at) == CFM_TOO_LARGE && cfm_heap_alloc(&heap, 20000, 1, &at) == CFM_FULL);
    CHECK(cfm_heap_add(&heap, pieces[0] + 100, 200) == CFM_OVERLAPPING && cfm_heap_add(&heap, foreign, 9) == CFM_PIECE);
    CHECK(cfm_heap_add(&heap, (uint8_t *)&heap, 64) == CFM_OVERLAPPING);
    CHECK(cfm_heap_alloc(&heap, 64, 1, &at) == CFM_OK && cfm_heap_alloc(&heap, 64, 1, &other) == CFM_OK);
    CHECK(cfm_heap_free(&heap, foreign) == CFM_NOT_A_BLOCK && cfm_heap_free(&heap, at + 8) == CFM_NOT_A_BLOCK);
    CHECK(cfm_heap_resize(&heap, foreign, 1, &other) == CFM_NOT_A_BLOCK);
    CHECK(cfm_heap_size(&heap, foreign, &size) == CFM_NOT_A_BLOCK && size == 0);
    memset(at, 0xff, 80); /* over the end, into the header of the next block */
    CHECK(cfm_heap_free(&heap, other) == CFM_NOT_A_BLOCK && cfm_heap_free(&heap, at) == CFM_OK);
    CHECK(cfm_heap_add_records(&heap, foreign, 64) == CFM_ARGUMENT);
    CHECK(cfm_heap_add_records(&heap, records + 8, 64) == CFM_OVERLAPPING);
    CHECK(cfm_heap_add_records(NULL, foreign, 64) == CFM_NULL && cfm_heap_add_records(&heap, NULL, 64) == CFM_NULL);
    CHECK(cfm_heap_record_bytes(1, 1, NULL) == CFM_NULL);
    CHECK(cfm_heap_init(NULL) == CFM_NULL && cfm_heap_add(NULL, foreign, 64) == CFM_NULL);
    CHECK(cfm_heap_add(&heap, NULL, 64) == CFM_NULL && cfm_heap_alloc(NULL, 1, 1, &at) == CFM_NULL);
    CHECK(cfm_heap_alloc(&heap, 1, 1, NULL) == CFM_NULL && cfm_heap_free(NULL, at) == CFM_NULL);
    CHECK(cfm_heap_free(&heap, NULL) == CFM_NULL && cfm_heap_resize(NULL, at, 1, &at) == CFM_NULL);
    CHECK(cfm_heap_resize(&heap, NULL, 1, &at) == CFM_NULL && cfm_heap_resize(&heap, at, 1, NULL) == CFM_NULL);
    CHECK(cfm_heap_size(NULL, at, &size) == CFM_NULL && cfm_heap_size(&heap, at, NULL) == CFM_NULL);
    CHECK(cfm_heap_usage(NULL, &use) == CFM_NULL && cfm_heap_usage(&heap, NULL) == CFM_NULL);
    CHECK(cfm_heap_worst_case(1, 1, 1, 1, NULL) == CFM_NULL);
    CHECK(cfm_heap_init((cfm_heap *)(void *)((char *)&heap + 2)) == CFM_MISALIGNED);
    CHECK(cfm_heap_alloc(&heap, 1, 1, (uint8_t **)(void *)((char *)&at + 1)) == CFM_MISALIGNED);
    CHECK(cfm_heap_worst_case(1, 1, 1, 1, (uint64_t *)(void *)((char *)&bytes + 1)) == CFM_MISALIGNED);
    CHECK(cfm_heap_alloc(&no_heap, 1, 1, &at) == CFM_STALE && cfm_heap_free(&no_heap, foreign) == CFM_STALE);
    CHECK(cfm_heap_add(&no_heap, foreign, 64) == CFM_STALE && cfm_heap_usage(&no_heap, &use) == CFM_STALE);
}

static void many_pieces(void) {
    CHECK(cfm_heap_init(&heap) == CFM_OK && cfm_heap_add_records(&heap, foreign, 23) == CFM_PIECE);
    CHECK(cfm_heap_add_records(&heap, records, sizeof records) == CFM_OK);
    for (unsigned i = 0; i < CFM_HEAP_PIECES; i++) /* what is refused does not count */
        CHECK(cfm_heap_add(&heap, foreign, 9) == CFM_PIECE);
    for (unsigned i = 0; i < CFM_HEAP_PIECES; i++)
        CHECK(cfm_heap_add(&heap, pieces[0] + 512 * i, 256) == CFM_OK);
    CHECK(cfm_heap_add(&heap, pieces[1], 256) == CFM_ARGUMENT);
    uint8_t *at;
    CHECK(cfm_heap_alloc(&heap, 236, 1, &at) == CFM_OK && cfm_heap_alloc(&heap, 300, 1, &at) == CFM_FULL);
}

/* Without memory for records the heap takes some of its first piece, and more as blocks become more. */
static void records_in_pieces(void) {
    cfm_heap_use before, after;
    memset(pieces, 0xa5, sizeof pieces);
    CHECK(cfm_heap_init(&heap) == CFM_OK && cfm_heap_add(&heap, pieces[0], 500) == CFM_PIECE);
    CHECK(cfm_heap_add(&heap, pieces[0], lengths[0]) == CFM_OK && cfm_heap_usage(&heap, &before) == CFM_OK);
    CHECK(before.capacity == lengths[0] - 768 - 8);
    for (count = 0; count < MOST; count++) {
        CHECK(cfm_heap_alloc(&heap, 20, 1, &blocks[count].at) == CFM_OK);
        memset(blocks[count].at, 0x11, 20);
    }
    CHECK(cfm_heap_usage(&heap, &after) == CFM_OK && after.capacity < before.capacity && after.blocks == MOST);
    while (count > 0)
        CHECK(cfm_heap_free(&heap, blocks[--count].at) == CFM_OK);
}

int main(void) {
    histories();
    records_in_pieces();
    envelope();
    misuse();
    many_pieces();
    printf("allocated %u\nfreed %u\nresized %u\nfull %u\n", allocated, freed, resized, full);
    return 0;
}
