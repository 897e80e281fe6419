//! Words stored lately: a load of one of them waits until the store is through.

use crate::insn::{BaseOffset, Flags, InsnInfo, RegSet};

/// The most cycles from a store until a load of the same word.
pub(crate) const MAX_STORE_LOAD: u32 = 4;

/// One store begins in a cycle, so that no more than these are under way.
const KEPT: usize = MAX_STORE_LOAD as usize;

/// Words stored lately, the last one first. Base and offset in the instructions identify a word, while the base is not written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Stored {
    places: [BaseOffset; KEPT],
    /// Cycles after the group from which each can be loaded; 0 for one that is forgotten.
    until: [u8; KEPT],
}

impl Stored {
    /// First cycle in which `insn` can issue.
    pub fn ready(&self, insn: &InsnInfo) -> u8 {
        let Some(place) = insn.based.filter(|_| self.any() && insn.flags.has(Flags::LOAD)) else { return 0 };
        self.places.iter().zip(self.until).filter(|(one, _)| **one == place).map(|(_, until)| until).max().unwrap_or(0)
    }

    /// `insn` issues in the group: what it stores can be loaded `cycles` later, and a base that it writes is another one.
    pub fn issue(&mut self, insn: &InsnInfo, cycles: u8) {
        if cycles == 0 {
            return;
        }
        if let Some(place) = insn.based.filter(|_| insn.flags.has(Flags::STORE)) {
            self.places.rotate_right(1);
            self.until.rotate_right(1);
            (self.places[0], self.until[0]) = (place, cycles);
        }
        if self.any() {
            let written = insn.writes.union(insn.base_update);
            self.keep(|place, _| !written.has(RegSet::core(u32::from(place.base))));
        }
    }

    /// The next group issues `cycles` after the last one.
    pub fn shift(&mut self, cycles: u8) {
        if self.any() {
            self.until.iter_mut().for_each(|until| *until = until.saturating_sub(cycles));
            self.keep(|_, until| until > 0);
        }
    }

    const fn any(&self) -> bool {
        u32::from_le_bytes(self.until) != 0
    }

    /// Forgets all others. A place that was forgotten is as it was at first.
    fn keep(&mut self, kept: impl Fn(BaseOffset, u8) -> bool) {
        for (place, until) in self.places.iter_mut().zip(&mut self.until) {
            if !kept(*place, *until) {
                (*place, *until) = (BaseOffset::default(), 0);
            }
        }
    }
}
