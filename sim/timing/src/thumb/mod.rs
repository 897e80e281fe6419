//! Thumb instructions, classified once each at translation. Pure.
//!
//! Encodings: Armv7-M Architecture Reference Manual (DDI 0403) chapter A5 and, for floating point, A6; what Armv8-M Mainline adds, DDI 0553 part C. Conditions of
//! IT blocks are not tracked: an instruction whose condition fails is classified like one that executes.

mod fp;
mod t16;
mod t32;

use crate::insn::{Class, InsnInfo};

/// Classifies the instruction at the start of `bytes` (little-endian, at least 2, for a 32-bit encoding 4 bytes).
///
/// No instruction, and a `bytes` too short to tell, gives [`Class::Undefined`]; its `size` is still the
/// length that the first half-word announces.
pub fn classify(bytes: &[u8]) -> InsnInfo {
    let Some(first) = half(bytes, 0) else {
        return InsnInfo::new(Class::Undefined, 2);
    };
    if first >> 11 < 0b11101 {
        return t16::classify(first);
    }
    match half(bytes, 2) {
        Some(second) => t32::classify(first, second),
        None => InsnInfo::new(Class::Undefined, 4),
    }
}

/// Classifies a coprocessor instruction by the two halves of its T32 encoding, with which A32 shares all but the condition.
pub(crate) fn floating_point(first: u32, second: u32) -> InsnInfo {
    fp::classify(first, second)
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at + 2)?;
    Some(u32::from(u16::from_le_bytes([pair[0], pair[1]])))
}

#[cfg(test)]
pub(crate) mod tests;
