//! The code that is executed: a slot for each encoding, and gadgets, a few instructions each, for
//! hostile stack pointers and addresses.
#![allow(long_running_const_eval, reason = "a hundred thousand slots are filled in when the program is built")]

use super::encodings::{arm, exchange, thumb};
use super::table::{State, Table};

const fn thumb_slots() -> [[u16; 4]; thumb::COUNT] {
    let (mut slots, mut index) = ([[0; 4]; thumb::COUNT], 0);
    while index < thumb::COUNT {
        let word = thumb::encoding(index);
        slots[index] = [(word >> 16) as u16, word as u16, 0, 0];
        index += 1;
    }
    slots
}

const fn arm_slots() -> [[u16; 4]; arm::COUNT] {
    let (mut slots, mut index) = ([[0; 4]; arm::COUNT], 0);
    while index < arm::COUNT {
        let word = arm::encoding(index);
        slots[index] = [word as u16, (word >> 16) as u16, 0, 0];
        index += 1;
    }
    slots
}

/// Every T32 encoding that is tried.
pub static THUMB: Table<4, { thumb::COUNT }> = Table::new(State::Thumb, thumb_slots());

/// Every A32 encoding that is tried, where there is Arm state.
pub static ARM: Table<4, { arm::COUNT }> = Table::new(State::Arm, arm_slots());

const NOP: u16 = 0xbf00;

const fn exchange_slots() -> [[u16; 8]; exchange::COUNT] {
    let (mut slots, mut index) = ([[NOP; 8]; exchange::COUNT], 0);
    while index < exchange::COUNT {
        let [read, write] = exchange::pair(index);
        slots[index] = gadget(&[(read >> 16) as u16, read as u16, (write >> 16) as u16, write as u16]);
        index += 1;
    }
    slots
}

/// Reads and writes of registers of the processor, in Thumb state.
pub static EXCHANGE: Table<8, { exchange::COUNT }> = Table::new(State::Thumb, exchange_slots());

/// A gadget of up to six halfwords.
const fn gadget(code: &[u16]) -> [u16; 8] {
    let (mut slot, mut index) = ([NOP; 8], 0);
    while index < code.len() {
        slot[index] = code[index];
        index += 1;
    }
    slot
}

/// Numbers of system calls that gadgets make: all that there are, and more.
const CALLS: usize = 32;
/// Gadgets that make no call.
const OTHERS: &[&[u16]] = &[
    COUNT_DOWN,
    &[NOP],
    // push and pop, with and without floating point
    &[0xb4ff],
    &[0xbcff],
    &[0xe92d, 0x4ff0],
    &[0xed2d, 0x0b20],
    &[0xecbd, 0x0b20],
    &[0xe96d, 0x0102],
    // faults of several kinds, which also save state on the stack on some processors
    &[0xde01],
    &[0xbe01],
    &[0xbf30],
    &[0xbf20],
    &[0xee00, 0x0a10, 0xde01],
    &[0xee00, 0x0a10, 0xe7fe],
    &[0xbf08, 0xdf00],
    &[0xe7fe],
    // r1: single, multiple, pairs, exclusive, floating point, unprivileged, table branch
    &[0x6808],
    &[0x6008],
    &[0x8808],
    &[0x8008],
    &[0xe891, 0x01fc],
    &[0xe881, 0x01fc],
    &[0xe921, 0x01fc],
    &[0xe9d1, 0x2300],
    &[0xe9c1, 0x2300],
    &[0xe851, 0x2f00],
    &[0xe851, 0x2f00, 0xe841, 0x3200],
    &[0xe8d1, 0x2f4f, 0xe8c1, 0x3f42],
    &[0xe8d1, 0x237f],
    &[0xed91, 0x0b00],
    &[0xed81, 0x0b00],
    &[0xec81, 0x0a20],
    &[0xec91, 0x0a20],
    &[0xe8d1, 0xf002],
    &[0xf851, 0x2e00],
    &[0xf841, 0x2e00],
];
/// Counts r0 down to 0.
const COUNT_DOWN: &[u16] = &[0x3801, 0xd1fd];

const fn gadgets() -> [[u16; 8]; GADGETS] {
    let (mut slots, mut number) = ([[0; 8]; GADGETS], 0);
    while number < CALLS {
        let call = [0xf04f, 0x0c00 | number as u16, 0xdf00];
        slots[2 * number] = gadget(&call);
        // The same with floating-point state.
        slots[2 * number + 1] = gadget(&[0xee00, 0x0a10, call[0], call[1], call[2]]);
        number += 1;
    }
    let mut index = 0;
    while index < OTHERS.len() {
        slots[2 * CALLS + index] = gadget(OTHERS[index]);
        index += 1;
    }
    slots
}

const GADGETS: usize = 2 * CALLS + OTHERS.len();

/// The gadgets, in Thumb state.
pub static GADGET: Table<8, GADGETS> = Table::new(State::Thumb, gadgets());

/// The gadget that takes time, two instructions for each unit of r0.
pub const STAY: usize = 2 * CALLS;
/// The gadget that does nothing.
pub const NOTHING: usize = STAY + 1;
