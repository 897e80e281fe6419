//! The free blocks: a doubly linked list for each class, and a bit for each list that is not empty.

use super::blocks::{Block, FREE, WALL};
use super::class::{CLASSES, class_floor, class_for, class_of};
use super::records::{CHUNK, CHUNK_BLOCK};
use super::state::{Heap, MAPS};
use super::{Error, GRANULE, HEADER, MAX_BLOCK_LOG2, MIN_BLOCK, PIECE_OVERHEAD, Storage, Word};

const NO_MAP: u32 = 1 << (MAPS - 1);
const _: () = assert!(CLASSES < (MAPS - 1) * 32);

/// A free block with its neighbours in its list, which point back at it.
pub(super) struct Listed<S: Storage> {
    pub block: Block<S>,
    class: u32,
    head: S::Place,
    next: S::Place,
    previous: S::Place,
}

impl<S: Storage> Clone for Listed<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Storage> Copy for Listed<S> {}

/// The class in whose list a block of `size` bytes is; that of the largest for sizes that no block has.
#[inline(always)]
fn list_of(size: u32) -> u32 {
    class_of(size).min(CLASSES as u32 - 1)
}

impl<S: Storage> Heap<S> {
    /// The largest request that now succeeds for certain; larger ones, by less than a sixteenth, may. `None` when all fail.
    pub fn largest_request(&self) -> Option<u32> {
        let map = self.summary.checked_ilog2()?;
        let class = map * 32 + self.maps.get(map as usize)?.checked_ilog2()?;
        // The list of class 0 may count as not empty.
        if class == 0 {
            return None;
        }
        if self.exhausted() {
            // A block of its own for records comes first.
            let left = class_floor(class).checked_sub(CHUNK_BLOCK).filter(|left| *left >= MIN_BLOCK)?;
            return Some(class_floor(class_of(left)) - HEADER);
        }
        Some(class_floor(class) - HEADER)
    }

    /// The lowest class from `class` on whose list is not empty.
    #[inline(always)]
    pub(super) fn find(&self, class: u32) -> Option<u32> {
        let map = class / 32;
        let here = self.maps.get(map as usize)? & (u32::MAX << (class % 32));
        // Both words are looked at, although one would do, because no branch predictor could know
        // which.
        let above = (self.summary & (u32::MAX << map << 1) | NO_MAP).trailing_zeros();
        let there = *self.maps.get(above as usize)?;
        if here | there == 0 {
            return None;
        }
        let (map, word) = if here != 0 { (map, here) } else { (above, there) };
        Some(map * 32 + word.trailing_zeros())
    }

    #[inline(always)]
    pub(super) fn head(&self, class: u32, none: S::Place) -> S::Place {
        self.heads.get(class as usize).copied().flatten().unwrap_or(none)
    }

    #[inline(always)]
    fn set_head(&mut self, class: u32, head: S::Place) {
        if let Some(place) = self.heads.get_mut(class as usize) {
            *place = Some(head);
        }
    }

    /// Notes that the list of a class is not empty.
    #[inline(always)]
    fn mark(&mut self, class: u32) {
        let map = class / 32;
        self.summary |= 1 << map;
        if let Some(word) = self.maps.get_mut(map as usize) {
            *word |= 1 << (class % 32);
        }
    }

    /// Notes whether the list of a class has become empty.
    #[inline(always)]
    fn unmark(&mut self, class: u32, emptied: bool) {
        let map = class / 32;
        let Some(word) = self.maps.get_mut(map as usize) else { return };
        *word &= !(u32::from(emptied) << (class % 32));
        self.summary &= !(u32::from(*word == 0) << map);
    }

    /// Gives the heap another piece: `bytes` bytes of its memory from `base`, which belong to no
    /// other piece. The bytes that are cut off so that both ends are multiples of [`GRANULE`] stay
    /// unused, and so do [`PIECE_OVERHEAD`] bytes. When there are not enough records for it, its
    /// first bytes become records.
    ///
    /// # Errors
    /// [`Error::Piece`] when it is too small for a block, not below `1 << MAX_BLOCK_LOG2`, begins at address 0, or is not in the
    /// memory; [`Error::Corrupt`].
    pub fn add(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        self.add_piece(base, bytes).map(drop)
    }

    /// As [`Heap::add`]; the record of the piece's end.
    pub(crate) fn add_piece(&mut self, base: u32, bytes: u32) -> Result<S::Place, Error> {
        let end = base.checked_add(bytes).ok_or(Error::Piece)? & !(GRANULE - 1);
        let base = base.checked_add(GRANULE - 1).ok_or(Error::Piece)? & !(GRANULE - 1);
        let needed = if self.none.is_some() { 2 } else { 3 };
        let own = if self.spares < needed { CHUNK } else { 0 };
        let size = end.saturating_sub(base).saturating_sub(PIECE_OVERHEAD + own);
        let at = base.wrapping_add(own + PIECE_OVERHEAD);
        let inside = self.storage.header(at).is_some() && self.storage.header(end.wrapping_sub(GRANULE)).is_some();
        if !(MIN_BLOCK..1 << MAX_BLOCK_LOG2).contains(&size) || !inside {
            return Err(Error::Piece);
        }
        if own != 0 {
            self.add_records(base, own)?;
        }
        if self.none.is_none() {
            self.make_none()?;
        }
        let (none, place, after) = (self.none()?, self.take(true, 0)?, self.take(true, 0)?);
        self.store(place, Word::Before, S::address(none));
        self.store(after, Word::At, end | WALL);
        self.usage.capacity += size;
        self.put(Block { place, at, size, after }, none);
        Ok(after)
    }

    /// The block before the end of a piece, if it is free.
    pub(crate) fn free_before(&self, end: S::Place) -> Result<Option<u32>, Error> {
        let last = self.place(self.load(end, Word::Before))?;
        let at = self.load(last, Word::At);
        Ok((at & FREE != 0).then_some(at ^ FREE))
    }

    /// The first block, of at least `size` bytes, of the lowest list that has such blocks only.
    #[inline(always)]
    pub(super) fn fitting(&self, size: u32, none: S::Place) -> Result<Listed<S>, Error> {
        let class = self.find(class_for(size)).ok_or(Error::Full)?;
        let place = self.head(class, none);
        let block = self.free_block(place)?;
        let next = self.next(place, none)?;
        if block.size >= size {
            Ok(Listed { block, class, head: place, next, previous: none })
        } else {
            Err(Error::Corrupt)
        }
    }

    /// The free block of a record with its links, if all that must hold about them holds.
    #[inline(always)]
    pub(super) fn listed(&self, place: S::Place, none: S::Place) -> Result<Listed<S>, Error> {
        let block = self.free_block(place)?;
        let class = list_of(block.size);
        let next = self.next(place, none)?;
        let previous = self.place(self.load(place, Word::Previous))?;
        let (head, back) = (self.head(class, none), self.load(previous, Word::Next));
        let back = if S::address(previous) == S::address(none) { S::address(head) } else { back };
        if back == S::address(place) { Ok(Listed { block, class, head, next, previous }) } else { Err(Error::Corrupt) }
    }

    /// Takes the block of a record out of its list, if all that must hold about it holds, unless it stands for none. Not inline, so
    /// that the instructions of `free`, which does so twice, are few: they come from a memory that keeps only some.
    #[inline(never)]
    pub(super) fn take_out(&mut self, place: S::Place, none: S::Place) -> Result<(), Error> {
        let listed = self.listed(place, none)?;
        self.unlink(listed, none);
        Ok(())
    }

    /// The next block in a list, if its link back leads here, or the end.
    #[inline(always)]
    fn next(&self, place: S::Place, none: S::Place) -> Result<S::Place, Error> {
        let next = self.place(self.load(place, Word::Next))?;
        let back = if S::address(next) == S::address(none) { none } else { place };
        if self.load(next, Word::Previous) == S::address(back) { Ok(next) } else { Err(Error::Corrupt) }
    }

    /// Takes a block out of its list, unless it stands for none.
    #[inline(always)]
    pub(super) fn unlink(&mut self, listed: Listed<S>, none: S::Place) {
        let Listed { class, head, next, previous, .. } = listed;
        let first = S::address(previous) == S::address(none);
        self.store(next, Word::Previous, S::address(previous));
        self.store(previous, Word::Next, S::address(next));
        self.unlinked(none);
        self.set_head(class, if first { next } else { head });
        self.unmark(class, first & (S::address(next) == S::address(none)));
    }

    /// Takes the first block of a list out of it.
    #[inline(always)]
    pub(super) fn unlink_first(&mut self, listed: Listed<S>, none: S::Place) {
        self.store(listed.next, Word::Previous, S::address(none));
        self.set_head(listed.class, listed.next);
        self.unmark(listed.class, S::address(listed.next) == S::address(none));
    }

    /// Makes a block free and puts it into its list; the record of what is before it is written already.
    #[inline(always)]
    pub(super) fn put(&mut self, block: Block<S>, none: S::Place) {
        let class = list_of(block.size);
        let head = self.head(class, none);
        self.describe(block, FREE);
        self.store(block.place, Word::Next, S::address(head));
        self.store(block.place, Word::Previous, S::address(none));
        self.store(head, Word::Previous, S::address(block.place));
        self.store(none, Word::Previous, S::address(none));
        self.set_head(class, block.place);
        self.mark(class);
    }
}
