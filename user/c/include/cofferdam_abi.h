/* Generated from crates/abi by `cofferdam sdk --header`; do not edit. */
#ifndef COFFERDAM_ABI_H
#define COFFERDAM_ABI_H

/* No system call has this number. Use the calls of cofferdam.h. */
#define COF_E_BAD_CALL (-1)
/* The handle names no capability of the calling domain, or one that was revoked. Look the name up in the start-up information block. */
#define COF_E_BAD_HANDLE (-2)
/* The capability names an object of another kind. Pass a handle of the documented kind. */
#define COF_E_WRONG_KIND (-3)
/* The capability lacks a right that the call needs. Ask whoever granted it for the right. */
#define COF_E_NO_RIGHT (-4)
/* An argument is out of its documented range. Pass a value in range. */
#define COF_E_BAD_ARGUMENT (-5)
/* The whole byte range is not accessible to the domain named. Pass memory of that domain's own. */
#define COF_E_BAD_ADDRESS (-6)
/* The slot is out of range or not empty. Choose an empty slot of the table. */
#define COF_E_BAD_SLOT (-7)
/* The object is in a state that forbids the operation. Stop, unmap or finish it first. */
#define COF_E_BAD_STATE (-8)
/* A fixed table of the kernel or of the domain is full. Delete something, or give the domain a larger table. */
#define COF_E_FULL (-9)
/* The caller's priority is above the gate's ceiling. Raise the gate's ceiling in the manifest. */
#define COF_E_CEILING (-10)
/* Gate calls nest too deeply. Flatten the chain of calls. */
#define COF_E_NESTING (-11)
/* The budget's capacity is below the gate's declared bound, so waiting would not help. Inside a gate: what is left of its bound does not cover the call; a call of another gate is only refused, while a signal, an acknowledgement or a restart ends the bound, too. Give the caller a capacity of at least the bound. Give a gate that calls another a bound of at least the other's, the slack (G + M + A) and its own work; one that signals, acknowledges or restarts a bound that covers each of them. */
#define COF_E_NO_BUDGET (-12)
/* Another thread is inside the gate or waits for the notification, or has begun to map or unmap frames. Try again later. */
#define COF_E_BUSY (-13)
/* The target domain is stopped. Wait until it has been restarted. */
#define COF_E_STOPPED (-14)
/* The callee faulted; the call was unwound. Treat the service as failed for this call. */
#define COF_E_CALLEE_FAULT (-15)
/* The callee exceeded the gate's declared bound; the call was unwound. Report it: the declared bound is wrong. */
#define COF_E_GATE_OVERRUN (-16)
/* The call may block, which is not allowed inside a gate. Return from the gate first. */
#define COF_E_IN_GATE (-17)
/* The call is only meaningful inside a gate. Call it from a gate's entry function. */
#define COF_E_NOT_IN_GATE (-18)
/* The thread has no period. Declare a period in the manifest. */
#define COF_E_NOT_PERIODIC (-19)
/* The range cannot be protected exactly by the region registers left. Change size or alignment as cofferdam check suggests. */
#define COF_E_NOT_EXACT (-20)
/* One step of a long operation was done and more are left. Repeat the call. */
#define COF_E_AGAIN (-21)
/* A page of the caller's demand area is to be copied that was never touched. Inside the gate: give this error back. As the status of GATE_CALL, with the page's address as the value: the callee has given it back. Touch the page and call again, as the run-times do. */
#define COF_E_UNTOUCHED (-22)

/* Let other ready threads of the same priority run first.
 *   bound one scheduling decision, O(1) */
#define COF_CALL_YIELD 0u

/* End the calling thread; the domain has finished when its last thread ends.
 *   in   code: any; 0 means success
 *   error COF_E_IN_GATE
 *   bound one scheduling decision, O(1) */
#define COF_CALL_EXIT 1u

/* Wait until one of the bits in the mask is set in a notification, then clear and return these bits.
 *   in   notification: handle, right READ
 *   in   mask: bits, not 0
 *   out  bits: bits that were set
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_IN_GATE
 *   error COF_E_BUSY
 *   bound one scheduling decision, O(1) */
#define COF_CALL_WAIT 2u

/* Clear and return the bits of the mask that are set, without waiting.
 *   in   notification: handle, right READ
 *   in   mask: bits
 *   out  bits: bits that were set, or 0
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   bound O(1) */
#define COF_CALL_POLL 3u

/* Set bits in a notification and wake the thread that waits for them.
 *   in   notification: handle, right WRITE
 *   in   bits: bits
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_NO_BUDGET
 *   bound one scheduling decision, O(1) */
#define COF_CALL_SIGNAL 4u

/* Sleep until a point of time; a point in the past returns at once.
 *   in   time_low: ticks since boot, low word
 *   in   time_high: ticks since boot, high word
 *   error COF_E_IN_GATE
 *   bound insertion into the time queue, O(threads + budgets) */
#define COF_CALL_SLEEP_UNTIL 5u

/* Complete the current release of a periodic thread and wait for the next one.
 *   out  missed: releases that passed while the thread still ran
 *   error COF_E_NOT_PERIODIC
 *   error COF_E_IN_GATE
 *   bound insertion into the time queue, O(threads + budgets) */
#define COF_CALL_WAIT_PERIOD 6u

/* Call a gate: the thread continues in the callee's domain on the callee's stack and at the gate's ceiling priority.
 *   in   gate: handle, right WRITE
 *   in   a0: any
 *   in   a1: any
 *   in   a2: any
 *   out  value: what the callee returned
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_CEILING
 *   error COF_E_NESTING
 *   error COF_E_NO_BUDGET
 *   error COF_E_BUSY
 *   error COF_E_STOPPED
 *   error COF_E_CALLEE_FAULT
 *   error COF_E_GATE_OVERRUN
 *   error COF_E_UNTOUCHED
 *   bound O(1); the callee itself is bounded by the gate's declared bound */
#define COF_CALL_GATE_CALL 7u

/* Return from a gate to its caller.
 *   in   status: 0 or a negative error
 *   in   value: any
 *   error COF_E_NOT_IN_GATE
 *   bound O(1) */
#define COF_CALL_GATE_RETURN 8u

/* Inside a gate: copy bytes from the caller's memory into the callee's.
 *   in   dst: address in the callee's domain
 *   in   src: address in the caller's domain
 *   in   len: bytes, 0 to 64
 *   error COF_E_NOT_IN_GATE
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_UNTOUCHED
 *   bound two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes */
#define COF_CALL_GATE_COPY_IN 9u

/* Inside a gate: copy bytes from the callee's memory into the caller's.
 *   in   dst: address in the caller's domain
 *   in   src: address in the callee's domain
 *   in   len: bytes, 0 to 64
 *   error COF_E_NOT_IN_GATE
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_UNTOUCHED
 *   bound two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes */
#define COF_CALL_GATE_COPY_OUT 10u

/* Allow an interrupt line to be delivered again.
 *   in   interrupt: handle, right WRITE
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_NO_BUDGET
 *   bound O(1) */
#define COF_CALL_INTERRUPT_ACK 11u

/* Read the time since boot.
 *   out  low: ticks, low word
 *   out  high: ticks, high word
 *   bound O(1) */
#define COF_CALL_TIME_NOW 12u

/* Write a marker into the trace.
 *   in   id: 0 to 65535
 *   in   value: any
 *   bound O(1) */
#define COF_CALL_MARK 13u

/* Read what is left of a budget, or of the time of a domain's handlers, whose next replenishment is told as of the meter's last look.
 *   in   budget: handle, right READ
 *   out  left: ticks
 *   out  next: ticks until the next replenishment
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   bound O(1) */
#define COF_CALL_BUDGET_QUERY 14u

/* Stop every thread of a domain.
 *   in   domain: handle, right WRITE
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   bound O(threads) */
#define COF_CALL_DOMAIN_STOP 15u

/* One step of re-initialising a stopped domain; repeat while it returns AGAIN. Frames that were mapped to it while it ran are unmapped; capabilities that were revoked since it began stay revoked.
 *   in   domain: handle, right WRITE
 *   out  left: bytes left to initialise
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_AGAIN
 *   error COF_E_BAD_STATE
 *   error COF_E_NO_BUDGET
 *   bound 128 bytes, one region, one capability or one thread a step */
#define COF_CALL_DOMAIN_RESTART 16u

/* Take the oldest unread fault report of a domain.
 *   in   domain: handle, right READ
 *   out  fault: kind of fault, 0 for none
 *   out  address: address or program counter
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   bound O(1) */
#define COF_CALL_FAULT_NEXT 17u

/* Copy a capability into an empty slot of the own table, with the same or fewer rights.
 *   in   from: handle
 *   in   to: slot
 *   in   rights: bits
 *   error COF_E_BAD_HANDLE
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_SLOT
 *   bound O(1) */
#define COF_CALL_CAP_COPY 18u

/* Copy a capability into an empty slot of another domain's table, with the same or fewer rights.
 *   in   domain: handle, right WRITE
 *   in   from: handle, right GRANT
 *   in   to: slot
 *   in   rights: bits
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_SLOT
 *   bound O(1) */
#define COF_CALL_CAP_GRANT 19u

/* Empty a slot of the own table.
 *   in   slot: slot
 *   error COF_E_BAD_HANDLE
 *   bound O(1) */
#define COF_CALL_CAP_DELETE 20u

/* Make every other capability to an object invalid.
 *   in   object: handle, right GRANT
 *   error COF_E_BAD_HANDLE
 *   error COF_E_NO_RIGHT
 *   error COF_E_FULL
 *   bound O(1): the object's generation changes */
#define COF_CALL_REVOKE 21u

/* Make a part of untyped frames memory that can be mapped.
 *   in   frames: handle, right WRITE
 *   in   offset: bytes from the start of the frames, a multiple of 32
 *   in   bytes: a multiple of 32, not 0
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_STATE
 *   error COF_E_FULL
 *   error COF_E_BUSY
 *   bound a search, O(log ranges), and two marks between ranges; BUSY while another caller's mapping changes (if that caller does not go on, a step of the change is done) */
#define COF_CALL_FRAMES_RETYPE 22u

/* Let a domain access exactly these bytes of frames, at this address, with these rights. A range that the processor cannot check exactly is refused: region registers hold an aligned power of two, or a run of its eighths, at its physical address; page tables hold pages of 4 KiB.
 *   in   handles: bits 15..0 of the domain, right WRITE; bits 31..16 of the frames, right WRITE to map for writing, else READ
 *   in   place: bits 31..5 of the first address; bit 0 read (always set), 1 write or 2 execute (not with page tables); bit 3: the check of an access waits for no table (a region register of its own, or one page, 64 KiB or 1 MiB, aligned, kept in the TLB); bit 4: nor for memory off the chip (page tables only)
 *   in   offset: bytes from the start of the frames, a multiple of 32
 *   in   bytes: a multiple of 32, not 0; from 256 on with region registers unless bit 3 is set
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_STATE
 *   error COF_E_FULL
 *   error COF_E_BUSY
 *   bound in pieces, each the call once more: a few marks between ranges, or one node of the domain's table; BUSY as FRAMES_RETYPE */
#define COF_CALL_FRAMES_MAP 23u

/* End what FRAMES_MAP with the same arguments began, in region registers and TLBs, too, before it returns.
 *   in   handles: as for FRAMES_MAP; of the frames right READ
 *   in   place: as for FRAMES_MAP
 *   in   offset: as for FRAMES_MAP
 *   in   bytes: as for FRAMES_MAP
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_STATE
 *   error COF_E_BUSY
 *   bound as FRAMES_MAP */
#define COF_CALL_FRAMES_UNMAP 24u

/* One step of clearing a part of frames that nobody maps: the first bytes that are not untyped yet become untyped; repeat until none are left.
 *   in   frames: handle, right WRITE
 *   in   offset: bytes from the start of the frames, a multiple of 32
 *   in   bytes: a multiple of 32, not 0
 *   out  left: bytes behind what is untyped now; 0: all of it is
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_STATE
 *   error COF_E_FULL
 *   error COF_E_BUSY
 *   bound 256 bytes, a search and two marks between ranges; or as FRAMES_RETYPE */
#define COF_CALL_FRAMES_CLEAN 25u

/* Turn a part of untyped frames into kernel memory for the table of a domain, for good; of more than the kernel takes at once, its beginning.
 *   in   domain: handle, right WRITE
 *   in   frames: handle, right WRITE
 *   in   offset: bytes from the start of the frames, so that the address is a multiple of 32, with page tables 1024
 *   in   bytes: a multiple of 32; with region registers 288 (a node, for 36 regions or a step of the look-up) and more, of which at most 4096 are taken; with page tables 1024 (one table, for 1 MiB of addresses) and more
 *   out  bytes: bytes that were taken
 *   out  mappings: regions, or pages, that they can hold if they hold nothing else
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_STATE
 *   error COF_E_FULL
 *   error COF_E_BUSY
 *   bound a search, two marks between ranges, and one word for each node; or as FRAMES_RETYPE */
#define COF_CALL_NODES_GIVE 26u

/* Give the processor's Non-secure state to a domain with handlers that interrupts reach without the kernel. The kernel takes the interrupts of the domain that had it, as of every other one.
 *   in   domain: handle, right WRITE
 *   error COF_E_BAD_HANDLE
 *   error COF_E_WRONG_KIND
 *   error COF_E_NO_RIGHT
 *   error COF_E_BAD_STATE
 *   bound O(areas of the system): attribution, blocks of memory and devices of two domains, and 8 lines */
#define COF_CALL_OCCUPY 27u

/* Make free pages of the own demand area a region, or up to three, one behind the other. Nothing of it is mapped: each page gets a frame at its first touch. BAD_CALL on a processor without them.
 *   in   place: address of the first page
 *   in   pages: not 0
 *   in   cuts: bit 0: the first page is a region of its own; bit 1: the last one is
 *   error COF_E_BAD_CALL
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_STATE
 *   bound constant, whatever the number of pages */
#define COF_CALL_REGION_MAP 28u

/* Free regions of the own demand area, one behind the other; all their frames are free at once. Behind page tables that have to be visited page by page this is one step of it.
 *   in   place: address of the first page of the first one
 *   in   regions: 1 to 3
 *   out  rest: address at which the rest begins, which is regions as before
 *   out  left: regions of it; 0: all are free
 *   error COF_E_BAD_CALL
 *   error COF_E_BAD_ADDRESS
 *   error COF_E_BAD_ARGUMENT
 *   error COF_E_BAD_STATE
 *   bound constant, whatever their sizes and however much of them is mapped; or 16 pages */
#define COF_CALL_REGION_UNMAP 29u

#define COF_MAP_READ 1u
#define COF_MAP_WRITE 2u
#define COF_MAP_EXECUTE 4u
#define COF_MAP_PINNED 8u
#define COF_MAP_NEAR 16u
#define COF_COPY_MAX_BYTES 64u
#define COF_MAX_NESTING 4u
#define COF_INFO_MAGIC 0x49464f43u
#define COF_INFO_VERSION 6u
#define COF_INFO_HEADER_WORDS 17u
#define COF_INFO_NAME_BYTES 16u
#define COF_INFO_CAP_BYTES 24u
#define COF_INFO_AREA_BYTES 48u
#define COF_INFO_ENVELOPE_BYTES 24u
#define COF_NOTE_SECTION ".note.cofferdam"
#define COF_NOTE { 12u, 4u, 1u, 1717989187u, 1633972837u, 109u, 6u }
#define COF_INFO_UNBOUNDED 0xffffffffu

#endif
