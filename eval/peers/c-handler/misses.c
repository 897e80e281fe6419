/* The thread, which misses with each load under tables of the shapes of eval/systems/bench: one level, and the deepest
 * one with its nodes in DTCM and in SRAM. */
#include "misses.h"

#include "probe.h"

#define ROUNDS 1100u
#define PAGES 16u
#define LINE 32u
#define WASH_BYTES 0x6000u /* more than the data cache */
#define NODES 8u
#define RANGES (PAGES + 4u)

/* MPU_RASR of normal memory, write-back; the size is given by its logarithm. */
#define CODE 0x060b0000u
#define READ 0x120b0000u
#define READ_WRITE 0x130b0000u
#define SIZED(attributes, log2) ((attributes) | ((log2) - 1u) << 1 | 1u)
#define LAST_QUARTER_OFF 0xc000u

#define FLASH 0x00200000u
#define FLASH_LOG2 21u
#define STACK_LOG2 10u
#define SDRAM 0x60a00000u
#define PAGE 256u
#define PAGE_LOG2 8u
#define FRAME_LOG2 16u

enum { FLAT, DEEP, OUTSIDE }; /* domains */

/* Nodes and ranges of one domain. */
struct table {
    struct node nodes[NODES];
    struct range ranges[RANGES];
    uint32_t made, entered;
};

extern volatile uint32_t wash[WASH_BYTES / 4];

struct domain domains[DOMAINS];
static struct table flat, deep;
__attribute__((section(".sram"))) static struct table outside;

/* Enters a range of `1 << log2` bytes into a table, with a node for each of the first `levels` shifts above it. */
static void enter(struct domain *domain, struct table *table, const uint8_t *shifts, uint32_t levels, uint32_t base,
                  uint32_t log2, uint32_t rights) {
    uintptr_t *entry = &domain->root;
    uint32_t shift = 0;
    for (uint32_t level = 0; level < levels; level++) {
        if ((*entry & LEAF) != 0) {
            struct node *const made = &table->nodes[table->made++];
            made->shift = shifts[level];
            for (uint32_t i = 0; i < ENTRIES; i++)
                made->entries[i] = LEAF;
            *entry = (uintptr_t)made;
        }
        struct node *const node = (struct node *)*entry;
        shift = node->shift;
        entry = &node->entries[(base >> shift) % ENTRIES];
    }
    struct range *const range = &table->ranges[table->entered++];
    *range = (struct range){base, SIZED(rights, log2)};
    for (uint32_t i = 0; i < (log2 > shift ? 1u << (log2 - shift) : 1u); i++)
        entry[i] = (uintptr_t)range + LEAF;
}

/* Ranges that are always in a register: code, the thread's stack, and the memory that it reads to
 * empty the data cache. */
static void pin(struct domain *domain) {
    domain->root = LEAF;
    for (uint32_t region = 0; region < REGIONS; region++)
        domain->image[region] = (struct range){0x10u | region, 0};
    domain->image[0] = (struct range){FLASH | 0x10u, SIZED(CODE, FLASH_LOG2)};
    domain->image[1] = (struct range){(uint32_t)thread_stack | 0x11u, SIZED(READ_WRITE, STACK_LOG2)};
    domain->image[2] = (struct range){(uint32_t)wash | 0x12u, SIZED(READ, 15u) | LAST_QUARTER_OFF};
    domain->candidates = ((1u << PAGED) - 1u) << (REGIONS - PAGED);
}

/* Pages, and ranges that part from them within 64 KiB, 4 MiB, 64 MiB and the address space: five levels. */
static void enter_deep(struct domain *domain, struct table *table, uint32_t heap) {
    static const uint8_t shifts[] = {26, 22, 16, 10, 4};
    pin(domain);
    for (uint32_t page = 0; page < PAGES; page++)
        enter(domain, table, shifts, 5, heap + page * PAGE, PAGE_LOG2, READ_WRITE);
    enter(domain, table, shifts, 4, heap + 0x4000u, 12, READ);
    enter(domain, table, shifts, 3, SDRAM + 0x10000u, 12, READ);
    enter(domain, table, shifts, 2, SDRAM + 0x400000u, 12, READ);
    enter(domain, table, shifts, 1, (uint32_t)wash + 0x8000u, 12, READ);
}

void domains_create(void) {
    static const uint8_t shifts[] = {16};
    pin(&domains[FLAT]);
    for (uint32_t page = 0; page < PAGES; page++)
        enter(&domains[FLAT], &flat, shifts, 1, SDRAM + (page << FRAME_LOG2), FRAME_LOG2, READ_WRITE);
    enter_deep(&domains[DEEP], &deep, SDRAM);
    enter_deep(&domains[OUTSIDE], &outside, SDRAM + 0x8000u);
}

int misses_are_complete(void) {
    return domains[FLAT].misses == ROUNDS && domains[DEEP].misses == 2 * ROUNDS && domains[OUTSIDE].misses == ROUNDS;
}

static void call(uint32_t domain, uint32_t found) {
    register uint32_t first __asm("r0") = domain;
    register uint32_t second __asm("r1") = found;
    __asm volatile("svc 0" : : "r"(first), "r"(second) : "memory");
}

static void wash_data(void) {
    for (uint32_t i = 0; i < WASH_BYTES / 4; i += LINE / 4)
        (void)wash[i];
}

/* Leaves nothing else in the flash accelerator: it keeps 64 lines of 32 bytes, those that a branch reached and that
 * were not read ahead; here are 128 of them. */
__attribute__((naked, noinline, used)) static void wash_code(void) {
    __asm volatile(".rept 128\nb 1f\n.rept 31\nnop\n.endr\n1:\n.endr\nbx lr");
}

/* A load between two labels; the move makes floating-point state active. */
#define LOADER(name)                                                                                                   \
    PROBED static uint32_t load_##name(uint32_t address) {                                                             \
        uint32_t value;                                                                                                \
        __asm volatile(".global probe_" #name "_start\nprobe_" #name "_start:\n"                                       \
                       "vmov s0, %1\nldr %0, [%1]\n"                                                                   \
                       ".global probe_" #name "_end\nprobe_" #name "_end:"                                             \
                       : "=r"(value)                                                                                   \
                       : "r"(address)                                                                                  \
                       : "s0", "memory");                                                                              \
        return value;                                                                                                  \
    }
LOADER(dtcm)
LOADER(cold)
LOADER(sram)

PROBED static uint32_t load(uint32_t address) {
    PROBE(miss_load);
    return *(const volatile uint32_t *)address;
}

/* The rows one after another; all that is loaded is 0. */
void thread(void) {
    uint32_t found = 0;
    for (uint32_t round = 0; round < ROUNDS; round++)
        found |= load(SDRAM + (round % PAGES << FRAME_LOG2));
    call(DEEP, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        wash_data();
        found |= load_dtcm(SDRAM + round % PAGES * PAGE);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        wash_data();
        wash_code();
        found |= load_cold(SDRAM + round % PAGES * PAGE);
    }
    call(OUTSIDE, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        wash_data();
        found |= load_sram(SDRAM + 0x8000u + round % PAGES * PAGE);
    }
    call(DOMAINS, found);
}
