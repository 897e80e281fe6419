//! The tables of RTMMU, and of the MMUs that it is compared with (`rtmmu`): this scheme's words in the block. The host asks here, too, so that both agree.

use ::rtmmu::flat::Sv32;
use ::rtmmu::space::MAX_PAGES_LOG2;
use ::rtmmu::tree;

use crate::area::DEMAND;
use crate::records::words;
use crate::{Area, Scheme, Section};

words! {
    /// The hardware that the tables are for.
    Hardware {
        /// Base-two logarithm of the entries of each table, all domains together.
        entries_log2,
        /// The MMU, a number of [`Mmu`].
        mmu,
        /// Address of the table memory with `d`, or with the entries of other MMUs; a multiple of [`PAGE`].
        entries,
    }
}

words! {
    /// A domain's part of the tables.
    Space {
        /// Its first entry in each table, a multiple of its entries ([`Mmu::entries_log2`]).
        first,
        /// Base-two logarithm of its pages.
        pages_log2,
        /// Physical address of its virtual regions tree, in kernel memory; a multiple of 4.
        tree,
        /// Pages of its demand area, at least as many as frames of the area with the flag [`crate::area::DEMAND`]; 0: it has none. They begin with
        /// that area, and are mapped to its frames at their first touch, as far as they are part of a region.
        demand_pages,
        /// Physical address of a word for each of the frames, in kernel memory; a multiple of 4.
        links,
    }
}

/// An MMU of `rtl/mmu`, by its number in `rtl/pkg/cofferdam_pkg.sv` (`mmu_e`). A domain of 2^k pages has entries with numbers that follow one another:
///
/// | MMU | entries |
/// | --- | --- |
/// | `Rtmmu` | 2^k in each of the five tables |
/// | `Direct` | 2^k of pages, and 2^k words for headers of regions |
/// | `Sv32` | 2^k of pages, which are tables of the second level, 2^k words for headers, and the table of the first level |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mmu {
    /// Real-time MMU.
    Rtmmu = 1,
    /// One level, an entry for each page.
    Direct = 2,
    /// Two levels, as RISC-V has them.
    Sv32 = 3,
}

impl Mmu {
    /// The MMU with a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Rtmmu),
            2 => Some(Self::Direct),
            3 => Some(Self::Sv32),
            _ => None,
        }
    }

    /// The contents of the register BASE while the domain with these entries runs: the first of them, or with Sv32 the page of the table of the first level
    /// ([`Mmu::root`]).
    pub const fn base(self, entries: u32, own: &Space) -> u32 {
        match self {
            Self::Rtmmu | Self::Direct => own.first,
            Self::Sv32 => (entries + 4 * Self::root(own)) / PAGE,
        }
    }

    /// The first entry of a table of the first level.
    pub const fn root(own: &Space) -> u32 {
        own.first + (2 << own.pages_log2)
    }

    /// Fewest pages of a domain, as a logarithm: with Sv32 those of a table of the second level.
    pub const fn least_pages_log2(self) -> u32 {
        match self {
            Self::Rtmmu | Self::Direct => 0,
            Self::Sv32 => Sv32::ENTRIES.ilog2(),
        }
    }

    /// Base-two logarithm of the entries of a domain, from its pages.
    pub const fn entries_log2(self, pages_log2: u32) -> u32 {
        match self {
            Self::Rtmmu => pages_log2,
            Self::Direct => pages_log2 + 1,
            Self::Sv32 => pages_log2 + 2,
        }
    }
}

impl Space {
    /// The entry behind its last one.
    pub(crate) const fn end(&self, mmu: Mmu) -> u64 {
        self.first as u64 + (1 << mmu.entries_log2(self.pages_log2))
    }

    /// Bytes of addresses of a domain's area.
    pub const fn reach(&self, area: &Area) -> u64 {
        if area.flags & DEMAND == 0 { area.bytes as u64 } else { self.demand_pages as u64 * PAGE as u64 }
    }

    /// Bytes of the links of so many bytes of frames.
    pub const fn links_bytes(frames: u32) -> u32 {
        frames / PAGE * 4
    }

    /// Bytes of the tree.
    pub const fn tree_bytes(&self) -> u32 {
        4 * tree::words_for(self.pages_log2 as u8) as u32
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct Rtmmu;

impl Section for Rtmmu {
    const SCHEME: Scheme = Scheme::Rtmmu;
    type System = Hardware;
    type Domain = Space;
    type Area = ();
}

/// The first address that is translated, and all that domains have.
pub const BASE: u32 = 0x8000_0000;
/// Bytes of a page; areas are made of whole ones.
pub const PAGE: u32 = 4096;
/// Most pages of a domain, as a logarithm.
pub const MOST_PAGES_LOG2: u32 = MAX_PAGES_LOG2 as u32;

/// Base-two logarithm of the pages that a domain with these areas needs, from [`BASE`] on.
///
/// # Time complexity
/// O(areas).
pub fn pages_log2(areas: impl Iterator<Item = Area>) -> u32 {
    let ends = areas.map(|entry| (u64::from(entry.base) + u64::from(entry.bytes)).saturating_sub(u64::from(BASE)));
    let pages = ends.max().unwrap_or(0).div_ceil(u64::from(PAGE)).max(1);
    pages.next_power_of_two().ilog2()
}
