/* The system calls of Cofferdam for C. A function returns 0 or one of the negative COF_E_... numbers of
 * cofferdam_abi.h, which says what each means; every call can also return COF_E_BAD_CALL from a kernel that does not
 * know it. Values come back through pointers (`out`); a null pointer wants none. Inside a gate nothing may block.
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

/* The start-up information block. Cost: O(1). */
const uint32_t *cof_info(void);
/* Slot of the capability of that name and kind, or COF_NO_SLOT. Cost: O(capabilities). */
uint32_t cof_cap(const char *name, uint32_t kind);
/* Finds the area of that name: 0, or COF_E_BAD_ARGUMENT. Cost: O(areas). */
int32_t cof_area(const char *name, struct cof_area *area);
/* One word for a name: compare it with an area's `kind`. Cost: O(letters). */
static inline uint32_t cof_name_hash(const char *name) {
    uint32_t hash = 0x811c9dc5u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x01000193u;
    return hash;
}
/* Ticks of the board's clock in a second. Cost: O(1). */
static inline uint32_t cof_ticks_per_second(void) {
    return cof_info()[3];
}
/* How often this domain has been restarted: 0 in its first life, and before its first thread has started. Cost: O(1).
 */
uint32_t cof_restarts(void);
/* Writes bytes to the console through the gate `console`. Blocks: it waits up to 200 ms for each 256 bytes while the
 * console is busy. 0 or the last refusal; COF_E_BAD_HANDLE without such a gate in the manifest. */
int32_t cof_console_write(const void *bytes, size_t length);
/* Waits until the console has sent what this domain has written, as long as it goes on with that: at most 200 ms for a
 * byte. `exit` and `abort` do this; a program that ends by cof_exit itself does it before. */
void cof_console_drain(void);

/* Handlers (`delivery = "direct"`): functions without arguments and result, marked COF_ENTRY, that interrupts reach
 * without the kernel. A handler has the domain's `.data` and `.bss` and the devices of direct lines, and nothing else:
 * neither system calls nor stacks of threads nor allocated memory. All that it calls and reads is placed a second time
 * for it, and refused if it leads out, also through a pointer in data. */

/* The kernel's function for cof_wake, which handlers find here; 0 before the domain's first thread has started. */
extern volatile uint32_t cof_wake_address;
/* Ask the kernel, from a handler, to signal the notifications of the domain's direct interrupts that have come: their
 * threads run when no handler does. Does nothing before the domain's first thread has started, and in a domain without
 * handlers. Errors: none. Cost: O(1). */
static inline void cof_wake(void) {
    uint32_t address = cof_wake_address;
    if (address != 0) {
        ((void (*)(void))(uintptr_t)address)();
        /* The kernel finds its way back by the link register, so that this has to be a call: a jump from the end of the
         * handler would leave the exception's there. */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}

/* Result of a gate's entry function: status (0 or a negative error) in the low word, any value in the high word. */
static inline uint64_t cof_reply(int32_t status, uint32_t value) {
    return (uint64_t)value << 32 | (uint32_t)status;
}

/* Let other ready threads of the same priority run first. Does not block.
 * Errors: none.
 * Cost: one scheduling decision, O(1). */
static inline int32_t cof_yield(void) {
    return cof_call(COF_CALL_YIELD, 0, 0, 0, 0).status;
}

/* End the calling thread; the domain has finished when its last thread ends. Does not return, but inside a gate.
 *   code: any; 0 means success
 * Errors: COF_E_IN_GATE.
 * Cost: one scheduling decision, O(1). */
static inline int32_t cof_exit(uint32_t code) {
    return cof_call(COF_CALL_EXIT, code, 0, 0, 0).status;
}

/* Wait until one of the bits in the mask is set in a notification, then clear and return these bits. May block.
 *   notification: handle, right READ
 *   mask: bits, not 0
 *   out bits: bits that were set
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_IN_GATE, COF_E_BUSY.
 * Cost: one scheduling decision, O(1). */
static inline int32_t cof_wait(uint32_t notification, uint32_t mask, uint32_t *bits) {
    struct cof_result result = cof_call(COF_CALL_WAIT, notification, mask, 0, 0);
    if (bits)
        *bits = result.first;
    return result.status;
}

/* Clear and return the bits of the mask that are set, without waiting. Does not block.
 *   notification: handle, right READ
 *   mask: bits
 *   out bits: bits that were set, or 0
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT.
 * Cost: O(1). */
static inline int32_t cof_poll(uint32_t notification, uint32_t mask, uint32_t *bits) {
    struct cof_result result = cof_call(COF_CALL_POLL, notification, mask, 0, 0);
    if (bits)
        *bits = result.first;
    return result.status;
}

/* Set bits in a notification and wake the thread that waits for them. Does not block.
 *   notification: handle, right WRITE
 *   bits: bits
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_NO_BUDGET.
 * Cost: one scheduling decision, O(1). */
static inline int32_t cof_signal(uint32_t notification, uint32_t bits) {
    return cof_call(COF_CALL_SIGNAL, notification, bits, 0, 0).status;
}

/* Sleep until a point of time; a point in the past returns at once. May block.
 *   ticks: ticks since the boot; cof_ticks_per_second says how many make a second
 * Errors: COF_E_IN_GATE.
 * Cost: insertion into the time queue, O(threads + budgets). */
static inline int32_t cof_sleep_until(uint64_t ticks) {
    return cof_call(COF_CALL_SLEEP_UNTIL, (uint32_t)ticks, (uint32_t)(ticks >> 32), 0, 0).status;
}

/* Complete the current release of a periodic thread and wait for the next one. May block.
 *   out missed: releases that passed while the thread still ran
 * Errors: COF_E_NOT_PERIODIC, COF_E_IN_GATE.
 * Cost: insertion into the time queue, O(threads + budgets). */
static inline int32_t cof_wait_period(uint32_t *missed) {
    struct cof_result result = cof_call(COF_CALL_WAIT_PERIOD, 0, 0, 0, 0);
    if (missed)
        *missed = result.first;
    return result.status;
}

#if COF_DEMAND
/* Bytes behind an argument of a gate that count as passed even if no argument is a length: a message. */
#define COF_PASSED_BYTES 256u

/* Whether an address lies behind one argument of a gate by less than another says. An argument that is not smaller is
 * no length: addresses are larger than the lengths of what lies there. */
static inline int cof_is_passed(uint32_t at, uint32_t from, uint32_t one, uint32_t other) {
    uint32_t bytes = COF_PASSED_BYTES;
    if (one > bytes && one < from)
        bytes = one;
    if (other > bytes && other < from)
        bytes = other;
    return at - from < bytes;
}
#endif

/* Call a gate: the thread continues in the callee's domain on the callee's stack and at the gate's ceiling priority.
 * The caller waits while the callee runs.
 *   gate: handle, right WRITE
 *   a0: any
 *   a1: any
 *   a2: any
 *   out value: what the callee returned
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_CEILING, COF_E_NESTING, COF_E_NO_BUDGET,
 *   COF_E_BUSY, COF_E_STOPPED, COF_E_CALLEE_FAULT, COF_E_GATE_OVERRUN, COF_E_UNTOUCHED.
 * Cost: O(1); the callee itself is bounded by the gate's declared bound. COF_E_UNTOUCHED is answered here if the page
 *   was passed: it is touched, at the caller's expense, and the gate called again. A page counts as passed if it lies
 *   behind an argument by less than another argument, or by less than COF_PASSED_BYTES. For any other page the caller
 *   gets COF_E_UNTOUCHED, because a callee that chose pages could have its caller pay for each of them. */
static inline int32_t cof_gate_call(uint32_t gate, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t *value) {
    struct cof_result result = cof_call(COF_CALL_GATE_CALL, gate, a0, a1, a2);
#if COF_DEMAND
    /* It ends: each time another page that was passed has been mapped. */
    while (result.status == COF_E_UNTOUCHED &&
           (cof_is_passed(result.first, a0, a1, a2) || cof_is_passed(result.first, a1, a2, a0) ||
            cof_is_passed(result.first, a2, a0, a1))) {
        (void)*(const volatile uint8_t *)(uintptr_t)result.first;
        result = cof_call(COF_CALL_GATE_CALL, gate, a0, a1, a2);
    }
#endif
    if (value)
        *value = result.first;
    return result.status;
}

/* Return from a gate to its caller. Does not block.
 *   status: 0 or a negative error
 *   value: any
 * Errors: COF_E_NOT_IN_GATE.
 * Cost: O(1). */
static inline int32_t cof_gate_return(int32_t status, uint32_t value) {
    return cof_call(COF_CALL_GATE_RETURN, (uint32_t)status, value, 0, 0).status;
}

/* Inside a gate: copy bytes from the caller's memory into the callee's. Does not block.
 * After COF_E_UNTOUCHED the callee returns that status: the caller's run-time touches the page and calls again.
 *   dst: address in the callee's domain
 *   src: address in the caller's domain
 *   len: bytes, 0 to 64
 * Errors: COF_E_NOT_IN_GATE, COF_E_BAD_ADDRESS, COF_E_BAD_ARGUMENT, COF_E_UNTOUCHED.
 * Cost: two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes. */
static inline int32_t cof_gate_copy_in(void *dst, uint32_t src, uint32_t len) {
    return cof_call(COF_CALL_GATE_COPY_IN, (uint32_t)(uintptr_t)dst, src, len, 0).status;
}

/* Inside a gate: copy bytes from the callee's memory into the caller's. Does not block.
 * After COF_E_UNTOUCHED the callee returns that status: the caller's run-time touches the page and calls again.
 *   dst: address in the caller's domain
 *   src: address in the callee's domain
 *   len: bytes, 0 to 64
 * Errors: COF_E_NOT_IN_GATE, COF_E_BAD_ADDRESS, COF_E_BAD_ARGUMENT, COF_E_UNTOUCHED.
 * Cost: two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes. */
static inline int32_t cof_gate_copy_out(uint32_t dst, const void *src, uint32_t len) {
    return cof_call(COF_CALL_GATE_COPY_OUT, dst, (uint32_t)(uintptr_t)src, len, 0).status;
}

/* Allow an interrupt line to be delivered again. Does not block.
 *   interrupt: handle, right WRITE
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_NO_BUDGET.
 * Cost: O(1). */
static inline int32_t cof_interrupt_ack(uint32_t interrupt) {
    return cof_call(COF_CALL_INTERRUPT_ACK, interrupt, 0, 0, 0).status;
}

/* Read the time since the boot, in ticks: the finest time that a domain can read. Does not block.
 *   returns ticks; cof_ticks_per_second says how many make a second
 * Errors: none.
 * Cost: O(1). */
static inline uint64_t cof_time_now(void) {
    struct cof_result result = cof_call(COF_CALL_TIME_NOW, 0, 0, 0, 0);
    return (uint64_t)result.second << 32 | result.first;
}

/* Write a marker into the trace. Does not block.
 *   id: 0 to 65535
 *   value: any
 * Errors: none.
 * Cost: O(1). */
static inline int32_t cof_mark(uint32_t id, uint32_t value) {
    return cof_call(COF_CALL_MARK, id, value, 0, 0).status;
}

/* Read what is left of a budget, or of the time of a domain's handlers, whose next
 * replenishment is told as of the meter's last look. Does not block.
 *   budget: handle, right READ
 *   out left: ticks
 *   out next: ticks until the next replenishment
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT.
 * Cost: O(1). */
static inline int32_t cof_budget_query(uint32_t budget, uint32_t *left, uint32_t *next) {
    struct cof_result result = cof_call(COF_CALL_BUDGET_QUERY, budget, 0, 0, 0);
    if (left)
        *left = result.first;
    if (next)
        *next = result.second;
    return result.status;
}

/* Stop every thread of a domain. Does not block.
 *   domain: handle, right WRITE
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT.
 * Cost: O(threads). */
static inline int32_t cof_domain_stop(uint32_t domain) {
    return cof_call(COF_CALL_DOMAIN_STOP, domain, 0, 0, 0).status;
}

/* One step of re-initialising a stopped domain; repeat while it returns AGAIN. Frames that were mapped to it while it
 * ran are unmapped; capabilities that were revoked since it began stay revoked. Does not block.
 *   domain: handle, right WRITE
 *   out left: bytes left to initialise
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_AGAIN, COF_E_BAD_STATE, COF_E_NO_BUDGET.
 * Cost: 128 bytes, one region, one capability or one thread a step. */
static inline int32_t cof_domain_restart(uint32_t domain, uint32_t *left) {
    struct cof_result result = cof_call(COF_CALL_DOMAIN_RESTART, domain, 0, 0, 0);
    if (left)
        *left = result.first;
    return result.status;
}

/* Take the oldest unread fault report of a domain. Does not block.
 *   domain: handle, right READ
 *   out fault: kind of fault, 0 for none
 *   out address: address or program counter
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT.
 * Cost: O(1). */
static inline int32_t cof_fault_next(uint32_t domain, uint32_t *fault, uint32_t *address) {
    struct cof_result result = cof_call(COF_CALL_FAULT_NEXT, domain, 0, 0, 0);
    if (fault)
        *fault = result.first;
    if (address)
        *address = result.second;
    return result.status;
}

/* Copy a capability into an empty slot of the own table, with the same or fewer rights. Does not block.
 *   from: handle
 *   to: slot
 *   rights: bits
 * Errors: COF_E_BAD_HANDLE, COF_E_NO_RIGHT, COF_E_BAD_SLOT.
 * Cost: O(1). */
static inline int32_t cof_cap_copy(uint32_t from, uint32_t to, uint32_t rights) {
    return cof_call(COF_CALL_CAP_COPY, from, to, rights, 0).status;
}

/* Copy a capability into an empty slot of another domain's table, with the same or fewer rights. Does not block.
 *   domain: handle, right WRITE
 *   from: handle, right GRANT
 *   to: slot
 *   rights: bits
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_SLOT.
 * Cost: O(1). */
static inline int32_t cof_cap_grant(uint32_t domain, uint32_t from, uint32_t to, uint32_t rights) {
    return cof_call(COF_CALL_CAP_GRANT, domain, from, to, rights).status;
}

/* Empty a slot of the own table. Does not block.
 *   slot: slot
 * Errors: COF_E_BAD_HANDLE.
 * Cost: O(1). */
static inline int32_t cof_cap_delete(uint32_t slot) {
    return cof_call(COF_CALL_CAP_DELETE, slot, 0, 0, 0).status;
}

/* Make every other capability to an object invalid. Does not block.
 *   object: handle, right GRANT
 * Errors: COF_E_BAD_HANDLE, COF_E_NO_RIGHT, COF_E_FULL.
 * Cost: O(1): the object's generation changes. */
static inline int32_t cof_revoke(uint32_t object) {
    return cof_call(COF_CALL_REVOKE, object, 0, 0, 0).status;
}

/* Make a part of untyped frames memory that can be mapped. Does not block.
 *   frames: handle, right WRITE
 *   offset: bytes from the start of the frames, a multiple of 32
 *   bytes: a multiple of 32, not 0
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_BAD_STATE, COF_E_FULL,
 *   COF_E_BUSY.
 * Cost: a search, O(log ranges), and two marks between ranges; BUSY while another caller's mapping changes (if that
 *   caller does not go on, a step of the change is done). */
static inline int32_t cof_frames_retype(uint32_t frames, uint32_t offset, uint32_t bytes) {
    return cof_call(COF_CALL_FRAMES_RETYPE, frames, offset, bytes, 0).status;
}

/* A part of frames as a domain accesses it: `access` are bits COF_MAP_READ and so on, `offset` counts from the start of
 * the frames. Addresses and sizes are multiples of 32. */
struct cof_mapping {
    uint16_t target;
    uint16_t frames;
    uint32_t at;
    uint32_t access;
    uint32_t offset;
    uint32_t bytes;
};

/* Makes the call of cof_frames_map and cof_frames_unmap; `number` is COF_CALL_FRAMES_MAP or COF_CALL_FRAMES_UNMAP.
 * Errors and cost: as theirs. */
static inline int32_t cof_call_mapping(uint32_t number, const struct cof_mapping *mapping) {
    uint32_t handles = mapping->target | (uint32_t)mapping->frames << 16;
    uint32_t place = (mapping->at & ~31u) | (mapping->access & 31u);
    return cof_call(number, handles, place, mapping->offset, mapping->bytes).status;
}

/* Let a domain access exactly these bytes of frames, at this address, with these rights. A range that the processor
 * cannot check exactly is refused: region registers hold an aligned power of two, or a run of its eighths, at its
 * physical address; page tables hold pages of 4 KiB. Does not block.
 *   target: handle of the domain, right WRITE
 *   frames: handle, right WRITE to map for writing, else READ
 *   at: first address, a multiple of 32
 *   access: COF_MAP_READ (always), COF_MAP_WRITE or COF_MAP_EXECUTE (the latter not with page tables); COF_MAP_PINNED:
 *     the check of an access waits for no table (a region register of its own, or one page, 64 KiB or 1 MiB, aligned,
 *     kept in the TLB); COF_MAP_NEAR: nor for memory off the chip (page tables only)
 *   offset: bytes from the start of the frames, a multiple of 32
 *   bytes: a multiple of 32, not 0; from 256 on with region registers unless pinned
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_BAD_ADDRESS, COF_E_BAD_STATE,
 *   COF_E_FULL, COF_E_BUSY.
 * Cost: in pieces, each the call once more: a few marks between ranges, or one node of the domain's table; BUSY as
 *   FRAMES_RETYPE. */
static inline int32_t cof_frames_map(const struct cof_mapping *mapping) {
    return cof_call_mapping(COF_CALL_FRAMES_MAP, mapping);
}

/* End what FRAMES_MAP with the same arguments began, in region registers and TLBs, too, before it returns. Does not
 * block.
 *   mapping: as for cof_frames_map; of the frames right READ
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_BAD_ADDRESS, COF_E_BAD_STATE,
 *   COF_E_BUSY.
 * Cost: as FRAMES_MAP. */
static inline int32_t cof_frames_unmap(const struct cof_mapping *mapping) {
    return cof_call_mapping(COF_CALL_FRAMES_UNMAP, mapping);
}

/* One step of clearing a part of frames that nobody maps: the first bytes that are not untyped yet become untyped;
 * repeat until none are left. Does not block.
 *   frames: handle, right WRITE
 *   offset: bytes from the start of the frames, a multiple of 32
 *   bytes: a multiple of 32, not 0
 *   out left: bytes behind what is untyped now; 0: all of it is
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_BAD_STATE, COF_E_FULL,
 *   COF_E_BUSY.
 * Cost: 256 bytes, a search and two marks between ranges; or as FRAMES_RETYPE. */
static inline int32_t cof_frames_clean(uint32_t frames, uint32_t offset, uint32_t bytes, uint32_t *left) {
    struct cof_result result = cof_call(COF_CALL_FRAMES_CLEAN, frames, offset, bytes, 0);
    if (left)
        *left = result.first;
    return result.status;
}

/* Turn a part of untyped frames into kernel memory for the table of a domain, for good; of more than the kernel takes
 * at once, its beginning. Does not block.
 *   domain: handle, right WRITE
 *   frames: handle, right WRITE
 *   offset: bytes from the start of the frames, so that the address is a multiple of 32, with page tables 1024
 *   bytes: a multiple of 32; with region registers 288 (a node, for 36 regions or a step of the look-up) and more, of
 *     which at most 4096 are taken; with page tables 1024 (one table, for 1 MiB of addresses) and more
 *   out bytes: bytes that were taken
 *   out mappings: regions, or pages, that they can hold if they hold nothing else
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_ARGUMENT, COF_E_BAD_STATE, COF_E_FULL,
 *   COF_E_BUSY.
 * Cost: a search, two marks between ranges, and one word for each node; or as FRAMES_RETYPE. */
static inline int32_t cof_nodes_give(uint32_t domain, uint32_t frames, uint32_t offset, uint32_t bytes, uint32_t *taken,
                                     uint32_t *mappings) {
    struct cof_result result = cof_call(COF_CALL_NODES_GIVE, domain, frames, offset, bytes);
    if (taken)
        *taken = result.first;
    if (mappings)
        *mappings = result.second;
    return result.status;
}

/* Make free pages of the own demand area a region, or up to three, one behind the other. Nothing of it is mapped: each
 * page gets a frame at its first touch. BAD_CALL on a processor that cannot release a region at once. Does not block.
 *   place: address of the first page
 *   pages: not 0
 *   cuts: bit 0: the first page is a region of its own; bit 1: the last one is
 * Errors: COF_E_BAD_CALL, COF_E_BAD_ADDRESS, COF_E_BAD_ARGUMENT, COF_E_BAD_STATE.
 * Cost: constant, whatever the number of pages. */
static inline int32_t cof_region_map(uint32_t place, uint32_t pages, uint32_t cuts) {
    return cof_call(COF_CALL_REGION_MAP, place, pages, cuts, 0).status;
}

/* Free regions of the own demand area, one behind the other; all their frames are free at once. Behind page tables that
 * have to be visited page by page this is one step of it. Does not block.
 *   place: address of the first page of the first one
 *   regions: 1 to 3
 *   out rest: address at which the rest begins, which is regions as before
 *   out left: regions of it; 0: all are free
 * Errors: COF_E_BAD_CALL, COF_E_BAD_ADDRESS, COF_E_BAD_ARGUMENT, COF_E_BAD_STATE.
 * Cost: constant, whatever their sizes and however much of them is mapped; or 16 pages. */
static inline int32_t cof_region_unmap(uint32_t place, uint32_t regions, uint32_t *rest, uint32_t *left) {
    struct cof_result result = cof_call(COF_CALL_REGION_UNMAP, place, regions, 0, 0);
    if (rest)
        *rest = result.first;
    if (left)
        *left = result.second;
    return result.status;
}

/* Give the processor's Non-secure state to a domain with handlers that interrupts reach without the kernel. The kernel
 * takes the interrupts of the domain that had it, as of every other one. Does not block.
 *   domain: handle, right WRITE
 * Errors: COF_E_BAD_HANDLE, COF_E_WRONG_KIND, COF_E_NO_RIGHT, COF_E_BAD_STATE.
 * Cost: O(areas of the system): attribution, blocks of memory and devices of two domains, and 8 lines. */
static inline int32_t cof_occupy(uint32_t domain) {
    return cof_call(COF_CALL_OCCUPY, domain, 0, 0, 0).status;
}

#ifdef __cplusplus
}
#endif

#endif
