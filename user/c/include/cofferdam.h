/* The system calls of Cofferdam for C. Each function does what the documentation of its number in cofferdam_abi.h says
 * (arguments with units, errors, bound). A function returns 0 or one of the negative COF_E_... numbers; values come
 * back through pointers, which must not be null. Inside a gate nothing may block.
 *
 * A domain finds its capabilities by name:
 *     uint32_t console = cof_cap("console", COF_KIND_GATE);
 * A gate's entry function, named in the manifest, looks like this:
 *     COF_ENTRY uint64_t set_speed(uint32_t badge, uint32_t speed, uint32_t unused1, uint32_t unused2) {
 *         return cof_reply(0, speed);
 *     }
 * and a further thread's entry like this: COF_ENTRY void sampler(const uint32_t *info, uint32_t argument) { ... }
 */
#ifndef COFFERDAM_H
#define COFFERDAM_H

#include <stddef.h>
#include <stdint.h>

#include "cofferdam/arch.h"
#include "cofferdam_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of object. */
#define COF_KIND_DOMAIN 1u
#define COF_KIND_THREAD 2u
#define COF_KIND_BUDGET 3u
#define COF_KIND_GATE 4u
#define COF_KIND_NOTIFICATION 5u
#define COF_KIND_INTERRUPT 6u
#define COF_KIND_FRAMES 7u

/* Rights of a capability. */
#define COF_READ 1u
#define COF_WRITE 2u
#define COF_GRANT 4u

/* Slot of a capability that does not exist; every call refuses it with COF_E_BAD_HANDLE. */
#define COF_NO_SLOT 0xffffffffu

/* Keeps an entry function of a thread or gate when unused functions are removed. */
#define COF_ENTRY __attribute__((used, section(".cofferdam.entry")))

/* A memory area of this domain. */
struct cof_area {
    uint32_t base;   /* first address */
    uint32_t bytes;  /* size */
    uint32_t access; /* bit 0 read, 1 write, 2 execute, 3 pinned */
    uint32_t kind;   /* of a device: cof_name_hash of its kind, as board.toml has it; 0 for memory */
};

/* The start-up information block, or null in a gate that is called before the first thread has started. */
const uint32_t *cof_info(void);
/* Slot of the capability of that name and kind, or COF_NO_SLOT. Cost: O(capabilities). */
uint32_t cof_cap(const char *name, uint32_t kind);
/* Finds the area of that name: 0, or COF_E_BAD_ARGUMENT. Cost: O(areas). */
int32_t cof_area(const char *name, struct cof_area *area);
/* One word for a name: compare it with an area's `kind`. */
static inline uint32_t cof_name_hash(const char *name) {
    uint32_t hash = 0x811c9dc5u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x01000193u;
    return hash;
}
/* How often this domain has been restarted. */
uint32_t cof_restarts(void);
/* Writes bytes to the console, waiting up to 200 ms while it is busy: 0 or the last refusal. */
int32_t cof_console_write(const void *bytes, size_t length);

/* Result of a gate's entry function: status in the low word, value in the high word. */
static inline uint64_t cof_reply(int32_t status, uint32_t value) {
    return (uint64_t)value << 32 | (uint32_t)status;
}

static inline int32_t cof_yield(void) {
    return cof_call(COF_CALL_YIELD, 0, 0, 0, 0).status;
}

static inline int32_t cof_exit(uint32_t code) {
    return cof_call(COF_CALL_EXIT, code, 0, 0, 0).status;
}

static inline int32_t cof_wait(uint32_t notification, uint32_t mask, uint32_t *bits) {
    struct cof_result result = cof_call(COF_CALL_WAIT, notification, mask, 0, 0);
    *bits = result.first;
    return result.status;
}

static inline int32_t cof_poll(uint32_t notification, uint32_t mask, uint32_t *bits) {
    struct cof_result result = cof_call(COF_CALL_POLL, notification, mask, 0, 0);
    *bits = result.first;
    return result.status;
}

static inline int32_t cof_signal(uint32_t notification, uint32_t bits) {
    return cof_call(COF_CALL_SIGNAL, notification, bits, 0, 0).status;
}

static inline int32_t cof_sleep_until(uint64_t ticks) {
    return cof_call(COF_CALL_SLEEP_UNTIL, (uint32_t)ticks, (uint32_t)(ticks >> 32), 0, 0).status;
}

static inline int32_t cof_wait_period(uint32_t *missed) {
    struct cof_result result = cof_call(COF_CALL_WAIT_PERIOD, 0, 0, 0, 0);
    *missed = result.first;
    return result.status;
}

static inline int32_t cof_gate_call(uint32_t gate, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t *value) {
    struct cof_result result = cof_call(COF_CALL_GATE_CALL, gate, a0, a1, a2);
    *value = result.first;
    return result.status;
}

static inline int32_t cof_gate_return(int32_t status, uint32_t value) {
    return cof_call(COF_CALL_GATE_RETURN, (uint32_t)status, value, 0, 0).status;
}

static inline int32_t cof_gate_copy_in(void *dst, uint32_t src, uint32_t len) {
    return cof_call(COF_CALL_GATE_COPY_IN, (uint32_t)(uintptr_t)dst, src, len, 0).status;
}

static inline int32_t cof_gate_copy_out(uint32_t dst, const void *src, uint32_t len) {
    return cof_call(COF_CALL_GATE_COPY_OUT, dst, (uint32_t)(uintptr_t)src, len, 0).status;
}

static inline int32_t cof_interrupt_ack(uint32_t interrupt) {
    return cof_call(COF_CALL_INTERRUPT_ACK, interrupt, 0, 0, 0).status;
}

static inline uint64_t cof_time_now(void) {
    struct cof_result result = cof_call(COF_CALL_TIME_NOW, 0, 0, 0, 0);
    return (uint64_t)result.second << 32 | result.first;
}

static inline int32_t cof_mark(uint32_t id, uint32_t value) {
    return cof_call(COF_CALL_MARK, id, value, 0, 0).status;
}

static inline int32_t cof_budget_query(uint32_t budget, uint32_t *left, uint32_t *next) {
    struct cof_result result = cof_call(COF_CALL_BUDGET_QUERY, budget, 0, 0, 0);
    *left = result.first;
    *next = result.second;
    return result.status;
}

static inline int32_t cof_domain_stop(uint32_t domain) {
    return cof_call(COF_CALL_DOMAIN_STOP, domain, 0, 0, 0).status;
}

static inline int32_t cof_domain_restart(uint32_t domain, uint32_t *left) {
    struct cof_result result = cof_call(COF_CALL_DOMAIN_RESTART, domain, 0, 0, 0);
    *left = result.first;
    return result.status;
}

static inline int32_t cof_fault_next(uint32_t domain, uint32_t *fault, uint32_t *address) {
    struct cof_result result = cof_call(COF_CALL_FAULT_NEXT, domain, 0, 0, 0);
    *fault = result.first;
    *address = result.second;
    return result.status;
}

static inline int32_t cof_cap_copy(uint32_t from, uint32_t to, uint32_t rights) {
    return cof_call(COF_CALL_CAP_COPY, from, to, rights, 0).status;
}

static inline int32_t cof_cap_grant(uint32_t domain, uint32_t from, uint32_t to, uint32_t rights) {
    return cof_call(COF_CALL_CAP_GRANT, domain, from, to, rights).status;
}

static inline int32_t cof_cap_delete(uint32_t slot) {
    return cof_call(COF_CALL_CAP_DELETE, slot, 0, 0, 0).status;
}

static inline int32_t cof_revoke(uint32_t object) {
    return cof_call(COF_CALL_REVOKE, object, 0, 0, 0).status;
}

static inline int32_t cof_frames_retype(uint32_t frames, uint32_t offset, uint32_t bytes) {
    return cof_call(COF_CALL_FRAMES_RETYPE, frames, offset, bytes, 0).status;
}

/* A part of frames as a domain accesses it: `access` are bits COF_MAP_READ and so on, `offset` counts from the start of the frames. Addresses and
 * sizes are multiples of 32. */
struct cof_mapping {
    uint16_t target;
    uint16_t frames;
    uint32_t at;
    uint32_t access;
    uint32_t offset;
    uint32_t bytes;
};

static inline int32_t cof_call_mapping(uint32_t number, const struct cof_mapping *mapping) {
    uint32_t handles = mapping->target | (uint32_t)mapping->frames << 16;
    uint32_t place = (mapping->at & ~31u) | (mapping->access & 31u);
    return cof_call(number, handles, place, mapping->offset, mapping->bytes).status;
}

static inline int32_t cof_frames_map(const struct cof_mapping *mapping) {
    return cof_call_mapping(COF_CALL_FRAMES_MAP, mapping);
}

static inline int32_t cof_frames_unmap(const struct cof_mapping *mapping) {
    return cof_call_mapping(COF_CALL_FRAMES_UNMAP, mapping);
}

static inline int32_t cof_frames_clean(uint32_t frames, uint32_t offset, uint32_t bytes, uint32_t *left) {
    struct cof_result result = cof_call(COF_CALL_FRAMES_CLEAN, frames, offset, bytes, 0);
    *left = result.first;
    return result.status;
}

static inline int32_t cof_nodes_give(uint32_t domain, uint32_t frames, uint32_t offset, uint32_t bytes, uint32_t *taken,
                                     uint32_t *mappings) {
    struct cof_result result = cof_call(COF_CALL_NODES_GIVE, domain, frames, offset, bytes);
    *taken = result.first;
    *mappings = result.second;
    return result.status;
}

#ifdef __cplusplus
}
#endif

#endif
