/* Memory with a temporal specification.
 *
 * The specification says where the check whether an access is permitted ends at the latest, and who may disturb it. It
 * says nothing about the time that the memory itself takes. The same call works on every platform; what a platform
 * cannot keep, it refuses.
 *
 *     uint32_t *samples = rt_malloc(4096, RT_L1);
 *     if (!samples)
 *         return explain(); // rt_refusal_text: rule, what was asked, what is left, what would be admitted
 *
 * Within the envelope that the manifest declares for a specification, rt_malloc is a heap operation in the domain's own
 * memory and cannot be refused. Beyond it, the memory manager is asked (gate `memory`), and memory comes in extents
 * that one region register covers: what is rounded up is at most a quarter of what was asked.
 *
 * Sizes and alignments are bytes; cycles are the processor's; errors are the negative COF_E_... numbers.
 * None of these functions may be called inside a gate that the manager's priority ceiling forbids to call it. */
#ifndef COFFERDAM_MEMORY_H
#define COFFERDAM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Levels: one of them. */
#define RT_BEST_EFFORT 0u   /* nothing is promised */
#define RT_L3 1u            /* the check ends in the third level of on-chip storage at the latest */
#define RT_L2 2u            /* in the second */
#define RT_L1 3u            /* in the first */
#define RT_DETERMINISTIC 4u /* in the hardware that makes the access; it never misses */
/* Flags: any of them beside the level. */
#define RT_INDEPENDENT 8u          /* no other domain adds to the time of the check */
#define RT_CONSTANT_TIME 16u       /* mapping and releasing take the same time whatever the size */
#define RT_DATA_TCM (1u << 5)      /* the data itself lies in tightly coupled memory, */
#define RT_DATA_ON_CHIP (2u << 5)  /* on the chip, */
#define RT_DATA_OFF_CHIP (3u << 5) /* or off it */
#define RT_ALLOW_PARTIAL 128u      /* with RT_INDEPENDENT: also where the chip gives it only in part */

/* Access to shared memory: what the caller does with it, and what every domain may do that the manifest lets. */
#define RT_READ 1u
#define RT_WRITE 2u
#define RT_ALL_READ 4u
#define RT_ALL_WRITE 8u

/* How a bound was found. */
#define RT_DERIVED 1u  /* it follows from the platform's description */
#define RT_OBSERVED 2u /* the largest value observed on the worst path, by a test that is run with every change */

/* The memory of the tables (the low byte of `place`). */
#define RT_TABLES_TCM 0u         /* in tightly coupled memory */
#define RT_TABLES_ON_CHIP 1u     /* in other memory on the chip */
#define RT_TABLES_LOCKED_WAYS 2u /* off the chip, in locked ways of the second-level cache */
#define RT_TABLES_OFF_CHIP 3u    /* off the chip */
#define RT_TABLES_UNKNOWN 255u   /* nothing is said */
/* Flags of `place`. */
#define RT_PLACE_PINNED 256u    /* region registers or locked entries of the TLB: no table is read */
#define RT_PLACE_PARTLY 512u    /* it was asked to be independent, and is only in part */
#define RT_PLACE_OBSERVED 1024u /* map_cycles and release_cycles are observed maxima, otherwise derived */

/* The promise about accesses to an address. */
struct rt_bound {
    uint32_t base;           /* first address of the memory that it lies in */
    uint32_t bytes;          /* size of that memory */
    uint32_t spec;           /* its specification */
    uint32_t level;          /* the level at which the check of an access ends at the latest */
    uint32_t cycles;         /* most cycles that the check adds to one access */
    uint32_t method;         /* how that was found: RT_DERIVED or RT_OBSERVED; 0 when nothing is promised */
    uint32_t place;          /* where the tables lie that the check may read: RT_TABLES_... and flags */
    uint32_t descriptors;    /* descriptors of page tables at most; 0 on a chip with region registers */
    uint32_t map_cycles;     /* most cycles to map it, in all steps; 0 where nothing is said */
    uint32_t release_cycles; /* the same to take it away, clearing apart */
};

/* Why there was no memory. */
struct rt_refusal {
    uint32_t rule;   /* number of the rule */
    uint32_t asked;  /* what was asked for, in the rule's unit */
    uint32_t left;   /* what is left of it */
    uint32_t change; /* number of the kind of the smallest change that would be admitted */
    uint32_t value;  /* the value to which it would have to change */
};

/* Allocates memory of at least `bytes` bytes, aligned to 8; contents are undefined within the envelope and zero beyond
 * it. Null when it is refused (rt_refused says why). Bound: a heap operation within the envelope, one call of the
 * manager's gate beyond. */
void *rt_malloc(size_t bytes, uint32_t spec);
/* The same at a given address, which lies in the manager's memory: never within the envelope. */
void *rt_malloc_at(void *at, size_t bytes, uint32_t spec);
/* This domain's own shared memory, made when there is none; aligned to `align` (a power of two; 0 for any). `name` is
 * one that the manifest declares for this domain: [domain.sampler.shares] samples = { filter = "r" } says that `filter`
 * may map it, and how ("r" or "rw"). Other domains can use the same name for memory of theirs. Null when it is refused.
 */
void *rt_shmget(const char *name, size_t bytes, size_t align, uint32_t spec, uint32_t access);
/* The shared memory of another domain, under the name that the manifest declares there; the owner must have made it,
 * and permitted it (rt_shmpermit). Domains share only what they specify alike. */
void *rt_shmget_of(const char *owner, const char *name, size_t bytes, uint32_t spec, uint32_t access);
/* Lets a domain (null: every one that the manifest names) map this domain's shared memory: RT_READ, or
 * RT_READ | RT_WRITE, or 0 to take the permission away (what is mapped stays mapped). No domain gets more than the
 * manifest says. 0 or an error. */
int32_t rt_shmpermit(const char *name, const char *domain, uint32_t access);
/* Takes this domain's shared memory away from every other domain; whoever touches it afterwards faults. 0 or an error.
 */
int32_t rt_shmrevoke(const char *name);
/* Frees what one of the functions above returned. Memory of the manager's is scrubbed in bounded
 * steps, which the caller pays for, before anybody gets it again. Null is ignored. 0 or an error;
 * COF_E_BAD_ARGUMENT for what is not allocated. */
int32_t rt_free(void *memory);
/* Looks up an address: one of this domain's areas, or memory that the manager granted. 0 or
 * COF_E_BAD_ADDRESS. */
int32_t rt_query(const void *address, struct rt_bound *bound);

/* The last refusal of this domain; rule 0 when the manager could not be asked (`asked` is the error then). The change
 * that would be admitted is looked for now, for the first time: a call of the manager's gate for each one that is
 * looked at, some thirty at most. */
void rt_refused(struct rt_refusal *refusal);
/* Writes the last refusal as a sentence, as snprintf does: rule, asked, left, and what would be admitted. It looks for
 * that as rt_refused does. */
int rt_refusal_text(char *to, size_t room);

#ifdef __cplusplus
}
#endif

#endif
