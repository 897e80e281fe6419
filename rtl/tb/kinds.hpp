// Kinds of entries of a record. Written by the tests of sim/record (bench.rs); do not edit.
#pragma once

#include <cstdint>

namespace record {

enum Kind : uint32_t {
    // Machine mode: cause (bit 31: interrupt), the instruction to which it returns, a7.
    Entered = 1,
    // User mode: the next instruction, stack pointer, first entry of the tables of the MMU.
    Left = 2,
    // A store to the second word of the trace port: header, payload.
    Traced = 3,
    // A load from the clock's register: value.
    Clock = 4,
    // The core has slept until now: cycles, the interrupt that woke it, and whether there was one.
    Woke = 5,
    // Nothing but the time.
    Alive = 6,
    // Status, and whether the run was stopped at its limit.
    Ended = 7,
    // A translated access that the domain's frames do not admit: its kind (`Access`), physical address, first entry of the tables.
    Strayed = 8,
    // An instruction was retired at which a probe starts or ends: its address.
    Reached = 9,
    // A store reaches the bus: physical address of its word, whether machine mode makes it.
    Stored = 10,
    // Before a fault's record: number of a register, what it held when machine mode was entered, and the next one.
    Held = 11,
    // Before a fault's record: address of a word from the stack pointer on, the word, and the next one.
    OnStack = 12,
};

} // namespace record
