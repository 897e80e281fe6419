//! Page tables (VMSAv7, short descriptors): this scheme's words in the block, and what the kernel makes of areas. The host asks here, too, so that
//! both agree.

use protect::vmsav7::{PAGE_BYTES, Split, TABLE_BYTES, Unit};

use crate::records::words;
use crate::{Area, Scheme, Section, area};

words! {
    /// Settings of caches and prefetcher, made at the start for good.
    Caches {
        /// Ways of the second-level cache that are locked, from way 0 on.
        ways,
        /// Memory off the chip that stays in them, for tables of domains: its first address, a multiple of 1 KiB.
        base,
        /// Its bytes, a multiple of 1 KiB, at most what the ways hold; 0: nothing, the ways are closed only.
        bytes,
        /// 1 when the processor's data prefetcher is switched on.
        prefetch,
    }
}

words! {
    /// A domain's tables: physical memory within ranges of kernel memory.
    Tables {
        /// Address of its first-level table, a multiple of 8192, not 0.
        root,
        /// For second-level tables that serve areas with [`area::NEAR`]; a multiple of 1024.
        near_base,
        /// Its bytes, as [`tables`] says.
        near_bytes,
        /// For all other areas.
        far_base,
        /// Its bytes.
        far_bytes,
    }
}

impl Tables {
    /// Address and bytes of each part, with its name.
    pub const fn parts(&self) -> [(u32, u32, &'static str); 3] {
        [
            (self.root, SPLIT.table_bytes(), "root"),
            (self.near_base, self.near_bytes, "near_base"),
            (self.far_base, self.far_bytes, "far_base"),
        ]
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct Vmsav7;

impl Section for Vmsav7 {
    const SCHEME: Scheme = Scheme::Vmsav7;
    type System = Caches;
    type Domain = Tables;
    type Area = ();
}

/// How much of the address space is the domains'.
pub const SPLIT: Split = Split::Half;
/// The first address that is not the domains'.
pub const END: u64 = SPLIT.end();
/// Entries of the TLB that can be locked, for all domains together.
pub const LOCK_SLOTS: usize = protect::vmsav7::LOCK_SLOTS;
/// Bytes of a page; areas are made of whole ones.
pub const PAGE: u32 = PAGE_BYTES;
/// Bytes of a second-level table, and its alignment.
pub const TABLE: u32 = TABLE_BYTES;

/// Ways of the second-level cache that can be locked, and their bytes.
pub const WAYS: u32 = protect::vmsav7::lockdown::WAYS;
/// As [`WAYS`].
pub const WAY_BYTES: u32 = protect::vmsav7::lockdown::WAY_BYTES;

const SECTION: u32 = Unit::Section.bytes();

/// Second-level tables that a domain's areas take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// For areas with [`area::NEAR`].
    pub near: u32,
    /// For the others.
    pub far: u32,
}

/// Returns true if this many bytes are one unit that a TLB holds.
pub fn is_unit(bytes: u32) -> bool {
    Unit::of_bytes(bytes).is_some()
}

/// Returns true if a second-level table translates part of the area in an aligned MiB, by number:
/// unless it is mapped as a section.
pub fn is_in_table(entry: &Area, mib: u32) -> bool {
    let (first, end) = (u64::from(entry.base), u64::from(entry.base) + u64::from(entry.bytes));
    let (from, to) = (u64::from(mib) * u64::from(SECTION), (u64::from(mib) + 1) * u64::from(SECTION));
    let whole = first <= from && to <= end && entry.base.wrapping_sub(entry.physical).is_multiple_of(SECTION);
    first < to && from < end && !whole
}

/// The aligned MiB that an area touches, by number.
pub fn touched(entry: &Area) -> core::ops::RangeInclusive<u32> {
    let last = entry.base.saturating_add(entry.bytes.saturating_sub(1));
    entry.base / SECTION..=last / SECTION
}

/// The second-level tables that areas of one domain take: one for each aligned MiB in which something is not a section.
///
/// # Time complexity
/// O(MiB * areas).
pub fn tables(areas: impl Iterator<Item = Area> + Clone) -> Need {
    let mut need = Need::default();
    for (index, entry) in areas.clone().enumerate() {
        for mib in touched(&entry).filter(|mib| is_in_table(&entry, *mib)) {
            if areas.clone().take(index).any(|other| is_in_table(&other, mib)) {
                continue;
            }
            if entry.flags & area::NEAR != 0 { need.near += 1 } else { need.far += 1 }
        }
    }
    need
}
