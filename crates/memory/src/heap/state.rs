//! The state of a heap beside its memory.

use super::class::CLASSES;
use super::{Storage, Usage};

/// Words of bits. The last one, and with it the last bit of the summary, belongs to no class, so that what is not found is found there.
pub(super) const MAPS: usize = 16;

/// A heap over `storage`. It takes about 1.4 KiB beside that memory, where no program error in the heap can reach it, and a record
/// of [`RECORD`](super::RECORD) bytes for each block.
#[derive(Debug)]
pub struct Heap<S: Storage> {
    pub(super) storage: S,
    pub(super) usage: Usage,
    /// Bit `n`: word `n` of `maps` is not zero.
    pub(super) summary: u32,
    /// Bit `c % 32` of word `c / 32`: the list of class `c` is not empty.
    pub(super) maps: [u32; MAPS],
    /// The records of the first free block of each class; until a class has had one, `None` instead of `none`.
    pub(super) heads: [Option<S::Place>; CLASSES],
    /// The record that stands for no block.
    pub(super) none: Option<S::Place>,
    /// The address of the first of the records that were given back, or 0.
    pub(super) spare: u32,
    /// The beginning of the records that were never used, and their number.
    pub(super) next_unused: u32,
    pub(super) unused: u32,
    /// Records that describe no block, of both kinds.
    pub(super) spares: u32,
}

impl<S: Storage> Heap<S> {
    /// A heap without pieces: every request fails until [`Heap::add`].
    pub const fn new(storage: S) -> Self {
        let usage = Usage { capacity: 0, used: 0, peak: 0, blocks: 0 };
        let (maps, heads) = ([0; MAPS], [None; CLASSES]);
        Heap { storage, usage, summary: 0, maps, heads, none: None, spare: 0, next_unused: 0, unused: 0, spares: 0 }
    }

    /// The heap's occupancy now.
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// The memory itself.
    pub const fn memory(&self) -> &S {
        &self.storage
    }

    /// The memory itself, for its pieces to be made known; what the heap uses of it is not to be touched or taken away through this.
    pub const fn memory_mut(&mut self) -> &mut S {
        &mut self.storage
    }
}
