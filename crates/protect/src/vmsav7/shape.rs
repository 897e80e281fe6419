//! How many entries a mapping takes.

use super::{PAGE_BYTES, PAGE_LOG2};

/// Sizes of mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 4 KiB: one entry of the second level.
    Small,
    /// 64 KiB: sixteen entries of the second level.
    Large,
    /// 1 MiB: one entry of the first level.
    Section,
}

impl Unit {
    /// Every size, the smallest first.
    pub const ALL: [Unit; 3] = [Self::Small, Self::Large, Self::Section];

    /// The unit that has exactly so many bytes.
    pub fn of_bytes(bytes: u32) -> Option<Unit> {
        Self::ALL.into_iter().find(|unit| unit.bytes() == bytes)
    }

    /// Small pages in one.
    pub const fn pages(self) -> u32 {
        match self {
            Self::Small => 1,
            Self::Large => 16,
            Self::Section => 256,
        }
    }

    /// Bytes in one.
    pub const fn bytes(self) -> u32 {
        self.pages() << PAGE_LOG2
    }

    /// Descriptors that are written for one.
    pub const fn descriptors(self) -> u32 {
        match self {
            Self::Large => 16,
            Self::Small | Self::Section => 1,
        }
    }

    /// The largest unit that begins at this page and frame, numbered in small pages, with so many pages left.
    pub(super) const fn largest(page: u32, frame: u32, left: u32) -> Unit {
        let both = page | frame;
        if both.is_multiple_of(256) && left >= 256 {
            Self::Section
        } else if both.is_multiple_of(16) && left >= 16 {
            Self::Large
        } else {
            Self::Small
        }
    }
}

/// Entries that mapping a range takes: the largest units that fit exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Sections.
    pub sections: u32,
    /// Large pages.
    pub large: u32,
    /// Small pages.
    pub small: u32,
    /// Second-level tables, where none is there already.
    pub tables: u32,
}

impl Shape {
    /// The shape of `bytes` from virtual to physical memory; `None` unless all three are multiples of 4 KiB, there is something to
    /// map, and neither range passes the end of the address space.
    ///
    /// # Time complexity
    /// Constant where addresses agree modulo 1 MiB; otherwise one step for each MiB.
    pub const fn of(virt: u32, phys: u32, bytes: u32) -> Option<Shape> {
        if !(virt | phys | bytes).is_multiple_of(PAGE_BYTES) || bytes == 0 {
            return None;
        }
        let higher = if virt > phys { virt } else { phys };
        if higher as u64 + bytes as u64 > 1 << 32 {
            return None;
        }
        let (mut page, mut frame, mut left) = (virt >> PAGE_LOG2, phys >> PAGE_LOG2, bytes >> PAGE_LOG2);
        let mut shape = Shape { sections: 0, large: 0, small: 0, tables: 0 };
        while left > 0 {
            let taken = match Unit::largest(page, frame, left) {
                Unit::Section => {
                    shape.sections += left / 256;
                    left / 256 * 256
                }
                _ => {
                    shape.tables += 1;
                    let here = 256 - page % 256;
                    let here = if here < left { here } else { left };
                    let (large, small) = in_table(page, frame, here);
                    shape.large += large;
                    shape.small += small;
                    here
                }
            };
            (page, frame, left) = (page + taken, frame + taken, left - taken);
        }
        Some(shape)
    }

    /// Entries of a TLB that hold all of it, one for each page or section.
    pub const fn tlb_entries(self) -> u32 {
        self.sections + self.large + self.small
    }

    /// Descriptors that are written.
    pub const fn descriptors(self) -> u32 {
        self.sections + 16 * self.large + self.small
    }
}

/// Large and small pages within one table.
const fn in_table(page: u32, frame: u32, pages: u32) -> (u32, u32) {
    if page % 16 != frame % 16 {
        return (0, pages);
    }
    let before = (16 - page % 16) % 16;
    if pages < before {
        return (0, pages);
    }
    let large = (pages - before) / 16;
    (large, pages - 16 * large)
}
