//! An A32 instruction word with its fields.

use crate::insn::{Class, InsnInfo, RegSet};

/// An instruction of four bytes.
pub(super) const fn new(class: Class) -> InsnInfo {
    InsnInfo::new(class, 4)
}

/// The word.
#[derive(Clone, Copy)]
pub(super) struct Word(pub u32);

impl Word {
    pub const fn bit(self, n: u32) -> bool {
        self.0 >> n & 1 != 0
    }

    pub const fn field(self, at: u32, mask: u32) -> u32 {
        self.0 >> at & mask
    }

    /// Register in bits 19 to 16: mostly the first operand or the base.
    pub const fn rn(self) -> u32 {
        self.field(16, 15)
    }

    /// In bits 15 to 12: mostly the destination.
    pub const fn rd(self) -> u32 {
        self.field(12, 15)
    }

    /// In bits 11 to 8.
    pub const fn rs(self) -> u32 {
        self.field(8, 15)
    }

    /// In bits 3 to 0.
    pub const fn rm(self) -> u32 {
        self.field(0, 15)
    }

    /// As the two halves of the T32 encoding, which coprocessor instructions share.
    pub const fn halves(self) -> (u32, u32) {
        (self.field(16, 0xFFF) | 0xE000, self.field(0, 0xFFFF))
    }
}

/// Bit 21 says that the base register is written back.
pub(super) fn written_back(insn: InsnInfo, w: Word) -> InsnInfo {
    if w.bit(21) { insn.base_update(RegSet::core(w.rn())) } else { insn }
}
