//! Random values for registers, stack pointers and saved frames.

use cofferdam::{Area, Info, PAGES};
use repertoire::Chip;

use super::encodings::scatter;
use super::tables::THUMB;
use attacks::Random;

/// The addresses that a hostile domain draws from.
pub struct Values {
    code: Area,
    stack: Area,
    heap: Area,
    chip: Chip,
    own: u32,
    other: u32,
}

/// Bytes of the places around which addresses are drawn.
const AROUND: u32 = 0x1000;

impl Values {
    /// Collects the domain's addresses; `role` tells the two hostile ones apart.
    pub fn find(info: Info, seed: u32, role: u32) -> Option<Values> {
        Some(Values {
            code: info.area("code")?,
            // Beside other data where both are in one memory.
            stack: info.area("stack").or(info.area("data"))?,
            heap: info.area("heap")?,
            chip: Chip::find(info)?,
            own: !scatter(seed ^ role),
            other: scatter(seed ^ role ^ 1),
        })
    }

    /// Whether a word can only come from another domain: the other hostile one's token, or what a victim keeps in its registers. Nobody
    /// holds such words in memory or constants for comparison: instructions at random would find them there.
    pub fn is_foreign(&self, word: u32) -> bool {
        const VICTIMS: u32 = 0xa1_3d18;
        let inverse = core::hint::black_box(!word);
        inverse == self.other || inverse >> 8 == VICTIMS
    }

    /// A word that nobody else has.
    pub fn token(&self) -> u32 {
        self.own
    }

    /// An address of the own memory, mostly aligned.
    fn mine(&self, random: &mut Random) -> u32 {
        let address = self.heap.base + random.below(self.heap.bytes);
        if random.below(4) == 0 { address } else { address & !7 }
    }

    /// An address at an edge of the own memory, a multiple of 4.
    fn edge(&self, random: &mut Random) -> u32 {
        let area = [self.code, self.stack, self.heap][random.below(3) as usize];
        let edge = if random.below(2) == 0 { area.base } else { area.base + area.bytes };
        edge.wrapping_add(4 * random.below(16)).wrapping_sub(32)
    }

    /// An address of somebody else's.
    fn theirs(&self, random: &mut Random) -> u32 {
        let Chip { foreign, core } = self.chip;
        let places = [
            foreign.kernel_code,
            foreign.kernel_objects,
            foreign.kernel_tables,
            foreign.heaps,
            foreign.placed,
            foreign.console,
            foreign.kernel_timer,
            core.protection,
            core.vectors,
            core.trigger,
            core.context,
            0xe000_e000,
        ];
        let place = places[random.below(12) as usize];
        match random.below(3) {
            0 => place,
            1 => place + (random.below(AROUND) & !3),
            _ => place + random.below(AROUND),
        }
    }

    /// A value close to one that means a return from an exception on one of the processors.
    fn return_value(random: &mut Random) -> u32 {
        match random.below(3) {
            0 => 0xffff_ff00 | random.next() & 0xff,
            1 => 0xffff_ffe1 | random.next() & 0x1c,
            _ => 0xf000_0000 | random.next() & 0x0fff_ffff,
        }
    }

    /// A value for a register.
    pub fn word(&self, random: &mut Random) -> u32 {
        match random.below(16) {
            0..=5 => self.mine(random),
            6 => self.edge(random),
            7..=9 => self.theirs(random),
            10 => Self::return_value(random),
            11 => 1 << random.below(32),
            12 => random.below(64),
            13 | 14 => self.own,
            _ => random.next(),
        }
    }

    /// A stack pointer: mostly not one.
    pub fn stack_pointer(&self, random: &mut Random) -> u32 {
        match random.below(8) {
            0 => self.stack.base + random.below(self.stack.bytes),
            1 => self.stack.base + (random.below(self.stack.bytes) & !7),
            2 => self.edge(random),
            3 => self.mine(random),
            4 | 5 => self.theirs(random),
            6 => Self::return_value(random),
            _ => random.next(),
        }
    }

    /// An address to branch to.
    pub fn target(&self, random: &mut Random) -> u32 {
        match random.below(8) {
            0 | 1 => Self::return_value(random),
            2 | 3 => self.theirs(random) | random.next() & 1,
            4 => self.code.base + random.below(self.code.bytes),
            5 => THUMB.slot(random.below(THUMB.len() as u32) as usize) | u32::from(random.below(8) != 0),
            6 => self.stack_pointer(random),
            _ => random.next(),
        }
    }

    /// A processor state as a frame holds it: bits of the exception number, of interrupted instructions, the Thumb bit and flags.
    pub fn state(&self, random: &mut Random) -> u32 {
        const THUMB_BIT: u32 = 1 << 24;
        match random.below(8) {
            0 | 1 => THUMB_BIT | 1 + random.below(0x1ff),
            2 | 3 => THUMB_BIT | random.next() & 0x0600_fc00,
            4 => random.next() & !THUMB_BIT,
            5 => THUMB_BIT | 1 << random.below(32),
            6 => THUMB_BIT,
            _ => random.next(),
        }
    }

    /// Whether there is Arm state.
    pub const fn has_arm_state() -> bool {
        PAGES
    }
}
