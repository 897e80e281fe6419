//! Kinds of entries in the record that a bench of hardware writes for an observer: a stream of entries of 32 bytes, little-endian, each with a
//! cycle, the instructions that were retired before its end, a kind and three words.
//!
//! The bench's own header, `rtl/tb/kinds.hpp`, is [`header`]: written from here, so that writer and reader cannot number them differently.

/// Bytes of an entry.
pub const BYTES: usize = 32;

/// Declares the kinds: a constant for the reader, and a line of the header.
macro_rules! kinds {
    ($($name:ident $cpp:literal = $number:literal, $about:literal;)*) => {
        /// The numbers of kinds.
        pub mod kind {
            $(#[doc = $about] pub const $name: u32 = $number;)*
        }

        const KINDS: &[(&str, u32, &str)] = &[$(($cpp, $number, $about)),*];
    };
}

kinds! {
    ENTERED "Entered" = 1, "Machine mode: cause (bit 31: interrupt), the instruction to which it returns, a7.";
    LEFT "Left" = 2, "User mode: the next instruction, stack pointer, first entry of the tables of the MMU.";
    TRACED "Traced" = 3, "A store to the second word of the trace port: header, payload.";
    CLOCK "Clock" = 4, "A load from the clock's register: value.";
    WOKE "Woke" = 5, "The core has slept until now: cycles, the interrupt that woke it, and whether there was one.";
    ALIVE "Alive" = 6, "Nothing but the time.";
    ENDED "Ended" = 7, "Status, and whether the run was stopped at its limit.";
    STRAYED "Strayed" = 8, "A translated access that the domain's frames do not admit: its kind (`Access`), physical address, first entry of the tables.";
    REACHED "Reached" = 9, "An instruction was retired at which a probe starts or ends: its address.";
    STORED "Stored" = 10, "A store reaches the bus: physical address of its word, whether machine mode makes it.";
    HELD "Held" = 11, "Before a fault's record: number of a register, what it held when machine mode was entered, and the next one.";
    ON_STACK "OnStack" = 12, "Before a fault's record: address of a word from the stack pointer on, the word, and the next one.";
}

/// The text of `rtl/tb/kinds.hpp`.
pub fn header() -> String {
    let kinds: String =
        KINDS.iter().map(|(name, number, about)| format!("    // {about}\n    {name} = {number},\n")).collect();
    format!(
        "// Kinds of entries of a record. Written by the tests of sim/record (bench.rs); do not edit.\n#pragma once\n\n#include <cstdint>\n\n\
         namespace record {{\n\nenum Kind : uint32_t {{\n{kinds}}};\n\n}} // namespace record\n"
    )
}
