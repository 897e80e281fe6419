/* Cofferdam's memory crates for programs in C, without Cofferdam's kernel: more protection regions than the hardware
 * has.
 *
 * For whom: a kernel or a bare program on a Cortex-M3, M4 or M7 with a memory protection unit of eight regions
 * (PMSAv7). The library is code alone: it has no state of its own, allocates nothing, and touches no register of the
 * machine. You give it memory, it gives you pairs of register values, and you store them. docs/stand-alone.md shows
 * how, in five steps, and eval/peers/freertos-regions is a complete example on FreeRTOS-MPU.
 *
 * Units: addresses and lengths are bytes. Lengths are 64 bits wide, because a range may be all 2^32 bytes.
 *
 * Pointers: null and misaligned ones are refused (CFM_NULL, CFM_MISALIGNED), unless a function says that null is
 * allowed. The library cannot check everything of a pointer, and the rest is your duty: a pointer
 * leads to as many values as its type or its count says, and nothing else uses them during the
 * call. One object must not be used by two calls at a time: mask what could interrupt one with
 * another. * Objects (cfm_trie, cfm_slots, cfm_heap, cfm_ledger) are opaque. Memory of an object
 * that was never initialised is refused (CFM_STALE) when it was cleared or holds anything but the
 * object's mark; there is nothing to release. Memory given to an object belongs to it until the
 * object is initialised again or no longer used. * Errors: every function that can fail returns a
 * cfm_status, and leaves everything as it was unless it is CFM_OK. * Stack: less than 600 bytes;
 * cfm_ledger_init takes 1.5 KiB, cfm_ledger_load 5 KiB. * Bounds: each function names what its work
 * is proportional to; where it names nothing, it is constant. Nothing waits. */
#ifndef COFFERDAM_MEM_H
#define COFFERDAM_MEM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define CFM_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define CFM_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Layouts and numbers of this header. Compare with cfm_version() once, at start. */
#define CFM_VERSION 1

/* The version that the library was built with. */
uint32_t cfm_version(void);

/* A library built for a chip ends here when it finds a defect: an object's memory was overwritten, or there is a bug.
 * Your program defines it; the caller of the library never continues, even if this returns. */
void cfm_panic(void);

/* Results. */
typedef int32_t cfm_status;
#define CFM_OK 0
#define CFM_NULL 1             /* a pointer that must not be null is */
#define CFM_MISALIGNED 2       /* a pointer is not aligned as its type requires */
#define CFM_STALE 3            /* the object was never initialised, or its memory was overwritten */
#define CFM_ARGUMENT 4         /* a value outside of what the function takes */
#define CFM_OVERLAPPING 5      /* memory given to one object overlaps */
#define CFM_REFUSED 10         /* no registers express the range; see cfm_refusal */
#define CFM_NO_NODES 20        /* the trie's nodes are used up */
#define CFM_NO_LEAVES 21       /* the trie's leaves are used up */
#define CFM_MAPPED 22          /* some byte of the region is mapped already */
#define CFM_MALFORMED 23       /* registers that are off, break PMSAv7, or, in a trie, express less than 256 bytes */
#define CFM_NOT_MAPPED 24      /* the region, or the address, is not in the trie */
#define CFM_TOO_MANY_PINNED 30 /* more pinned regions than usable registers */
#define CFM_TOO_FEW_PAGED 31   /* fewer registers are left for paging than an instruction may need at once */
#define CFM_UNMAPPED 40        /* a violation: no region contains the address */
#define CFM_PRESENT 41         /* a violation: the region is loaded and does not permit the access */
#define CFM_FULL 50            /* no free block is large enough */
#define CFM_TOO_LARGE 51       /* the request, with its alignment, exceeds what any heap gives */
#define CFM_NOT_A_BLOCK 52     /* the address is none that this heap has handed out */
#define CFM_DOUBLE_FREE 53     /* the block has been freed before */
#define CFM_CORRUPT 54         /* somebody wrote beyond a block, or into a freed one */
#define CFM_PIECE 55           /* the piece is too small for a block, or has 2^26 bytes or more */
#define CFM_DENIED 60          /* the ledger does not admit it; see cfm_denial */
#define CFM_NOT_GRANTED 61     /* the grant is none that this ledger has outstanding */
#define CFM_DAMAGED 62         /* the bytes are no ledger */

/* ---- Regions: from ranges to registers, exactly or not at all ---------------------------------------------------- */

/* The values for MPU_RBAR and MPU_RASR. Without slot, rbar is the address alone; with slot, it has VALID (bit 4) and
 * the register's number (bits 3..0) too, so that storing both words loads the region wherever MPU_RNR points. */
typedef struct cfm_regs {
    uint32_t rbar;
    uint32_t rasr;
} cfm_regs;

/* A range of bytes: base .. base + len, at most up to 2^32. zero is 0. */
typedef struct cfm_span {
    uint64_t len;
    uint32_t base;
    uint32_t zero;
} cfm_span;

/* Rights of unprivileged code; privileged code may always read and write. CFM_WRITE is taken with CFM_READ only. 0
 * keeps unprivileged code out. Execution is never implied. */
#define CFM_READ 1
#define CFM_WRITE 2
#define CFM_EXECUTE 4

/* Memory types; never shareable, which on a Cortex-M7 would leave normal memory uncached. */
#define CFM_WRITE_BACK 0       /* normal, write-back, read and write allocate */
#define CFM_WRITE_THROUGH 1    /* normal, write-through, no write allocate */
#define CFM_NON_CACHEABLE 2    /* normal */
#define CFM_DEVICE 3           /* device, shared; never executed */
#define CFM_STRONGLY_ORDERED 4 /* never executed */

/* Rules that a range can break. */
#define CFM_RULE_EMPTY 1         /* a region has at least one byte */
#define CFM_RULE_ADDRESS_SPACE 2 /* the range ends at or below 2^32 */
#define CFM_RULE_GRANULE 3       /* base and end are multiples of 32 */
#define CFM_RULE_ONE_REGION 4    /* a power of two aligned to itself, or a run of eighths of one of 256 bytes or more */
#define CFM_RULE_REGISTERS 5     /* an exact cover takes more registers than were offered */
#define CFM_RULE_DEVICE_EXECUTE 6     /* device and strongly-ordered memory is not executed */
#define CFM_RULE_EXECUTE_UNREADABLE 7 /* what is executed must be readable */

/* Why a range was refused, and what would be granted instead. */
typedef struct cfm_refusal {
    cfm_span asked;
    cfm_span grown;   /* the smallest range around it that one region expresses; len 0: there is none */
    cfm_span moved;   /* the next one from its base on, of its length or the least larger one; len 0: there is none */
    uint64_t limit;   /* of the rule: bytes or registers */
    uint32_t rule;    /* CFM_RULE_... */
    uint32_t regions; /* that an exact cover of the range asked takes; 0: there is none */
} cfm_refusal;

/* The one region that permits exactly the bytes of span, without slot. why may be null. CFM_REFUSED fills *why;
 * CFM_ARGUMENT: no such rights or memory type. Bound: 28 region sizes. */
cfm_status cfm_region_encode(const cfm_span *span, uint32_t access, uint32_t memory, cfm_regs *out, cfm_refusal *why);

/* No range of whole granules takes more regions than this. */
#define CFM_COVER_MOST 18

/* The fewest regions whose union is exactly span, and their number. out has room for capacity of them (more than
 * CFM_COVER_MOST is not used; null is allowed for 0); its contents are undefined unless CFM_OK. They may overlap one
 * another. For a trie, ask for ranges that do not need that. why may be null. CFM_REFUSED fills *why; CFM_ARGUMENT as
 * above. Bound: 28 region sizes for each region. */
cfm_status cfm_region_cover(const cfm_span *span, uint32_t access, uint32_t memory, cfm_regs *out, uint32_t capacity,
                            uint32_t *count, cfm_refusal *why);

/* The least length of at least len bytes that one region expresses, and the lowest base at or above
 * from for it. For linker scripts and allocators. CFM_ARGUMENT: len is 0 or above 2^32;
 * CFM_REFUSED: no room below 2^32. Bound: 28 region sizes. */
cfm_status cfm_region_place(uint64_t len, uint32_t from, cfm_span *out);

/* ---- Trie: from addresses to the regions of one task, any number of them ----------------------------------------- */

/* A node of the trie: memory only. How many a trie takes at most: one, and one for each aligned block of 64 MiB, of 4
 * MiB, of 64 KiB and of 1 KiB that has a region in it whose granule is smaller than the block; the granule is the
 * region, or an eighth of it when it is a run of eighths. One node serves all regions of 64 KiB or more in one block
 * of 4 MiB. A leaf holds one region: an array of cfm_regs is where the leaves live. */
#define CFM_NODE_WORDS 72
typedef struct cfm_node {
    uint32_t words[CFM_NODE_WORDS];
} cfm_node;

/* The most nodes on any path. */
#define CFM_TRIE_DEPTH 5

#define CFM_TRIE_WORDS 10
typedef struct cfm_trie {
    uintptr_t opaque[CFM_TRIE_WORDS];
} cfm_trie;

typedef struct cfm_trie_use {
    uint32_t regions;    /* mapped */
    uint32_t free_nodes; /* not in use */
} cfm_trie_use;

/* An empty trie over the caller's nodes (1 GiB of them are used at most) and leaves (up to 2^26), both overwritten.
 * Null is allowed for a count of 0. CFM_OVERLAPPING; CFM_ARGUMENT: memory that reaches the end of the address space.
 * Bound: proportional to both counts. */
cfm_status cfm_trie_init(cfm_trie *trie, cfm_node *nodes, uint32_t node_count, cfm_regs *leaves, uint32_t leaf_count);

/* Maps a region as cfm_region_encode returns it, of 256 bytes or more (an eighth of it may have 32). CFM_MALFORMED,
 * CFM_MAPPED, CFM_NO_LEAVES, CFM_NO_NODES. Bound: 8 * 5 nodes of 64 words. */
cfm_status cfm_trie_insert(cfm_trie *trie, const cfm_regs *region);

/* Unmaps a region given as it was mapped. If it may be in a register, use cfm_slots_unmap instead. CFM_NOT_MAPPED.
 * Bound: as above. */
cfm_status cfm_trie_remove(cfm_trie *trie, const cfm_regs *region);

/* The region that contains an address, without slot. CFM_NOT_MAPPED. Bound: CFM_TRIE_DEPTH nodes, one word each. */
cfm_status cfm_trie_lookup(const cfm_trie *trie, uint32_t address, cfm_regs *out);

/* How full it is. */
cfm_status cfm_trie_usage(const cfm_trie *trie, cfm_trie_use *out);

/* The nodes that a look-up of this address visits, 0 to CFM_TRIE_DEPTH. */
cfm_status cfm_trie_depth(const cfm_trie *trie, uint32_t address, uint32_t *out);

/* ---- Slots: the registers of one task ---------------------------------------------------------------------------- */

/* Region registers of the hardware that this library is for. */
#define CFM_REGIONS 8

/* How the register to be replaced is chosen. Hardware does not tell about hits, so all see misses only. */
#define CFM_BIT_PLRU 0
#define CFM_ROUND_ROBIN 1
#define CFM_RANDOM 2 /* pseudo-random, the same in every run */

#define CFM_SLOTS_DWORDS 12
typedef struct cfm_slots {
    uint64_t opaque[CFM_SLOTS_DWORDS];
} cfm_slots;

/* The registers of one task: pinned regions in the lowest ones, which never miss, the rest up to usable (0..8) for
 * paging. needed is the least number of paged ones: cfm_slots_needed says which. A kernel that keeps low registers
 * for itself adds their number to bits 3..0 of each rbar that it stores. Null is allowed for no pinned regions.
 * CFM_TOO_MANY_PINNED, CFM_TOO_FEW_PAGED, CFM_MALFORMED (a pinned region), CFM_ARGUMENT. */
cfm_status cfm_slots_init(cfm_slots *slots, const cfm_regs *pinned, uint32_t pinned_count, uint32_t usable,
                          uint32_t needed, uint32_t policy);

/* Answers a protection fault at an address: the pair, with slot, to store to MPU_RBAR and MPU_RASR; the image has it
 * too. CFM_UNMAPPED and CFM_PRESENT are violations by the task: no region would cure the fault. For an instruction
 * fetch that straddles two regions ask for the program counter and, if that is CFM_PRESENT, for two bytes further.
 * Bound: one look-up and a constant; instructions are counted in docs/stand-alone.md. */
cfm_status cfm_slots_fill(cfm_slots *slots, cfm_trie *trie, uint32_t address, cfm_regs *out);

/* Unmaps a region from the trie and from its slot. If *loaded is not 0, store the pair at *out to the registers when
 * they are this task's now; otherwise *out is 0. CFM_NOT_MAPPED. Bound: as cfm_trie_remove. */
cfm_status cfm_slots_unmap(cfm_slots *slots, cfm_trie *trie, const cfm_regs *region, cfm_regs *out, uint32_t *loaded);

/* Empties the paged slots, as for a task that starts again. Load the image afterwards. */
cfm_status cfm_slots_evict(cfm_slots *slots);

/* The image: CFM_REGIONS pairs, with slots, in the order of the registers; entry i is for register i, switched off
 * where nothing is loaded. It stays where it is as long as the object does. Load it at a switch to the task. Null for
 * a stale or bad pointer. */
const cfm_regs *cfm_slots_image(const cfm_slots *slots);

/* The least number of paged slots with which every instruction completes: 2 if code is paged, 2 if data is. */
uint32_t cfm_slots_needed(uint32_t code_paged, uint32_t data_paged);

/* The most misses in a row of one instruction with so many paged slots; 0 for arguments out of range. */
uint32_t cfm_slots_most_misses(uint32_t policy, uint32_t paged);

/* ---- Heap: constant time, over several pieces, hard to misuse ---------------------------------------------------- */

/* Pieces of one heap; they need not touch. */
#define CFM_HEAP_PIECES 8

/* The lists of a heap. In the pieces are blocks and one word before each; all else is in records of 24 bytes, one for
 * each block, where a program that writes beyond its blocks does not reach if they have memory of their own. */
#define CFM_HEAP_WORDS 384
typedef struct cfm_heap {
    uintptr_t opaque[CFM_HEAP_WORDS];
} cfm_heap;

typedef struct cfm_heap_use {
    uint32_t capacity; /* of all pieces together, bytes */
    uint32_t used;     /* by blocks with their headers, bytes */
    uint32_t peak;     /* the most that used has been */
    uint32_t blocks;
} cfm_heap_use;

/* A heap without pieces. */
cfm_status cfm_heap_init(cfm_heap *heap);

/* Gives a heap memory for records, once, before its pieces: fast memory if there is some, because an operation reads
 * and writes records and one word of the pieces. A heap that was given none, or too little, takes 768 bytes of its
 * pieces at a time. CFM_PIECE, CFM_OVERLAPPING (with the heap or a piece), CFM_ARGUMENT (a second time). */
cfm_status cfm_heap_add_records(cfm_heap *heap, uint8_t *memory, uint32_t bytes);

/* The bytes of records with which a heap of so many pieces never lacks any while at most count blocks are live. */
cfm_status cfm_heap_record_bytes(uint32_t count, uint32_t pieces, uint64_t *out);

/* Gives a heap a piece of bytes bytes, of any alignment; multiples of 8 leave nothing unused but 8 bytes. CFM_PIECE,
 * CFM_OVERLAPPING (with the heap or another piece), CFM_ARGUMENT (one more than CFM_HEAP_PIECES). */
cfm_status cfm_heap_add(cfm_heap *heap, uint8_t *piece, uint32_t bytes);

/* A block of at least bytes bytes (0 is allowed) whose address is a multiple of align, a power of two; less than 8 is
 * as 8. CFM_FULL, CFM_TOO_LARGE, CFM_CORRUPT, CFM_ARGUMENT (align). Bound: at most 9 loads and 19 stores of records,
 * one store to a piece, and no loop but over the pieces for that store and for records that lie in pieces; 4 bytes of
 * header for each block. */
cfm_status cfm_heap_alloc(cfm_heap *heap, uint32_t bytes, uint32_t align, uint8_t **out);

/* Takes a block back. CFM_NOT_A_BLOCK, CFM_DOUBLE_FREE, CFM_CORRUPT. Bound: as above, 26 loads and 15 stores, and a
 * load and a store of a piece. */
cfm_status cfm_heap_free(cfm_heap *heap, uint8_t *block);

/* Changes the size of a block, in place if possible; *out is where it is then. Errors of both, and then the block is
 * as it was. Bound: as both together and, when the block moves, its bytes. */
cfm_status cfm_heap_resize(cfm_heap *heap, uint8_t *block, uint32_t bytes, uint8_t **out);

/* How many bytes a block holds: at least what was asked for. CFM_NOT_A_BLOCK, CFM_DOUBLE_FREE, CFM_CORRUPT. */
cfm_status cfm_heap_size(const cfm_heap *heap, const uint8_t *block, uint32_t *out);

/* The heap's occupancy. */
cfm_status cfm_heap_usage(const cfm_heap *heap, cfm_heap_use *out);

/* The bytes that so many pieces must have, together, so that, with enough records, no request fails while there are
 * never more than live bytes in count blocks, none larger than largest, the new one included. Proven in docs/memory.md.
 * CFM_ARGUMENT: largest exceeds what any heap gives, or there are no blocks or no pieces. */
cfm_status cfm_heap_worst_case(uint32_t live, uint32_t largest, uint32_t count, uint32_t pieces, uint64_t *out);

/* ---- Ledger: what has been promised to whom, and what is left ------------------------------------------------- */

/* The requirements on the check of an access, strongest last: a level, and any of the rest. */
#define CFM_BEST_EFFORT 0    /* nothing is promised */
#define CFM_L3 1             /* refused here: no third level could hold the table */
#define CFM_L2 2             /* the check touches on-chip memory at most: paged */
#define CFM_L1 3             /* the check touches tightly coupled memory at most: paged */
#define CFM_DETERMINISTIC 4  /* hardware checks within the access: pinned */
#define CFM_INDEPENDENT 8    /* no other task adds to the time of the check; holds for every task here */
#define CFM_CONSTANT_TIME 16 /* refused here: a release includes clearing */

/* The memory of a task's table (nodes and leaves). */
#define CFM_TCM 1
#define CFM_ON_CHIP 2

/* The resources that the hardware and the kernel above it leave to each task. The cycles are your
 * largest observed ones, from a faulting access to the restarted one; they come back as bounds. */
typedef struct cfm_platform {
    uint32_t registers;      /* region registers of a task, at most 64 */
    uint32_t slots_for_data; /* of them for paged memory once data is paged: 2, as an access can straddle regions */
    uint32_t slots_for_code; /* in addition once code is paged: 2, as a fetch can straddle regions, too */
    uint32_t l1_cycles;      /* of a miss with the table in tightly coupled memory; 0: there is none */
    uint32_t l2_cycles;      /* of a miss with the table in other memory of the chip */
} cfm_platform;

/* A request. One joint decision is made over all that it needs. */
typedef struct cfm_request {
    uint32_t task;        /* as cfm_ledger_open numbers it */
    uint32_t spec;        /* one level, and any of CFM_INDEPENDENT and CFM_CONSTANT_TIME */
    uint32_t code;        /* not 0: the memory is executed */
    uint32_t registers;   /* that cover it if it is pinned; 0 is as 1 */
    uint32_t table_bytes; /* of nodes and leaves that it takes at most if it is paged */
    uint32_t misses;      /* in a period that it adds */
} cfm_request;

/* A grant; cfm_ledger_release wants it back. */
typedef struct cfm_grant {
    uint32_t task, spec;
    uint32_t level;  /* what is promised: CFM_BEST_EFFORT to CFM_DETERMINISTIC, at least what was asked */
    uint32_t cycles; /* that the check adds to one access at most, not the access itself */
    uint32_t method; /* of that bound: 1 derived from the platform, 2 observed maximum */
    uint32_t code;
    uint32_t registers; /* pinned, or 0 when it is paged */
    uint32_t table_bytes, misses;
} cfm_grant;

/* Rules of admission, and the unit of asked and left. 16 and more: the platform cannot keep the specification. */
#define CFM_DENY_TASK 1         /* the ledger has an account for the task: tasks */
#define CFM_DENY_TABLE_LEVEL 4  /* paged memory gets the level of the task's table: levels */
#define CFM_DENY_PINNED 5       /* pinned regions have registers of their own: registers */
#define CFM_DENY_PAGED 6        /* what is paged keeps the registers that an instruction can need at once: registers */
#define CFM_DENY_MISSES 7       /* the misses of a period are within the miss budget: misses */
#define CFM_DENY_TABLE_MEMORY 8 /* the task's table has room: bytes */
#define CFM_DENY_NO_L3 17
#define CFM_DENY_RELEASE 18
#define CFM_DENY_NO_L1 21

/* The smallest change after which the request is admitted, nothing else having changed. */
#define CFM_CHANGE_NONE 0      /* no change of the request alone is enough */
#define CFM_CHANGE_SPEC 1      /* ask for this specification */
#define CFM_CHANGE_MISSES 3    /* declare so many misses */
#define CFM_CHANGE_REGISTERS 4 /* release so many pinned registers of the task first */
#define CFM_CHANGE_TABLE 5     /* release so many bytes of the task's table first */

/* A refusal. */
typedef struct cfm_denial {
    uint32_t rule;        /* CFM_DENY_... */
    uint32_t asked, left; /* in the rule's unit */
    uint32_t change;      /* CFM_CHANGE_... */
    uint32_t value;       /* of the change */
} cfm_denial;

/* The resources that a task has been promised. */
typedef struct cfm_account {
    uint32_t pinned; /* registers */
    uint32_t paged;  /* areas */
    uint32_t table_bytes, table_used;
    uint32_t misses, misses_used; /* in a period; UINT32_MAX without a budget */
} cfm_account;

/* Tasks of one ledger. */
#define CFM_LEDGER_TASKS 32
#define CFM_LEDGER_DWORDS 288
typedef struct cfm_ledger {
    uint64_t opaque[CFM_LEDGER_DWORDS];
} cfm_ledger;

/* An empty ledger; so many bytes can hold tables. CFM_ARGUMENT: a number above 64. */
cfm_status cfm_ledger_init(cfm_ledger *ledger, const cfm_platform *platform, uint32_t tcm_bytes,
                           uint32_t on_chip_bytes);

/* Opens the account of the next task: the class of its table, its bytes (0 if nothing is paged), and its miss budget
 * in a period (UINT32_MAX: none). why may be null. CFM_DENIED (CFM_DENY_TASK, CFM_DENY_TABLE_MEMORY), CFM_ARGUMENT
 * (class). */
cfm_status cfm_ledger_open(cfm_ledger *ledger, uint32_t table_class, uint32_t table_bytes, uint32_t misses,
                           uint32_t *task, cfm_denial *why);

/* Admits a request, or says why not and what would be admitted. A denied request changes nothing. why may be null.
 * CFM_DENIED, CFM_ARGUMENT (a specification with unknown bits, a number above 255). Bound: eleven decisions, each
 * constant. */
cfm_status cfm_ledger_admit(cfm_ledger *ledger, const cfm_request *request, cfm_grant *out, cfm_denial *why);

/* Takes a grant back. CFM_NOT_GRANTED when the account shows that there is no such grant. */
cfm_status cfm_ledger_release(cfm_ledger *ledger, const cfm_grant *grant);

/* The account of a task. CFM_ARGUMENT: there is none. */
cfm_status cfm_ledger_account(const cfm_ledger *ledger, uint32_t task, cfm_account *out);

/* The most bytes of a saved ledger. */
#define CFM_LEDGER_BYTES 2048

/* Writes a ledger to bytes that are the same on every machine, so that a host can decide and a target go on from
 * there. CFM_ARGUMENT: the capacity is too small. Bound: the bytes. */
cfm_status cfm_ledger_save(const cfm_ledger *ledger, uint8_t *out, uint32_t capacity, uint32_t *length);

/* Reads what cfm_ledger_save wrote. CFM_DAMAGED: the bytes are no ledger, or one that promises more than there is. */
cfm_status cfm_ledger_load(cfm_ledger *ledger, const uint8_t *saved, uint32_t length);

CFM_STATIC_ASSERT(sizeof(cfm_regs) == 8, "two registers");
CFM_STATIC_ASSERT(sizeof(cfm_span) == 16 && sizeof(cfm_refusal) == 64, "spans without padding");
CFM_STATIC_ASSERT(sizeof(cfm_node) == 4 * CFM_NODE_WORDS, "a node is words");
CFM_STATIC_ASSERT(sizeof(cfm_trie) == CFM_TRIE_WORDS * sizeof(void *), "as many words as the library takes");
CFM_STATIC_ASSERT(sizeof(cfm_slots) == 8 * CFM_SLOTS_DWORDS, "as many double words as the library takes");
CFM_STATIC_ASSERT(sizeof(cfm_heap) == CFM_HEAP_WORDS * sizeof(void *), "as many words as the library takes");
CFM_STATIC_ASSERT(sizeof(cfm_heap_use) == 16, "four words");
CFM_STATIC_ASSERT(sizeof(cfm_ledger) == 8 * CFM_LEDGER_DWORDS, "as many double words as the library takes");
CFM_STATIC_ASSERT(sizeof(cfm_platform) == 20 && sizeof(cfm_request) == 24 && sizeof(cfm_grant) == 36, "words");
CFM_STATIC_ASSERT(sizeof(cfm_denial) == 20 && sizeof(cfm_account) == 24, "words");

#ifdef __cplusplus
}
#endif

#endif
