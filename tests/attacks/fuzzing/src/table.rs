//! Encodings as constants that a domain can execute: nothing that it can write is executable, so that they are written when it is built.

use cofferdam::hostile::cofferdam_executed;

/// State in which a table is executed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Thumb: T32.
    Thumb,
    /// Arm: A32.
    Arm,
}

/// Slots of `LENGTH` halfwords. Each is some code and a branch to the beginning, from where it goes on in `cofferdam_executed`: to load
/// that address takes no register.
#[repr(C, align(8))]
pub struct Table<const LENGTH: usize, const SLOTS: usize> {
    out: [u16; 2],
    back: unsafe extern "C" fn(),
    slots: [[u16; LENGTH]; SLOTS],
}

/// Bytes before the first slot.
const HEAD_BYTES: i32 = 8;

impl<const LENGTH: usize, const SLOTS: usize> Table<LENGTH, SLOTS> {
    /// A table of slots whose last two halfwords are yet to be filled in.
    pub const fn new(state: State, mut slots: [[u16; LENGTH]; SLOTS]) -> Self {
        let mut index = 0;
        while index < SLOTS {
            let at = HEAD_BYTES + (2 * LENGTH * (index + 1)) as i32 - 4;
            let branch = branch(state, -at);
            slots[index][LENGTH - 2] = branch[0];
            slots[index][LENGTH - 1] = branch[1];
            index += 1;
        }
        Table { out: load_next(state), back: cofferdam_executed, slots }
    }

    /// Address of a slot.
    pub fn slot(&'static self, index: usize) -> u32 {
        &raw const self.slots[index] as u32
    }

    /// The first word of a slot.
    pub fn word(&self, index: usize) -> u32 {
        u32::from(self.slots[index][0]) << 16 | u32::from(self.slots[index][1])
    }

    /// Slots.
    pub const fn len(&self) -> usize {
        SLOTS
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        SLOTS == 0
    }
}

/// The program counter is loaded from the next word (DDI 0406C A8.8.65).
const fn load_next(state: State) -> [u16; 2] {
    match state {
        State::Thumb => [0xf8df, 0xf000],
        State::Arm => [0xf004, 0xe51f],
    }
}

/// A branch to `distance` bytes from itself (DDI 0406C A8.8.18: T4, A1), in the order of memory.
const fn branch(state: State, distance: i32) -> [u16; 2] {
    match state {
        State::Thumb => {
            let offset = (distance - 4) as u32;
            let sign = offset >> 31;
            let (j1, j2) = (!(offset >> 23 ^ sign) & 1, !(offset >> 22 ^ sign) & 1);
            [
                (0xf000 | sign << 10 | offset >> 12 & 0x3ff) as u16,
                (0x9000 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7ff) as u16,
            ]
        }
        State::Arm => {
            let word = 0xea00_0000 | ((distance - 8) as u32 >> 2 & 0x00ff_ffff);
            [word as u16, (word >> 16) as u16]
        }
    }
}
