//! Extents: memory of a frames pool in pieces that one region register covers each.
//!
//! An extent is the lowest eighths of a naturally aligned power of two (Armv7-M's sub-regions: ARM DDI 0403, B3.5), so that what
//! is rounded up is at most a quarter of what was asked. The rest of the block stays free for other
//! extents.
//!
//! | operation | bound | method |
//! | --- | --- | --- |
//! | [`Extents::reserve`], [`Extents::reserve_at`], [`Extents::release`], [`Extents::cleaned`] | O(log n) in the pool's granules, fixed by its size; no history matters | construction |
//! | [`Extents::soil`] and the figures | constant | construction |
//!
//! The free blocks are the nodes of a binary tree that are marked in one set of bits; a free block is marked and none of its
//! descendants is. Two free buddies are one free block at once, so that an aligned block is free exactly when it or an ancestor
//! is marked. The set has summaries, so that the lowest free block of a size is found in a few words.
//!
//! Freed memory is *dirty* until somebody has cleared it; only clean memory is reserved. The choice is deterministic: the smallest
//! free block that is large enough, and of these the lowest. The same requests give the same extents on host and target.

mod bits;
mod pool;

#[cfg(test)]
mod tests;

pub use bits::words_for;
pub use pool::Extents;

/// Base-two logarithm of the smallest granule: the smallest region register.
pub const LEAST_GRANULE_LOG2: u8 = 5;
/// Base-two logarithm of the smallest region that has eighths.
const EIGHTHS_LOG2: u8 = 8;

/// The lowest eighths of a naturally aligned power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    base: u32,
    size_log2: u8,
    eighths: u8,
}

impl Extent {
    /// The least extent of `bytes` bytes at `base` with this granule; `None` when the base is not aligned to its power of two, or
    /// there is none.
    ///
    /// # Time complexity
    /// Constant.
    pub const fn new(base: u32, bytes: u32, granule_log2: u8) -> Option<Extent> {
        if bytes == 0 || bytes > 1 << 31 || granule_log2 < LEAST_GRANULE_LOG2 || granule_log2 > 31 {
            return None;
        }
        let power = bytes.next_power_of_two().trailing_zeros() as u8;
        let size_log2 = if power < granule_log2 { granule_log2 } else { power };
        if base.trailing_zeros() < size_log2 as u32 {
            return None;
        }
        // The finest step: an eighth where there are eighths, and never less than a granule.
        let eighth_log2 = if size_log2 < EIGHTHS_LOG2 { size_log2 } else { size_log2 - 3 };
        let step_log2 = if eighth_log2 < granule_log2 { granule_log2 } else { eighth_log2 };
        let steps = (bytes - 1) >> step_log2;
        let eighths = ((steps as u64 + 1) << step_log2) >> (size_log2 - 3);
        Some(Extent { base, size_log2, eighths: eighths as u8 })
    }

    /// Bytes of the largest extent with this granule of at most so many bytes; 0 when there is none.
    ///
    /// # Time complexity
    /// Constant.
    pub const fn within(bytes: u32, granule_log2: u8) -> u32 {
        let bytes = if bytes > 1 << 31 { 1 << 31 } else { bytes };
        if granule_log2 < LEAST_GRANULE_LOG2 || granule_log2 > 31 || bytes >> granule_log2 == 0 {
            return 0;
        }
        // Between two powers of two, the eighths of the upper one; a region without eighths is whole.
        let size_log2 = bytes.ilog2() as u8 + 1;
        let eighth_log2 = if size_log2 < EIGHTHS_LOG2 { size_log2 - 1 } else { size_log2 - 3 };
        let step_log2 = if eighth_log2 < granule_log2 { granule_log2 } else { eighth_log2 };
        bytes >> step_log2 << step_log2
    }

    /// First address, a multiple of `1 << size_log2`.
    pub const fn base(self) -> u32 {
        self.base
    }

    /// Base-two logarithm of the size that a region register is programmed with.
    pub const fn size_log2(self) -> u8 {
        self.size_log2
    }

    /// Bytes from the base on that belong to it.
    pub const fn bytes(self) -> u32 {
        (self.eighths as u32) << (self.size_log2 - 3)
    }

    /// Sub-region disable bits of the region register: bit 0 is the lowest eighth; 0 when the whole region is open.
    pub const fn srd(self) -> u8 {
        if self.eighths == 8 { 0 } else { 0xFF << self.eighths }
    }
}

/// Why a pool did not do what was asked. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentError {
    /// No clean free block is large enough.
    Full {
        /// Bytes that the extent would take.
        asked: u32,
        /// Clean bytes that are free, all together.
        free: u32,
        /// Bytes of the largest clean free block.
        largest: u32,
    },
    /// Some of the bytes at that address are not free and clean.
    Taken,
    /// The address is not aligned as an extent of that size must be, or the bytes are not in the pool.
    Place,
    /// The extent, or a part of it, is free already.
    NotTaken,
    /// A size of 0 or beyond 2 GiB, or an alignment that is no power of two.
    Size,
    /// The pool's bounds are no multiples of the granule, or it needs more words than there are.
    Pool,
}
