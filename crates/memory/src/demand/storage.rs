//! The heap's memory. A page of it may not be in use.

use super::layout::PAGE;
use super::pages::Counts;
use crate::heap::{HEADER, Storage, Word};

/// Memory whose pages must not be accessed unless they are in use. The header of a new block waits until its page is.
#[derive(Debug)]
pub struct Deferred<S, C> {
    storage: S,
    pub(super) counts: C,
    base: u32,
    pages: u32,
    /// A header that is not in memory yet.
    waiting: Option<(u32, u32)>,
    /// The heap has its piece.
    is_open: bool,
}

impl<S: Storage, C: Counts> Deferred<S, C> {
    /// Memory whose piece of `pages` pages begins at `base`. All counts are 0.
    pub const fn new(storage: S, counts: C, base: u32, pages: u32) -> Self {
        Deferred { storage, counts, base, pages, waiting: None, is_open: false }
    }

    /// The memory itself.
    pub const fn inner(&self) -> &S {
        &self.storage
    }

    /// Address and bytes of the piece.
    pub(super) fn piece(&self) -> (u32, u32) {
        (self.base, self.pages * PAGE)
    }

    /// The page of an address, if it lies in the piece.
    pub(super) fn page(&self, at: u32) -> Option<u32> {
        let page = at.checked_sub(self.base)? / PAGE;
        (page < self.pages).then_some(page)
    }

    /// Returns true if the page of a block's header is in use by a block that begins or ends there.
    fn is_used(&self, block: u32) -> bool {
        let page = block.checked_sub(HEADER).and_then(|header| self.page(header));
        page.is_some_and(|page| self.counts.get(page) > 0)
    }

    /// From now on headers are in memory.
    pub(super) fn open(&mut self) {
        self.is_open = true;
    }

    /// Puts the header that waits into its page, which is in use now.
    pub(super) fn flush(&mut self) {
        if let Some((block, value)) = self.waiting.take() {
            self.storage.set_header(block, value);
        }
    }

    /// Forgets the header that waits.
    pub(super) fn forget(&mut self) {
        self.waiting = None;
    }
}

impl<S: Storage, C: Counts> Storage for Deferred<S, C> {
    type Place = S::Place;

    /// Records lie beside the piece.
    #[inline(always)]
    fn place(&self, at: u32) -> Option<S::Place> {
        if self.page(at).is_some() { None } else { self.storage.place(at) }
    }

    #[inline(always)]
    fn address(place: S::Place) -> u32 {
        S::address(place)
    }

    #[inline(always)]
    fn load(&self, place: S::Place, word: Word) -> u32 {
        self.storage.load(place, word)
    }

    #[inline(always)]
    fn store(&mut self, place: S::Place, word: Word, value: u32) {
        self.storage.store(place, word, value);
    }

    fn header(&self, block: u32) -> Option<u32> {
        match self.waiting {
            // A heap that is not open says only if there can be a header.
            _ if !self.is_open => self.page(block.checked_sub(HEADER)?).map(|_| 0),
            Some((waits, value)) if waits == block => Some(value),
            _ if self.is_used(block) => self.storage.header(block),
            _ => None,
        }
    }

    fn set_header(&mut self, block: u32, value: u32) {
        if self.is_used(block) && !matches!(self.waiting, Some((waits, _)) if waits == block) {
            self.storage.set_header(block, value);
        } else {
            self.waiting = Some((block, value));
        }
    }

    /// Copies nothing: the caller that moves a block copies it outside of the heap, so that no
    /// other thread waits for the copy.
    fn copy(&mut self, _: u32, _: u32, _: u32) -> Option<()> {
        None
    }
}
