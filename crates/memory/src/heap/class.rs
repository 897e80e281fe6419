//! Size classes. Below [`LINEAR`] there is one class for each multiple of [`GRANULE`]; above, each power of two is divided
//! into [`SECOND`] classes of equal width. Classes are numbered upwards without gaps, so that the class after a class is
//! the next number and rounding up is adding one.

use super::{GRANULE, MAX_BLOCK_LOG2};

/// Base-two logarithm of [`SECOND`].
const SECOND_LOG2: u32 = 4;
/// Classes to each power of two.
pub const SECOND: u32 = 1 << SECOND_LOG2;
/// Sizes below have a class of their own.
const LINEAR: u32 = GRANULE * SECOND;
const LINEAR_LOG2: u32 = LINEAR.trailing_zeros();
/// Number of classes.
pub const CLASSES: usize = ((MAX_BLOCK_LOG2 + 1 - LINEAR_LOG2) * SECOND) as usize;

/// Base-two logarithm of the width of the class of `size`.
#[inline(always)]
const fn width_log2(size: u32) -> u32 {
    31 - (size | LINEAR).leading_zeros() - SECOND_LOG2
}

/// The class that a free block of `size` bytes is kept in. One count of leading zeros, no branch.
#[inline(always)]
pub const fn class_of(size: u32) -> u32 {
    let width = width_log2(size);
    ((width + SECOND_LOG2 - LINEAR_LOG2) << SECOND_LOG2) + (size >> width)
}

/// The lowest class whose every block holds `size` bytes.
#[inline(always)]
pub const fn class_for(size: u32) -> u32 {
    class_of(size) + (size & ((1 << width_log2(size)) - 1) != 0) as u32
}

/// The size from which on every free block is found for a request of `size`: `t(size)` of the proof in `docs/memory.md`.
pub const fn found_from(size: u32) -> u32 {
    let mask = (1 << width_log2(size)) - 1;
    (size + mask) & !mask
}

/// Width of the class of `size` in bytes.
pub const fn width(size: u32) -> u32 {
    1 << width_log2(size)
}

/// The smallest size of a class.
pub const fn class_floor(class: u32) -> u32 {
    if class < SECOND {
        return class * GRANULE;
    }
    let width = class / SECOND + LINEAR_LOG2 - SECOND_LOG2 - 1;
    (SECOND + class % SECOND) << width
}
