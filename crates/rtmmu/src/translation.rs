//! Tables that a processor translates with, as far as regions change them.

use crate::frames::{Frame, Frames};
use crate::page::{Page, Rights};
use crate::words::Words;

/// The tables of a space, and the words of its headers. Pages are below the space's.
///
/// Nothing is said of memory at first: whatever it holds, nothing is mapped after [`Translation::clear`].
pub trait Translation {
    /// A release visits so many pages in a step at most. `None`: none; its time does not depend on how many there are.
    const PAGES_AT_ONCE: Option<u32>;

    /// Begins with `pages` free pages. None of them is mapped.
    fn clear(&mut self, pages: u32);

    /// The word of a page that may be a header.
    fn header(&self, first: Page) -> Header;

    /// Sets that word.
    fn set_header(&mut self, first: Page, header: Header);

    /// Maps a page of a region. It must not be mapped yet. The header counts it.
    fn push(&mut self, first: Page, header: Header, page: Page, frame: Frame);

    /// The frame of a page that is mapped, and its rights.
    fn lookup(&self, page: Page) -> Option<(Frame, Rights)>;

    /// The frame that a region's list of frames begins with, if a release gives all of them back at once.
    fn newest(&self, first: Page, header: Header) -> Option<Frame>;

    /// Frees a region, or with [`Translation::PAGES_AT_ONCE`] its pages up to `end`: none of them is mapped any more, and frames of a pool are
    /// free again. Its header is that of a free region. How many pages were mapped.
    fn release<F: Words>(&mut self, first: Page, end: Page, header: Header, frames: Option<&mut Frames<F>>) -> u32;
}

/// Bit of a header's word: the region is allocated. Hardware ignores it.
const ALLOCATED: u32 = 1 << 31;
const RIGHTS_SHIFT: u32 = 28;
const RIGHTS_MASK: u32 = 7 << RIGHTS_SHIFT;
const LIMIT_MASK: u32 = (1 << 20) - 1;

/// The word of a header: whether its region is allocated, its rights, and its first page plus the pages of it that are mapped, which for RTMMU is the
/// exclusive limit of its stack (`sp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub(crate) u32);

impl Header {
    /// The header of a region with nothing mapped.
    pub(crate) fn empty(first: Page, rights: Option<Rights>) -> Self {
        Self(first.0 | rights.map_or(0, |rights| ALLOCATED | rights.bits() << RIGHTS_SHIFT))
    }

    /// The header of a region that begins with another page, with the same rights.
    pub(crate) fn moved(self, first: Page, mapped: u32) -> Self {
        Self(self.0 & !LIMIT_MASK | (first.0 + mapped))
    }

    /// With other rights.
    pub(crate) fn with_rights(self, rights: Rights) -> Self {
        Self(self.0 & !RIGHTS_MASK | rights.bits() << RIGHTS_SHIFT)
    }

    /// With one more page mapped.
    pub(crate) fn with_page(self) -> Self {
        Self(self.0 + 1)
    }

    /// The rights of its region; `None` when it is free.
    pub(crate) const fn rights(self) -> Option<Rights> {
        if self.0 & ALLOCATED == 0 { None } else { Some(self.admitted()) }
    }

    /// The rights that RTMMU reads.
    pub(crate) const fn admitted(self) -> Rights {
        Rights::from_bits(self.0 >> RIGHTS_SHIFT)
    }

    pub(crate) const fn limit(self) -> u32 {
        self.0 & LIMIT_MASK
    }

    /// Pages of the region that begins at `first` that are mapped.
    pub(crate) const fn mapped(self, first: Page) -> u32 {
        self.limit().saturating_sub(first.0)
    }
}
