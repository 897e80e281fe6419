//! Memory that several domains share.

use crate::{Area, Info};

/// A shared area as words that either side may change at any moment: every access is one volatile word.
#[derive(Clone, Copy)]
pub struct Shared {
    base: *mut u32,
    words: usize,
    writable: bool,
}

/// Looks a shared area up by name.
pub fn shared(info: Info, name: &str) -> Option<Shared> {
    info.area(name).map(Shared::new)
}

impl Shared {
    fn new(area: Area) -> Self {
        Shared { base: area.base as *mut u32, words: area.bytes as usize / 4, writable: area.access & 2 != 0 }
    }

    /// Memory that the memory manager granted, as shared words.
    ///
    /// # Safety
    /// This domain may read the `bytes` from `base` on (and write them, if `writable`) as long as the value is used; `base` is a
    /// multiple of 4.
    pub unsafe fn granted(base: u32, bytes: u32, writable: bool) -> Self {
        Shared { base: base as *mut u32, words: bytes as usize / 4, writable }
    }

    /// Number of words.
    pub fn words(self) -> usize {
        self.words
    }

    /// First address.
    pub fn base(self) -> *mut u32 {
        self.base
    }

    /// The word at `index`; 0 beyond the end.
    #[inline]
    pub fn read(self, index: usize) -> u32 {
        if index >= self.words {
            return 0;
        }
        // SAFETY: the kernel lets this domain read the area, whose bounds have been checked.
        unsafe { self.base.add(index).read_volatile() }
    }

    /// Stores a word at `index`; nothing happens beyond the end or when the area is read-only.
    #[inline]
    pub fn write(self, index: usize, value: u32) {
        if index < self.words && self.writable {
            // SAFETY: the kernel lets this domain write the area, whose bounds have been checked.
            unsafe { self.base.add(index).write_volatile(value) }
        }
    }
}
