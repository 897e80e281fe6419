//! The free blocks: a doubly linked list for each class, and a bit for each list that is not empty.

use super::blocks::{Block, END, FREE};
use super::class::{CLASSES, class_floor, class_for, class_of};
use super::{Error, GRANULE, HEADER, MAX_BLOCK_LOG2, MIN_BLOCK, Memory, PIECE_OVERHEAD, Usage};

const MAPS: usize = CLASSES.div_ceil(32);
/// Offsets of the links in a free block.
const NEXT: u32 = HEADER;
const PREVIOUS: u32 = HEADER + 4;

/// A heap over `memory`. It takes about 1.4 KiB beside that memory, where no program error in the heap can reach it.
#[derive(Debug)]
pub struct Heap<M> {
    pub(super) memory: M,
    pub(super) usage: Usage,
    /// Bit `n`: word `n` of `maps` is not zero.
    summary: u32,
    /// Bit `c % 32` of word `c / 32`: the list of class `c` is not empty.
    maps: [u32; MAPS],
    /// The first free block of each class, 0 for none.
    heads: [u32; CLASSES],
}

/// A free block with its neighbours in its list, which point back at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub block: Block,
    class: u32,
    next: u32,
    previous: u32,
}

impl Listed {
    /// The same after `gone` has left the list, in case they were neighbours there.
    #[inline(always)]
    pub fn without(self, gone: Listed) -> Listed {
        let next = if self.next == gone.block.at { gone.next } else { self.next };
        let previous = if self.previous == gone.block.at { gone.previous } else { self.previous };
        Listed { next, previous, ..self }
    }
}

impl<M> Heap<M> {
    /// A heap without pieces: every request fails until [`Heap::add`].
    pub const fn new(memory: M) -> Self {
        let usage = Usage { capacity: 0, used: 0, peak: 0, blocks: 0 };
        Heap { memory, usage, summary: 0, maps: [0; MAPS], heads: [0; CLASSES] }
    }

    /// What the heap holds now.
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// The memory itself.
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// The memory itself, for its pieces to be made known; what blocks hold is not to be touched through it.
    pub const fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// The largest request that now succeeds for certain; larger ones, by less than a sixteenth, may. `None` when all fail.
    pub fn largest_request(&self) -> Option<u32> {
        let map = self.summary.checked_ilog2()?;
        let class = map * 32 + self.maps[map as usize].checked_ilog2()?;
        Some(class_floor(class) - HEADER)
    }

    /// The lowest class from `class` on whose list is not empty.
    #[inline(always)]
    pub(super) fn find(&self, class: u32) -> Option<u32> {
        let (map, bit) = (class / 32, class % 32);
        let here = self.maps.get(map as usize)? & (u32::MAX << bit);
        if here != 0 {
            return Some(map * 32 + here.trailing_zeros());
        }
        let above = self.summary & (u32::MAX << map << 1);
        if above == 0 {
            return None;
        }
        let map = above.trailing_zeros();
        Some(map * 32 + self.maps.get(map as usize)?.trailing_zeros())
    }

    #[inline(always)]
    pub(super) fn head(&self, class: u32) -> u32 {
        self.heads.get(class as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn set_head(&mut self, class: u32, at: u32) {
        let (map, bit) = ((class / 32) as usize, 1 << (class % 32));
        let (Some(head), Some(map_word)) = (self.heads.get_mut(class as usize), self.maps.get_mut(map)) else { return };
        *head = at;
        if at != 0 {
            *map_word |= bit;
            self.summary |= 1 << map;
        } else {
            *map_word &= !bit;
            if *map_word == 0 {
                self.summary &= !(1 << map);
            }
        }
    }
}

impl<M: Memory> Heap<M> {
    /// Gives the heap another piece: `bytes` bytes of its memory from `base`, which belong to no other piece. What is cut off so
    /// that both ends are multiples of [`GRANULE`] stays unused; [`PIECE_OVERHEAD`] bytes mark the end.
    ///
    /// # Errors
    /// [`Error::Piece`] when it is too small for a block, not below `1 << MAX_BLOCK_LOG2`, begins at address 0, or is not in the
    /// memory.
    pub fn add(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        let end = base.checked_add(bytes).ok_or(Error::Piece)? & !(GRANULE - 1);
        let base = base.checked_add(GRANULE - 1).ok_or(Error::Piece)? & !(GRANULE - 1);
        let size = end.saturating_sub(base).saturating_sub(PIECE_OVERHEAD);
        if !(MIN_BLOCK..1 << MAX_BLOCK_LOG2).contains(&size) || base == 0 {
            return Err(Error::Piece);
        }
        let reachable = self.memory.load(base).and(self.memory.load(end - 4));
        reachable.ok_or(Error::Piece)?;
        self.push_allowed(class_of(size))?;
        self.store(base + 4, 0)?;
        self.store(base + size, END)?;
        self.usage.capacity += size;
        self.put(base, size)
    }

    /// The first block of the lowest list from the class for `size` on.
    #[inline(always)]
    pub(super) fn fitting(&self, size: u32) -> Result<Listed, Error> {
        let class = self.find(class_for(size)).ok_or(Error::Full)?;
        let block = self.free_block(self.head(class))?;
        let listed = self.listed(block)?;
        if listed.class == class && listed.previous == 0 { Ok(listed) } else { Err(Error::Corrupt) }
    }

    /// A free block with its links, if its list neighbours point back at it.
    #[inline(always)]
    pub(super) fn listed(&self, block: Block) -> Result<Listed, Error> {
        let class = class_of(block.size);
        let (next, previous) = (self.load(block.at + NEXT)?, self.load(block.at + PREVIOUS)?);
        let from = if previous == 0 { self.head(class) } else { self.load(previous.wrapping_add(NEXT))? };
        let back = if next == 0 { block.at } else { self.load(next.wrapping_add(PREVIOUS))? };
        if from == block.at && back == block.at {
            Ok(Listed { block, class, next, previous })
        } else {
            Err(Error::Corrupt)
        }
    }

    /// Takes a block out of its list.
    #[inline(always)]
    pub(super) fn unlink(&mut self, listed: Listed) -> Result<(), Error> {
        if listed.next != 0 {
            self.store(listed.next + PREVIOUS, listed.previous)?;
        }
        if listed.previous == 0 {
            self.set_head(listed.class, listed.next);
            return Ok(());
        }
        self.store(listed.previous + NEXT, listed.next)
    }

    /// Whether the first block of a class's list is sound, so that another can be put before it.
    #[inline(always)]
    pub(super) fn push_allowed(&self, class: u32) -> Result<(), Error> {
        let head = self.head(class);
        if head == 0 || self.load(head.wrapping_add(PREVIOUS))? == 0 { Ok(()) } else { Err(Error::Corrupt) }
    }

    /// Makes `size` bytes from `at` a free block, in its list and in the header after it; word 1 of its own header is set already.
    #[inline(always)]
    pub(super) fn put(&mut self, at: u32, size: u32) -> Result<(), Error> {
        let class = class_of(size);
        let head = self.head(class);
        self.store(at, size | FREE)?;
        self.store(at + size + 4, size)?;
        self.store(at + NEXT, head)?;
        self.store(at + PREVIOUS, 0)?;
        if head != 0 {
            self.store(head + PREVIOUS, at)?;
        }
        self.set_head(class, at);
        Ok(())
    }
}
