//! Pieces: memory of a frames pool in pages that need not be next to each other, in as large pieces as there are.
//!
//! A piece is a naturally aligned power of two: a section, or at most a large page ([`ORDERS`]). An
//! allocation is a chain of pieces. Memory is first *promised*, by number of pages, and the pieces
//! of a promise are *drawn* one after the other, when they are used: whatever is free serves, so
//! that drawing what was promised cannot fail, and each piece is a step of its own.
//!
//! | operation | bound | method |
//! | --- | --- | --- |
//! | [`Pieces::promise`], [`Pieces::forgo`], [`Pieces::at`] | constant | construction |
//! | [`Pieces::draw`], [`Pieces::give`], [`Pieces::reserve`] for each piece | O(log n) in the pool's pages, fixed by its size; no history matters | construction |

#[cfg(test)]
mod tests;

use crate::extents::{Extent, ExtentError, Extents};

/// Base-two logarithm of the bytes of a page.
pub const PAGE_LOG2: u8 = 12;
/// Base-two logarithms of the pages of a piece: up to a large page of 64 KiB, or a section of 1 MiB.
pub const ORDERS: [u8; 6] = [8, 4, 3, 2, 1, 0];
/// Most pages of a pool.
pub const MAX_PAGES: usize = 0xfff;

const PAGE: u32 = 1 << PAGE_LOG2;
/// Number of no page.
const NOWHERE: u16 = 0xfff;

/// A piece, by the number of its first page; [`Mark::END`] for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u16);

impl Mark {
    /// The end of a chain.
    pub const END: Mark = Mark(NOWHERE);

    /// Returns true if it is the end.
    pub const fn is_end(self) -> bool {
        self.0 == NOWHERE
    }
}

/// A piece of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// The next piece.
    pub next: Mark,
}

/// A pool of frames of at most `PAGES` pages; `WORDS` is at least [`words_for`](crate::extents::words_for) of the logarithm of twice
/// as many pages, rounded up to a power of two of at least 512.
#[derive(Clone, Debug)]
pub struct Pieces<const WORDS: usize, const PAGES: usize> {
    /// By the distance from `origin`, so that it does not matter where the pool lies.
    free: Extents<WORDS>,
    /// The MiB in which the pool begins.
    origin: u32,
    base: u32,
    bytes: u32,
    /// Bytes that are promised and not drawn yet.
    promised: u32,
    /// For the first page of each piece: the next one of its chain, and above that the order.
    links: [u16; PAGES],
}

impl<const WORDS: usize, const PAGES: usize> Pieces<WORDS, PAGES> {
    const SIZES: () = assert!(PAGES <= MAX_PAGES);

    /// A pool of clean memory.
    ///
    /// # Errors
    /// [`ExtentError::Pool`].
    pub fn new(base: u32, bytes: u32) -> Result<Self, ExtentError> {
        let () = Self::SIZES;
        if (bytes >> PAGE_LOG2) as usize > PAGES {
            return Err(ExtentError::Pool);
        }
        let origin = base & !((PAGE << ORDERS[0]) - 1);
        base.checked_add(bytes).ok_or(ExtentError::Pool)?;
        let free = Extents::new(base - origin, bytes, PAGE_LOG2)?;
        Ok(Pieces { free, origin, base, bytes, promised: 0, links: [NOWHERE; PAGES] })
    }

    /// Bytes that are free and not promised.
    pub const fn left(&self) -> u32 {
        self.free.free_bytes() - self.promised
    }

    /// Promises memory, in pages wherever they are.
    ///
    /// # Errors
    /// The bytes that are left, when they are too few or `bytes` is no multiple of a page; nothing has changed then.
    pub fn promise(&mut self, bytes: u32) -> Result<(), u32> {
        if bytes > self.left() || !bytes.is_multiple_of(PAGE) {
            return Err(self.left());
        }
        self.promised += bytes;
        Ok(())
    }

    /// Takes a promise back. Nothing of it has been drawn.
    pub const fn forgo(&mut self, bytes: u32) {
        self.promised = self.promised.saturating_sub(bytes);
    }

    /// Takes the next piece of a promise: the largest that is free, of at most `most` bytes, for an address whose last bits are those of
    /// `offset`. It follows the piece `after`, if that is not the end. `None` when nothing of the promise is left.
    pub fn draw(&mut self, offset: u32, most: u32, after: Mark) -> Option<Mark> {
        // The largest block that is free is asked for once, so that no order is tried in vain.
        let most = most.min(self.promised).min(self.free.largest());
        let suits = |order: &u8| (PAGE << order) <= most && offset & ((PAGE << order) - 1) == 0;
        let order = ORDERS.into_iter().find(suits)?;
        let extent = self.block(PAGE << order).ok()?;
        self.promised -= extent.bytes();
        let mark = self.link(extent);
        if let Some(link) = self.links.get_mut(usize::from(after.0)) {
            *link = *link & !NOWHERE | mark.0;
        }
        Some(mark)
    }

    /// Reserves a chain of pieces of `unit` bytes each, a power of two.
    ///
    /// # Errors
    /// How many bytes of such pieces there are; nothing has changed then.
    pub fn reserve(&mut self, bytes: u32, unit: u32) -> Result<Mark, u32> {
        let (mut first, mut found) = (Mark::END, 0);
        while found < bytes {
            let extent = if self.left() < unit { None } else { self.block(unit).ok() };
            let Some(extent) = extent else {
                self.give_all(first);
                return Err(found);
            };
            let mark = self.link(extent);
            self.links[usize::from(mark.0)] = self.links[usize::from(mark.0)] & !NOWHERE | first.0;
            (first, found) = (mark, found + unit);
        }
        Ok(first)
    }

    /// The chain that begins at an address, if one can.
    pub fn chain(&self, base: u32) -> Mark {
        let page = base.wrapping_sub(self.base) >> PAGE_LOG2;
        if base.wrapping_sub(self.base) < self.bytes { Mark(page as u16) } else { Mark::END }
    }

    /// A piece.
    ///
    /// # Time complexity
    /// Constant.
    pub fn at(&self, mark: Mark) -> Option<Piece> {
        let link = *self.links.get(usize::from(mark.0))?;
        let base = self.base + (u32::from(mark.0) << PAGE_LOG2);
        Some(Piece { base, bytes: PAGE << (link >> 12), next: Mark(link & NOWHERE) })
    }

    /// Gives a piece back, clean.
    pub fn give(&mut self, mark: Mark) {
        if let Some(piece) = self.at(mark)
            && let Some(extent) = Extent::new(piece.base - self.origin, piece.bytes, PAGE_LOG2)
        {
            // Cannot fail: the piece is taken.
            let _ = self.free.release(extent);
        }
    }

    /// Gives a whole chain back.
    pub fn give_all(&mut self, first: Mark) {
        let mut mark = first;
        while let Some(piece) = self.at(mark) {
            self.give(mark);
            mark = piece.next;
        }
    }

    fn block(&mut self, bytes: u32) -> Result<Extent, ExtentError> {
        self.free.reserve_aligned(bytes, bytes)
    }

    fn link(&mut self, extent: Extent) -> Mark {
        let page = ((self.origin + extent.base() - self.base) >> PAGE_LOG2) as u16;
        let order = (extent.bytes() >> PAGE_LOG2).trailing_zeros() as u16;
        self.links[usize::from(page)] = order << 12 | NOWHERE;
        Mark(page)
    }
}
