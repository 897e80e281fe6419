//! Page tables that RTMMU is compared with: an entry for each page, which says of that page alone whether it is mapped. A release visits each page of a region.
//!
//! Regions are those of every space. Their headers are words that hardware does not read.

use core::marker::PhantomData;

use crate::frames::{Frame, Frames};
use crate::page::{Access, Page, Rights};
use crate::translation::{Header, Translation};
use crate::words::Words;

/// Pages that a release visits at once.
pub const PAGES_AT_ONCE: u32 = 16;

/// How an entry says that a page is mapped. An entry of 0 says that it is not.
pub trait Entry {
    /// The entry of a page that is mapped.
    fn mapped(frame: Frame, rights: Rights) -> u32;

    /// The frame and the rights in an entry, if its page is mapped.
    fn read(entry: u32) -> Option<(Frame, Rights)>;
}

/// Bits of a frame's number.
const FRAME_MASK: u32 = (1 << 19) - 1;

/// Entries of one level, by page (`direct_entry_t` of `rtl/pkg/cofferdam_pkg.sv`): bit 31 valid, bits 30 to 28 rights, bits 18 to 0 the frame.
#[derive(Clone, Copy, Debug)]
pub struct Direct;

impl Entry for Direct {
    fn mapped(frame: Frame, rights: Rights) -> u32 {
        1 << 31 | rights.bits() << 28 | frame.0
    }

    fn read(entry: u32) -> Option<(Frame, Rights)> {
        (entry >> 31 == 1).then(|| (Frame(entry & FRAME_MASK), Rights::from_bits(entry >> 28)))
    }
}

/// Leaves of Sv32 (RISC-V Privileged Architecture 20211203, 4.3). The tables of the second level lie one behind the other, so that they are one table.
#[derive(Clone, Copy, Debug)]
pub struct Sv32;

impl Sv32 {
    /// Entries of a table.
    pub const ENTRIES: u32 = 1024;
    const V: u32 = 1;
    const RWX_SHIFT: u32 = 1;
    /// User mode, accessed, dirty.
    const UAD: u32 = 1 << 4 | 1 << 6 | 1 << 7;
    /// A bit for software: mapped without rights. An entry with V and without R, W and X would name a table.
    const WITHOUT: u32 = 1 << 8;
    const PPN_SHIFT: u32 = 10;

    /// The entry of the first level that names a table of the second, by the number of the page in which that lies.
    pub const fn table(page: u32) -> u32 {
        page << Self::PPN_SHIFT | Self::V
    }
}

impl Entry for Sv32 {
    /// R is bit 1, W is bit 2, X is bit 3, as in [`Rights`].
    fn mapped(frame: Frame, rights: Rights) -> u32 {
        let valid = if rights == Rights::NONE { Self::WITHOUT } else { Self::V };
        frame.0 << Self::PPN_SHIFT | Self::UAD | rights.bits() << Self::RWX_SHIFT | valid
    }

    fn read(entry: u32) -> Option<(Frame, Rights)> {
        let mapped = entry & (Self::V | Self::WITHOUT) != 0;
        mapped.then(|| (Frame(entry >> Self::PPN_SHIFT), Rights::from_bits(entry >> Self::RWX_SHIFT)))
    }
}

/// A table with an entry for each page, and a word for each page that may be a header.
#[derive(Clone, Debug)]
pub struct Flat<W, E> {
    /// Entries, which hardware reads.
    pub entries: W,
    /// Headers.
    pub headers: W,
    /// How entries are written.
    pub entry: PhantomData<E>,
}

impl<W: Words, E: Entry> Translation for Flat<W, E> {
    const PAGES_AT_ONCE: Option<u32> = Some(PAGES_AT_ONCE);

    /// Writes both.
    fn clear(&mut self, pages: u32) {
        for page in 0..pages as usize {
            self.entries.set(page, 0);
            self.headers.set(page, 0);
        }
    }

    fn header(&self, first: Page) -> Header {
        Header(self.headers.get(first.0 as usize))
    }

    fn set_header(&mut self, first: Page, header: Header) {
        self.headers.set(first.0 as usize, header.0);
    }

    fn push(&mut self, first: Page, header: Header, page: Page, frame: Frame) {
        self.set_header(first, header.with_page());
        self.entries.set(page.0 as usize, E::mapped(frame, header.admitted()));
    }

    fn lookup(&self, page: Page) -> Option<(Frame, Rights)> {
        E::read(self.entries.get(page.0 as usize))
    }

    /// Frames go back one by one.
    fn newest(&self, _: Page, _: Header) -> Option<Frame> {
        None
    }

    /// A read for each page, and for each that was mapped another read and two writes.
    fn release<F: Words>(&mut self, first: Page, end: Page, _: Header, mut frames: Option<&mut Frames<F>>) -> u32 {
        let mut mapped = 0;
        for page in first.0..end.0 {
            let Some((frame, _)) = self.lookup(Page(page)) else { continue };
            self.entries.set(page as usize, 0);
            if let Some(frames) = frames.as_deref_mut() {
                frames.splice(frame, frame, 1);
            }
            mapped += 1;
        }
        self.entries.forget();
        self.set_header(first, Header::empty(first, None));
        mapped
    }
}

// A right's bit is that of its access.
const _: () = assert!(Access::Load as u8 == 0 && Access::Store as u8 == 1 && Access::Fetch as u8 == 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_rights_is_mapped_and_names_no_table() {
        let entry = Sv32::mapped(Frame(5), Rights::NONE);
        assert_eq!(entry & Sv32::V, 0, "V alone is a pointer (4.3.2)");
        assert_eq!(Sv32::read(entry), Some((Frame(5), Rights::NONE)));
        assert_eq!(Direct::read(Direct::mapped(Frame(5), Rights::NONE)), Some((Frame(5), Rights::NONE)));
    }
}
