//! Chips that check accesses with page tables and a TLB, in hardware.
//!
//! Differences from region registers: there are no misses to pay for and no registers to keep free; what runs out is
//! shared by the whole chip (entries that can be locked, memory on the chip, ways of a cache); memory need not be in one piece;
//! and the TLB is shared between domains, so that independence is kept in part only.

use super::bound::{Bound, Independence, Meaning, Method, Reason};
use super::place::TablePlace;
use super::scheme::{Phrase, Scheme, Wording};
use crate::temporal::AccessLevel;

/// Cycles that the check adds to an access at most. Each follows from the description of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A miss in the micro-TLB and a hit in the main TLB.
    pub main_tlb: u32,
    /// A miss in both, and a walk of two descriptors in on-chip memory.
    pub walk_on_chip: u32,
    /// The same in locked ways of the second-level cache.
    pub walk_locked_ways: u32,
}

/// `base + each * n` cycles for `n` descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Whatever the size.
    pub base: u32,
    /// For each descriptor.
    pub each: u32,
}

impl Linear {
    /// The cycles for so many descriptors; `u32::MAX` stands for more than that.
    pub const fn of(self, descriptors: u32) -> u32 {
        self.base.saturating_add(self.each.saturating_mul(descriptors))
    }
}

/// Most work to map and to release, clearing apart, in all steps together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// How all four figures were found.
    pub method: Method,
    /// Mapping.
    pub map: Linear,
    /// Taking the mapping away.
    pub release: Linear,
}

/// Work of mapping one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Descriptors at most, however the memory is scattered.
    pub descriptors: u32,
    /// Cycles to map it, at most.
    pub map_cycles: u32,
    /// Cycles to take it away, clearing apart, at most.
    pub release_cycles: u32,
    /// How the cycles were found.
    pub method: Method,
}

/// Sizes in which chips with page tables differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Entries of the main TLB that can be locked.
    pub lock_slots: u8,
    /// Ways of the second-level cache.
    pub ways: u8,
    /// Bytes in a way, not 0.
    pub way_bytes: u32,
    /// First address at which domains can have memory mapped while they run.
    pub window_base: u32,
}

/// A chip with page tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Costs of checks.
    pub costs: Costs,
    /// Costs of changing tables.
    pub work: Work,
    /// Entries of the main TLB that can be locked, on the whole chip.
    pub lock_slots: u8,
    /// Ways of the second-level cache.
    pub ways: u8,
    /// Bytes in a way, not 0.
    pub way_bytes: u32,
    /// Bytes of a domain's first-level table, not 0.
    pub root_bytes: u32,
    /// Bytes of a second-level table, not 0.
    pub table_bytes: u32,
    /// Most descriptors of a mapping for which a constant time is promised.
    pub constant_descriptors: u32,
    /// First address at which domain 0 can have memory mapped while it runs; the window of domain `i` lies `i` windows behind it.
    pub window_base: u32,
    /// Base-two logarithm of the bytes of a window.
    pub window_log2: u8,
    /// Every check takes the same time: hardware reads tables of the domain's own on the chip at each access, and keeps nothing of them.
    pub uniform: bool,
}

/// Bytes of the smallest page: what memory is granted in.
pub const PAGE_BYTES: u32 = 4096;
/// Bytes that one entry can translate, smallest first.
pub const UNITS: [u32; 3] = [PAGE_BYTES, 64 << 10, 1 << 20];

const ON_CHIP: &[TablePlace] = &[TablePlace::OnChip];
const OFF_CHIP: &[TablePlace] = &[TablePlace::OffChip];
const ON_CHIP_FIRST: &[TablePlace] = &[TablePlace::OnChip, TablePlace::LockedWays];

impl Pages {
    /// Each mapping has tables of its own, and memory comes in pieces; domains share the TLB.
    pub const SCHEME: Scheme = Scheme {
        scatters: true,
        shares_checks: true,
        tables_by_mapping: true,
        table_places: &[TablePlace::OnChip, TablePlace::LockedWays, TablePlace::OffChip],
    };

    /// The same where every check takes the same time: there is one place for tables, which no domain shares.
    pub const UNIFORM: Scheme =
        Scheme { scatters: true, shares_checks: false, tables_by_mapping: false, table_places: &[TablePlace::OnChip] };

    /// The words for that.
    pub const UNIFORM_WORDING: Wording = Wording {
        pinned: Phrase { text: "slot of its own (the hardware has none)", short: "own slot" },
        paged: [
            Phrase::NONE,
            Phrase { text: "tables that are read at each access", short: "own tables" },
            Phrase::NONE,
            Phrase::NONE,
        ],
        slot: ["slot", "slots"],
        part: ["page", "pages"],
        tables: ["tables", ""],
    };

    /// All of it is independent there.
    pub const UNIFORM_INDEPENDENCE: Independence =
        Independence { kept: "its tables are its own, and nothing of them is kept elsewhere", not_kept: None };

    /// The words for it.
    pub const WORDING: Wording = Wording {
        pinned: Phrase { text: "locked entry of the TLB", short: "locked entry" },
        paged: [
            Phrase::NONE,
            Phrase { text: TablePlace::OnChip.text(), short: "on-chip RAM" },
            Phrase { text: TablePlace::LockedWays.text(), short: "locked ways" },
            Phrase { text: TablePlace::OffChip.text(), short: "off the chip" },
        ],
        slot: ["locked entry", "locked entries"],
        part: ["entry of the TLB", "entries of the TLB"],
        tables: ["first-level table", "second-level tables on the chip"],
    };

    /// Base-two logarithm of the bytes of a window.
    pub const WINDOW_LOG2: u8 = 25;

    /// Page tables with short descriptors. Domains have the lower 2 GiB (`TTBCR.N` = 1: first-level
    /// tables of 8 KiB). A constant time is promised for what the lock slots can hold at most as
    /// pages of 64 KiB. Windows are of 32 MiB.
    pub const fn new(costs: Costs, work: Work, sizes: Sizes) -> Pages {
        let Sizes { lock_slots, ways, way_bytes, window_base } = sizes;
        Pages {
            costs,
            work,
            lock_slots,
            ways,
            way_bytes,
            root_bytes: 8192,
            table_bytes: 1024,
            constant_descriptors: lock_slots as u32 * (UNITS[1] / UNITS[0]),
            window_base,
            window_log2: Pages::WINDOW_LOG2,
            uniform: false,
        }
    }

    /// Tables that are read at each access, in so many cycles: nothing can be locked, and nothing needs to be.
    pub const fn uniform(cycles: u32, work: Work, window_base: u32, window_log2: u8) -> Pages {
        let costs = Costs { main_tlb: cycles, walk_on_chip: cycles, walk_locked_ways: cycles };
        let sizes = Sizes { lock_slots: 0, ways: 0, way_bytes: PAGE_BYTES, window_base };
        Pages { window_log2, uniform: true, ..Pages::new(costs, work, sizes) }
    }

    /// Bytes of a table that memory may need which is mapped while a system runs: none where a domain's tables have their size from the start.
    pub const fn new_table_bytes(&self) -> u32 {
        if self.uniform { 0 } else { self.table_bytes }
    }

    /// Bytes of the entry that covers so many bytes best: of the smallest unit that holds them, or else of the largest one.
    pub const fn unit(bytes: u32) -> u32 {
        if bytes <= UNITS[0] {
            UNITS[0]
        } else if bytes <= UNITS[1] {
            UNITS[1]
        } else {
            UNITS[2]
        }
    }

    /// Bytes of the ways that can be locked: at least one stays unlocked.
    pub const fn lockable_bytes(&self) -> u32 {
        (self.ways as u32).saturating_sub(1).saturating_mul(self.way_bytes)
    }

    /// See [`super::Platform::growth`]: naturally aligned pages.
    pub(super) const fn growth(lacking: u32) -> Option<u32> {
        let bytes = if lacking < PAGE_BYTES { PAGE_BYTES } else { lacking };
        bytes.checked_next_power_of_two()
    }

    /// Work of a mapping of so many descriptors.
    pub const fn effort(&self, descriptors: u32) -> Effort {
        let Work { method, map, release } = self.work;
        Effort { descriptors, map_cycles: map.of(descriptors), release_cycles: release.of(descriptors), method }
    }

    /// How a level is kept: there is no third one. `l1` is kept as `deterministic`: first-level caches hold no part of a
    /// table for certain. Of what is locked, tables are read once, when it is locked: where they lie promises nothing.
    /// Every level is kept by the one check of hardware whose checks all take the same time.
    pub(super) const fn keeps(&self, level: AccessLevel) -> Result<Meaning, Reason> {
        Ok(match level {
            _ if self.uniform => Meaning::Tables(ON_CHIP),
            AccessLevel::Deterministic | AccessLevel::L1 => Meaning::Pinned(self.pinned()),
            AccessLevel::L2 => Meaning::Tables(ON_CHIP_FIRST),
            AccessLevel::L3 => return Err(Reason::NoThirdLevel),
            AccessLevel::BestEffort => Meaning::Tables(OFF_CHIP),
        })
    }

    /// The bound that locked entries promise.
    pub(super) const fn pinned(&self) -> Bound {
        Bound { level: AccessLevel::Deterministic, cycles: self.costs.main_tlb, method: Method::Derived }
    }

    /// The bound that tables in a place promise; off the chip, none.
    pub(super) const fn bound_of(&self, place: TablePlace) -> Option<Bound> {
        if self.uniform {
            return Some(Bound {
                level: AccessLevel::Deterministic,
                cycles: self.costs.walk_on_chip,
                method: Method::Derived,
            });
        }
        let cycles = match place {
            TablePlace::OnChip => self.costs.walk_on_chip,
            TablePlace::LockedWays => self.costs.walk_locked_ways,
            TablePlace::Tcm | TablePlace::OffChip => return None,
        };
        Some(Bound { level: place.level(), cycles, method: Method::Derived })
    }

    /// The part that is independent of other domains and the part that is not, for memory that is locked, or found through tables in a place. The bound
    /// holds whatever others do; within it they change the time of the check.
    pub const fn independence(locked: bool, place: TablePlace) -> Independence {
        let (kept, not_kept) = match (locked, place) {
            (true, _) => ("its entries stay in the main TLB", "the micro-TLB is emptied at each switch"),
            (false, TablePlace::Tcm | TablePlace::OnChip) => (
                "entries of other domains never answer for it, and no walk leaves the chip",
                "others displace its TLB entries",
            ),
            (false, TablePlace::LockedWays) => (
                "entries of other domains never answer for it, and its tables stay in the second-level cache",
                "others displace its TLB entries",
            ),
            (false, TablePlace::OffChip) => (
                "entries of other domains never answer for it",
                "others displace its TLB entries and the cache lines of its tables",
            ),
        };
        Independence { kept, not_kept: Some(not_kept) }
    }
}
