//! An address space of 2^k pages: regions, and the tables that RTMMU reads.
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
//! 4. Two free regions are never neighbours, and only a region with nothing mapped is split. The paper does not say the latter; without it
//!    a page behind the split outlives its region, and the stacks of both parts collide.

use crate::frames::{Frame, Frames, Owner};
use crate::tree::{self, Tree};
use crate::words::Words;

/// Most pages of a space, as a logarithm: the upper half of 32-bit addresses.
pub const MAX_PAGES_LOG2: u8 = 19;
/// Bit of a header's word: the region is allocated. RTMMU ignores it.
const ALLOCATED: u32 = 1 << 31;
const RIGHTS_SHIFT: u32 = 28;
const RIGHTS_MASK: u32 = 7 << RIGHTS_SHIFT;
const SP_MASK: u32 = (1 << 20) - 1;
/// RTMMU reads so many bits of a word of `c`, `h`, `s` and `d`.
const INDEX_MASK: u32 = (1 << 19) - 1;

/// A page: a virtual address less 2^31, divided by 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page(pub u32);

/// The accesses that a region admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Loads.
    pub const R: Self = Self(1);
    /// Loads and stores.
    pub const RW: Self = Self(3);
    /// Loads and fetches.
    pub const RX: Self = Self(5);

    /// Whether an access is among them.
    pub const fn admit(self, access: Access) -> bool {
        self.0 >> access as u8 & 1 == 1
    }
}

/// A use of a page by an instruction. Values are the bits of [`Rights`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads data.
    Load = 0,
    /// It writes data.
    Store = 1,
    /// It is read itself.
    Fetch = 2,
}

/// Why an operation was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The space has no such page, or the range is empty.
    Range,
    /// The range is not within one free region.
    Occupied,
    /// The page does not begin an allocated region.
    NoRegion,
    /// The page belongs to no allocated region.
    Free,
    /// The page is mapped already.
    Mapped,
    /// Something is mapped in the region, so that it cannot be split.
    InUse,
    /// No frame is left.
    NoFrame,
}

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first page.
    pub first: Page,
    /// The page behind its last one.
    pub end: Page,
    /// Its rights; `None` when it is free.
    pub rights: Option<Rights>,
    /// How many of its pages are mapped.
    pub mapped: u32,
}

/// A page that was mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its frame.
    pub frame: Frame,
    /// Whether the frame holds what is not the owner's, and has to be cleared before the domain goes on.
    pub clear: bool,
}

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

/// An address space. Bounds count accesses to the tables and, as `T`, to the tree: an update is `L` reads and `L` writes at most, a search
/// `2 L - 1` reads, with `L` = [`tree::levels`].
#[derive(Clone, Debug)]
pub struct Space<W, T> {
    tables: Tables<W>,
    tree: Tree<T>,
    pages_log2: u8,
}

impl<W: Words, T: Words> Space<W, T> {
    /// A space of 2^`pages_log2` pages, all of them free. The tables have 2^`pages_log2` words each, `tree` has [`tree::words_for`].
    ///
    /// # Panics
    /// When `pages_log2` is above [`MAX_PAGES_LOG2`], or memory has too few words.
    ///
    /// # Time complexity
    /// Writes `sp` and the tree: linear in the space, once in its life. No other table is initialised.
    pub fn new(mut tables: Tables<W>, tree: T, pages_log2: u8) -> Self {
        assert!(pages_log2 <= MAX_PAGES_LOG2);
        for page in 0..1 << pages_log2 {
            tables.sp.set(page, 0);
        }
        let mut tree = Tree::new(tree, pages_log2);
        tree.insert(0);
        Self { tables, tree, pages_log2 }
    }

    /// Number of pages.
    pub const fn pages(&self) -> u32 {
        1 << self.pages_log2
    }

    /// The region of a page.
    ///
    /// # Errors
    /// [`Error::Range`].
    ///
    /// # Time complexity
    /// Two searches and one read.
    pub fn region(&self, page: Page) -> Result<Region, Error> {
        let first = self.header_of(page)?;
        let header = self.header(first);
        let end = Page(self.tree.after(page.0).unwrap_or(self.pages()));
        Ok(Region { first, end, rights: header.rights(), mapped: header.mapped(first) })
    }

    /// `mapVRH`: makes the `pages` pages from `first` on a region. Nothing of it is mapped.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::Occupied`].
    ///
    /// # Time complexity
    /// Two searches, two updates of the tree, one read and one write.
    pub fn map_vrh(&mut self, first: Page, pages: u32, rights: Rights) -> Result<(), Error> {
        let end = first.0.checked_add(pages).filter(|end| pages > 0 && *end <= self.pages()).ok_or(Error::Range)?;
        let free = self.region(first)?;
        if free.rights.is_some() || free.end.0 < end {
            return Err(Error::Occupied);
        }
        if free.first != first {
            self.tree.insert(first.0);
        }
        // The rest behind it is free: its word of `sp` says so already.
        if free.end.0 != end {
            self.tree.insert(end);
        }
        self.set_header(first, Header::empty(first, Some(rights)));
        Ok(())
    }

    /// Splits the region of `page` before that page. Both parts have its rights.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::Free`], [`Error::InUse`]. A page that begins a region already is no error.
    ///
    /// # Time complexity
    /// A search, an update of the tree, one read and one write.
    pub fn split(&mut self, page: Page) -> Result<(), Error> {
        let first = self.header_of(page)?;
        let header = self.header(first);
        let rights = header.rights().ok_or(Error::Free)?;
        if first == page {
            return Ok(());
        }
        if header.mapped(first) > 0 {
            return Err(Error::InUse);
        }
        self.tree.insert(page.0);
        self.set_header(page, Header::empty(page, Some(rights)));
        Ok(())
    }

    /// `unmapRegion`: frees a region; all its frames go back to the pool. Returns how many.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two searches, two updates of the tree, 8 reads and 2 writes, whatever the region's size and however much of it is mapped.
    pub fn unmap_region<F: Words>(&mut self, first: Page, frames: &mut Frames<F>) -> Result<u32, Error> {
        let header = self.free_region(first)?;
        let mapped = header.mapped(first);
        if mapped > 0 {
            frames.splice(self.frame_at(header.limit() - 1), self.frame_at(first.0), mapped);
        }
        self.join_free_neighbours(first);
        Ok(mapped)
    }

    /// Whether an access is the first touch of a page that it may use: the page's region admits it, and nothing is mapped there.
    ///
    /// # Time complexity
    /// A search and 5 reads.
    pub fn is_first_touch(&self, page: Page, access: Access) -> bool {
        let Ok(first) = self.header_of(page) else { return false };
        self.header(first).rights().is_some_and(|rights| rights.admit(access)) && self.lookup(page).is_none()
    }

    /// `mapPage`: gives a page at its first touch a frame of the pool.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::Free`], [`Error::Mapped`], [`Error::NoFrame`].
    ///
    /// # Time complexity
    /// A search, 8 reads and 6 writes.
    pub fn map_page<F: Words>(&mut self, page: Page, owner: Owner, frames: &mut Frames<F>) -> Result<Mapped, Error> {
        let first = self.header_of(page)?;
        let header = self.header(first);
        if header.rights().is_none() {
            return Err(Error::Free);
        }
        if self.lookup(page).is_some() {
            return Err(Error::Mapped);
        }
        let taken = frames.take(owner).ok_or(Error::NoFrame)?;
        let place = header.limit();
        let before = (place > first.0).then(|| self.frame_at(place - 1));
        frames.chain(taken.frame, before, owner);
        self.push(first, header, page, taken.frame);
        Ok(Mapped { frame: taken.frame, clear: taken.clear })
    }

    /// Maps a page to a frame of the caller's, which is of no pool: memory whose place was decided before. A region holds frames of a pool or
    /// such frames, never both; [`Space::forget_region`] frees one with such frames.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::Free`], [`Error::Mapped`].
    ///
    /// # Time complexity
    /// A search, 5 reads and 5 writes.
    pub fn map_to(&mut self, page: Page, frame: Frame) -> Result<(), Error> {
        let first = self.header_of(page)?;
        let header = self.header(first);
        if header.rights().is_none() {
            return Err(Error::Free);
        }
        if self.lookup(page).is_some() {
            return Err(Error::Mapped);
        }
        self.push(first, header, page, frame);
        Ok(())
    }

    /// `unmapRegion` for a region whose frames are of no pool: whoever mapped them knows them. Returns how many pages were mapped.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two searches, two updates of the tree, 3 reads and 1 write, whatever the region's size and however much of it is mapped.
    pub fn forget_region(&mut self, first: Page) -> Result<u32, Error> {
        let mapped = self.free_region(first)?.mapped(first);
        self.join_free_neighbours(first);
        Ok(mapped)
    }

    /// Puts a page on its region's stack.
    fn push(&mut self, first: Page, header: Header, page: Page, frame: Frame) {
        let (index, place) = (page.0 as usize, header.limit());
        self.tables.d.set(index, frame.0);
        self.tables.c.set(index, first.0);
        self.tables.h.set(index, place);
        self.tables.s.set(place as usize, page.0);
        // Last: from here on the page is mapped.
        self.set_header(first, Header(header.0 + 1));
    }

    /// Empties a region, which from then on is free, but not yet joined with free neighbours. Returns its header as it was.
    fn free_region(&mut self, first: Page) -> Result<Header, Error> {
        if first.0 >= self.pages() {
            return Err(Error::Range);
        }
        let header = self.header(first);
        if header.rights().is_none() {
            return Err(Error::NoRegion);
        }
        self.set_header(first, Header::empty(first, None));
        Ok(header)
    }

    /// Changes the rights of a region.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two reads and one write.
    pub fn protect(&mut self, first: Page, rights: Rights) -> Result<(), Error> {
        if first.0 >= self.pages() {
            return Err(Error::Range);
        }
        let header = self.header(first);
        if header.rights().is_none() {
            return Err(Error::NoRegion);
        }
        self.set_header(first, Header(header.0 & !RIGHTS_MASK | u32::from(rights.0) << RIGHTS_SHIFT));
        Ok(())
    }

    /// The answer of RTMMU to an access: the frame, or nothing for a fault.
    ///
    /// # Time complexity
    /// Five reads.
    pub fn translate(&self, page: Page, access: Access) -> Option<Frame> {
        if page.0 >= self.pages() {
            return None;
        }
        let (frame, header) = self.lookup(page)?;
        Rights((header.0 >> RIGHTS_SHIFT & 7) as u8).admit(access).then_some(frame)
    }

    /// The frame of a page that is mapped, and its region's header.
    fn lookup(&self, page: Page) -> Option<(Frame, Header)> {
        let index = page.0 as usize;
        let (c, h) = (self.tables.c.get(index) & INDEX_MASK, self.tables.h.get(index) & INDEX_MASK);
        if c > page.0 || c > h {
            return None;
        }
        let header = self.header(Page(c));
        let mapped = h < header.limit() && self.tables.s.get(h as usize) & INDEX_MASK == page.0;
        mapped.then(|| (Frame(self.tables.d.get(index) & INDEX_MASK), header))
    }

    /// Joins the region that has just become free with free neighbours, so that no two of them are left side by side.
    fn join_free_neighbours(&mut self, first: Page) {
        if let Some(next) = self.tree.after(first.0)
            && self.header(Page(next)).rights().is_none()
        {
            self.tree.remove(next);
        }
        if first.0 == 0 {
            return;
        }
        let before = self.tree.at_or_before(first.0 - 1);
        if before.is_some_and(|before| self.header(Page(before)).rights().is_none()) {
            self.tree.remove(first.0);
        }
    }

    fn header_of(&self, page: Page) -> Result<Page, Error> {
        if page.0 >= self.pages() {
            return Err(Error::Range);
        }
        // Page 0 is always a header.
        Ok(Page(self.tree.at_or_before(page.0).unwrap_or(0)))
    }

    fn header(&self, first: Page) -> Header {
        Header(self.tables.sp.get(first.0 as usize))
    }

    fn set_header(&mut self, first: Page, header: Header) {
        self.tables.sp.set(first.0 as usize, header.0);
    }

    /// The frame of the page at a place of a stack.
    fn frame_at(&self, place: u32) -> Frame {
        let page = self.tables.s.get(place as usize) & INDEX_MASK;
        Frame(self.tables.d.get(page as usize) & INDEX_MASK)
    }
}

/// A word of `sp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header(u32);

impl Header {
    /// Of a region with nothing mapped.
    fn empty(first: Page, rights: Option<Rights>) -> Self {
        Self(first.0 | rights.map_or(0, |rights| ALLOCATED | u32::from(rights.0) << RIGHTS_SHIFT))
    }

    const fn rights(self) -> Option<Rights> {
        if self.0 & ALLOCATED == 0 { None } else { Some(Rights((self.0 >> RIGHTS_SHIFT & 7) as u8)) }
    }

    const fn limit(self) -> u32 {
        self.0 & SP_MASK
    }

    /// Pages of the region that begins at `first` that are mapped.
    const fn mapped(self, first: Page) -> u32 {
        self.limit().saturating_sub(first.0)
    }
}

/// Bytes of the five tables and the tree of a space of 2^`pages_log2` pages.
pub const fn bytes_for(pages_log2: u8) -> usize {
    4 * (5 * (1 << pages_log2) + tree::words_for(pages_log2))
}

#[cfg(test)]
mod tests;
