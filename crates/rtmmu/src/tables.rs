//! The tables that RTMMU reads.
//!
//! Region a is the pages from a up to the next header. Its part of each table is the same range of indices:
//!
//! ```text
//! index      a                 b                    sp            next header
//! s       [  x        ...      y        ...      ]  .  .  .  .  . |   the pages that are mapped, in the order of first touches
//! h                         [ its place in s ]                    |   of a page
//! c                         [        a       ]                    |   of a page
//! d                         [      frame     ]                    |   of a page
//! ```
//!
//! Page b is mapped to `d[b]` exactly when `c[b] <= b`, `c[b] <= h[b] < sp[c[b]]` and `s[h[b]] = b`. All else in `c`, `h`, `s` and `d` may
//! be anything, so that setting `sp[a] = a` unmaps a region of any size.
//!
//! Invariants (`rtl/formal` proves by induction that they suffice, and tests check them):
//! 1. `sp[i] <= i` unless i is the header of an allocated region; then `a <= sp[a] <=` the next header.
//! 2. A page b that is mapped has `c[b]` = its header, `c[b] <= h[b] < sp[c[b]]`, `s[h[b]] = b`.
//! 3. Each place i of a stack, `a <= i < sp[a]`, names a mapped page of region a, and that page's `h` is i.

use crate::frames::{Frame, Frames};
use crate::page::{Page, Rights};
use crate::space::{Error, Space};
use crate::translation::{Header, Translation};
use crate::words::Words;

/// RTMMU reads so many bits of a word of `c`, `h`, `s` and `d`.
const INDEX_MASK: u32 = (1 << 19) - 1;

/// The tables of one address space. Each has a word for each page.
#[derive(Clone, Debug)]
pub struct Tables<W> {
    /// The regions cache: the header of the region of a page, for pages that are mapped.
    pub c: W,
    /// Headers of regions: allocated, rights, and the exclusive limit of the region's stack.
    pub sp: W,
    /// The place of a page on its region's stack.
    pub h: W,
    /// Stacks of mapped pages.
    pub s: W,
    /// Frames.
    pub d: W,
}

impl<W: Words> Tables<W> {
    /// The frame of the page at a place of a stack.
    fn frame_at(&self, place: u32) -> Frame {
        let page = self.s.get(place as usize) & INDEX_MASK;
        Frame(self.d.get(page as usize) & INDEX_MASK)
    }
}

impl<W: Words> Translation for Tables<W> {
    const PAGES_AT_ONCE: Option<u32> = None;

    /// Writes `sp`. No other table is initialised.
    fn clear(&mut self, pages: u32) {
        for page in 0..pages as usize {
            self.sp.set(page, 0);
        }
    }

    fn header(&self, first: Page) -> Header {
        Header(self.sp.get(first.0 as usize))
    }

    fn set_header(&mut self, first: Page, header: Header) {
        self.sp.set(first.0 as usize, header.0);
    }

    fn push(&mut self, first: Page, header: Header, page: Page, frame: Frame) {
        let (index, place) = (page.0 as usize, header.limit());
        self.d.set(index, frame.0);
        self.c.set(index, first.0);
        self.h.set(index, place);
        self.s.set(place as usize, page.0);
        // Last: from here on the page is mapped.
        self.set_header(first, header.with_page());
    }

    /// As RTMMU does.
    fn lookup(&self, page: Page) -> Option<(Frame, Rights)> {
        let index = page.0 as usize;
        let (c, h) = (self.c.get(index) & INDEX_MASK, self.h.get(index) & INDEX_MASK);
        if c > page.0 || c > h {
            return None;
        }
        let header = self.header(Page(c));
        let mapped = h < header.limit() && self.s.get(h as usize) & INDEX_MASK == page.0;
        mapped.then(|| (Frame(self.d.get(index) & INDEX_MASK), header.admitted()))
    }

    fn newest(&self, first: Page, header: Header) -> Option<Frame> {
        let place = header.limit();
        (place > first.0).then(|| self.frame_at(place - 1))
    }

    /// One store, and one splice: 5 reads and 2 writes.
    fn release<F: Words>(&mut self, first: Page, _: Page, header: Header, frames: Option<&mut Frames<F>>) -> u32 {
        self.set_header(first, Header::empty(first, None));
        let mapped = header.mapped(first);
        if let Some(frames) = frames.filter(|_| mapped > 0) {
            frames.splice(self.frame_at(header.limit() - 1), self.frame_at(first.0), mapped);
        }
        mapped
    }
}

impl<W: Words, T: Words> Space<Tables<W>, T> {
    /// Changes the rights of a region: those of all its pages, in one store.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two reads and one write.
    pub fn protect(&mut self, first: Page, rights: Rights) -> Result<(), Error> {
        let header = self.allocated(first)?;
        self.tables.set_header(first, header.with_rights(rights));
        Ok(())
    }
}
