//! An address space of 2^k pages: regions, and the tables that RTMMU reads.
//!
//! Region a is the pages from a up to the next header. A [`Tree`] holds the headers, and [`Translation`] what the processor reads: the tables of RTMMU
//! ([`crate::tables`]), or those that it is compared with ([`crate::flat`]).
//!
//! Two free regions are never neighbours, and only a region with nothing mapped is split. The paper does not say the latter; without it a page behind the
//! split outlives its region, and the stacks of both parts collide.

use crate::frames::{Frame, Frames, Owner};
use crate::page::{Access, Page, Rights};
use crate::translation::{Header, Translation};
use crate::tree::{self, Tree};
use crate::words::Words;

/// Most pages of a space, as a logarithm: the upper half of 32-bit addresses.
pub const MAX_PAGES_LOG2: u8 = 19;

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
    /// True if the frame holds what is not the owner's, and has to be cleared before the domain
    /// goes on.
    pub clear: bool,
}

/// How much of a region was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// So many pages were mapped.
    pub pages: u32,
    /// The rest of the region begins here, and is a region as before: tables with an entry for each page are visited in steps.
    pub rest: Option<Page>,
}

/// An address space. Bounds count accesses to the tables of RTMMU and, as `T`, to the tree: an update is `L` reads and `L` writes at most, a search
/// `2 L - 1` reads, with `L` = [`tree::levels`].
#[derive(Clone, Debug)]
pub struct Space<M, T> {
    pub(crate) tables: M,
    tree: Tree<T>,
    pages_log2: u8,
}

impl<M: Translation, T: Words> Space<M, T> {
    /// A space of 2^`pages_log2` pages, all of them free. The tables are for as many, `tree` has [`tree::words_for`].
    ///
    /// # Panics
    /// When `pages_log2` is above [`MAX_PAGES_LOG2`], or memory has too few words.
    ///
    /// # Time complexity
    /// Writes the tree, and what [`Translation::clear`] does: linear in the space, once in its life.
    pub fn new(mut tables: M, tree: T, pages_log2: u8) -> Self {
        assert!(pages_log2 <= MAX_PAGES_LOG2);
        tables.clear(1 << pages_log2);
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
        let header = self.tables.header(first);
        let end = self.end_of(page);
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
        self.tables.set_header(first, Header::empty(first, Some(rights)));
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
        let header = self.tables.header(first);
        let rights = header.rights().ok_or(Error::Free)?;
        if first == page {
            return Ok(());
        }
        if header.mapped(first) > 0 {
            return Err(Error::InUse);
        }
        self.tree.insert(page.0);
        self.tables.set_header(page, Header::empty(page, Some(rights)));
        Ok(())
    }

    /// `unmapRegion`: frees a region, or the beginning of it; the frames of what is freed go back to the pool.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two searches, two updates of the tree, 8 reads and 2 writes, whatever the region's size and however much of it is mapped. With an entry for
    /// each page: two searches and three updates, and those of [`Translation::PAGES_AT_ONCE`] pages.
    pub fn unmap_region<F: Words>(&mut self, first: Page, frames: &mut Frames<F>) -> Result<Freed, Error> {
        self.free(first, Some(frames))
    }

    /// Returns true if an access is the first touch of a page that it may use: the page's region
    /// admits it, and nothing is mapped there.
    ///
    /// # Time complexity
    /// A search and 6 reads: the header, and those of a translation.
    pub fn is_first_touch(&self, page: Page, access: Access) -> bool {
        let Ok(first) = self.header_of(page) else { return false };
        self.tables.header(first).rights().is_some_and(|rights| rights.admit(access))
            && self.tables.lookup(page).is_none()
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
        let header = self.tables.header(first);
        if header.rights().is_none() {
            return Err(Error::Free);
        }
        if self.tables.lookup(page).is_some() {
            return Err(Error::Mapped);
        }
        let taken = frames.take(owner).ok_or(Error::NoFrame)?;
        frames.chain(taken.frame, self.tables.newest(first, header), owner);
        self.tables.push(first, header, page, taken.frame);
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
        let header = self.tables.header(first);
        if header.rights().is_none() {
            return Err(Error::Free);
        }
        if self.tables.lookup(page).is_some() {
            return Err(Error::Mapped);
        }
        self.tables.push(first, header, page, frame);
        Ok(())
    }

    /// `unmapRegion` for a region whose frames are of no pool: whoever mapped them knows them.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::NoRegion`].
    ///
    /// # Time complexity
    /// Two searches, two updates of the tree, 3 reads and 1 write, whatever the region's size and however much of it is mapped. With an entry for
    /// each page as [`Space::unmap_region`].
    pub fn forget_region(&mut self, first: Page) -> Result<Freed, Error> {
        self.free(first, None::<&mut Frames<[u32; 0]>>)
    }

    fn free<F: Words>(&mut self, first: Page, frames: Option<&mut Frames<F>>) -> Result<Freed, Error> {
        let header = self.allocated(first)?;
        let piece = M::PAGES_AT_ONCE.map(|most| (self.end_of(first), most));
        let end = piece.map_or(first, |(end, most)| Page(end.0.min(first.0 + most)));
        let rest = piece.and_then(|(whole, _)| (end < whole).then_some(end));
        let pages = self.tables.release(first, end, header, frames);
        if let Some(rest) = rest {
            self.tree.insert(rest.0);
            self.tables.set_header(rest, header.moved(rest, header.mapped(first) - pages));
        }
        self.join_free_neighbours(first);
        Ok(Freed { pages, rest })
    }

    /// The header of an allocated region that begins with a page.
    pub(crate) fn allocated(&self, first: Page) -> Result<Header, Error> {
        if first.0 >= self.pages() {
            return Err(Error::Range);
        }
        let header = self.tables.header(first);
        header.rights().is_some().then_some(header).ok_or(Error::NoRegion)
    }

    /// The page behind the region of a page.
    fn end_of(&self, first: Page) -> Page {
        Page(self.tree.after(first.0).unwrap_or(self.pages()))
    }

    /// The answer of the processor to an access: the frame, or nothing for a fault.
    ///
    /// # Time complexity
    /// Five reads.
    pub fn translate(&self, page: Page, access: Access) -> Option<Frame> {
        if page.0 >= self.pages() {
            return None;
        }
        let (frame, rights) = self.tables.lookup(page)?;
        rights.admit(access).then_some(frame)
    }

    /// Joins the region that has just become free with free neighbours, so that no two of them are left side by side.
    fn join_free_neighbours(&mut self, first: Page) {
        if let Some(next) = self.tree.after(first.0)
            && self.tables.header(Page(next)).rights().is_none()
        {
            self.tree.remove(next);
        }
        if first.0 == 0 {
            return;
        }
        let before = self.tree.at_or_before(first.0 - 1);
        if before.is_some_and(|before| self.tables.header(Page(before)).rights().is_none()) {
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
}

/// Bytes of the five tables and the tree of a space of 2^`pages_log2` pages.
pub const fn bytes_for(pages_log2: u8) -> usize {
    4 * (5 * (1 << pages_log2) + tree::words_for(pages_log2))
}

#[cfg(test)]
mod tests;
