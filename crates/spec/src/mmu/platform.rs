//! What each level means.

use crate::platform::{Bound, Method, Reason};
use crate::temporal::{AccessLevel, TemporalSpec};

/// Where page tables lie, in the order of preference (`protect::vmsa::Placement`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TablePlace {
    /// Memory on the chip.
    OnChip = 0,
    /// Memory off the chip that locked ways of the second-level cache hold.
    LockedWays = 1,
    /// Memory off the chip.
    OffChip = 2,
}

impl TablePlace {
    /// All of them.
    pub const ALL: [TablePlace; 3] = [Self::OnChip, Self::LockedWays, Self::OffChip];

    /// What a walk through tables there keeps.
    pub const fn level(self) -> AccessLevel {
        match self {
            Self::OnChip | Self::LockedWays => AccessLevel::L2,
            Self::OffChip => AccessLevel::BestEffort,
        }
    }

    /// For reports.
    pub const fn text(self) -> &'static str {
        match self {
            Self::OnChip => "page tables in on-chip memory",
            Self::LockedWays => "page tables in locked ways of the second-level cache",
            Self::OffChip => "page tables off the chip",
        }
    }
}

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

/// How a level is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A locked entry of the main TLB for each page or section.
    LockedEntries(Bound),
    /// Page tables in one of these places, the first one that has room for all of them.
    Tables(&'static [TablePlace]),
}

/// What `independent allow-partial` gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Independence {
    /// What no other domain changes.
    pub kept: &'static str,
    /// What other domains change.
    pub not_kept: &'static str,
}

/// A platform with an MMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// What checks cost.
    pub costs: Costs,
    /// Entries of the main TLB that can be locked, on the whole chip.
    pub lock_slots: u8,
    /// Ways of the second-level cache.
    pub ways: u8,
    /// Bytes in a way.
    pub way_bytes: u32,
    /// Bytes of a domain's first-level table.
    pub root_bytes: u32,
    /// Bytes of a second-level table.
    pub table_bytes: u32,
    /// Most descriptors of a mapping for which a constant time is promised.
    pub constant_descriptors: u32,
    /// Classes of memory in which data can be placed, a bit for each (bit 1 TCM, 2 on the chip, 3 off the chip).
    pub data_classes: u8,
}

const ON_CHIP_FIRST: &[TablePlace] = &[TablePlace::OnChip, TablePlace::LockedWays];
const OFF_CHIP: &[TablePlace] = &[TablePlace::OffChip];

impl Platform {
    /// The Cortex-A9 of an XC7Z020 (MxU 4.2, table 3): four lock slots, 512 KiB of second-level cache in eight ways, first-level tables of
    /// 8 KiB (`TTBCR.N` = 1: domains have the lower 2 GiB). A constant time is promised for what lock slots can hold at most: four pages of 64 KiB, or sections.
    pub const fn cortex_a9(costs: Costs) -> Platform {
        Platform {
            costs,
            lock_slots: 4,
            ways: 8,
            way_bytes: 64 << 10,
            root_bytes: 8192,
            table_bytes: 1024,
            constant_descriptors: 64,
            data_classes: 0b1100,
        }
    }

    /// What the platform makes of a specification: everything that it asks for is kept, or the reason why not. A constant time depends on
    /// how much is mapped, too: [`Rule::ConstantTime`](crate::Rule::ConstantTime).
    ///
    /// `l1` is kept as `deterministic`: first-level caches hold no part of a table for certain.
    ///
    /// # Errors
    /// The [`Reason`].
    pub const fn meaning(&self, spec: TemporalSpec) -> Result<Meaning, Reason> {
        if spec.independent && !spec.allow_partial {
            return Err(Reason::PartlyIndependent);
        }
        if let Some(class) = spec.data
            && self.data_classes & 1 << class as u8 == 0
        {
            return Err(Reason::NoSuchMemory);
        }
        match spec.access {
            AccessLevel::Deterministic | AccessLevel::L1 => Ok(Meaning::LockedEntries(self.locked())),
            AccessLevel::L2 => Ok(Meaning::Tables(ON_CHIP_FIRST)),
            AccessLevel::L3 => Err(Reason::NoThirdLevel),
            AccessLevel::BestEffort => Ok(Meaning::Tables(OFF_CHIP)),
        }
    }

    const fn locked(&self) -> Bound {
        Bound { level: AccessLevel::Deterministic, cycles: self.costs.main_tlb, method: Method::Derived }
    }

    /// What tables in a place promise; off the chip, nothing.
    pub const fn bound_of(&self, place: TablePlace) -> Option<Bound> {
        let cycles = match place {
            TablePlace::OnChip => self.costs.walk_on_chip,
            TablePlace::LockedWays => self.costs.walk_locked_ways,
            TablePlace::OffChip => return None,
        };
        Some(Bound { level: AccessLevel::L2, cycles, method: Method::Derived })
    }

    /// What is independent of other domains and what is not, for memory that is locked, or found through tables in a place. The bound
    /// holds whatever others do; within it they change the time of the check.
    pub const fn independence(&self, locked: bool, place: TablePlace) -> Independence {
        if locked {
            return Independence {
                kept: "its entries stay in the main TLB",
                not_kept: "the micro-TLB is emptied at each switch",
            };
        }
        match place {
            TablePlace::OnChip => Independence {
                kept: "entries of other domains never answer for it, and no walk leaves the chip",
                not_kept: "others displace its TLB entries",
            },
            TablePlace::LockedWays => Independence {
                kept: "entries of other domains never answer for it, and its tables stay in the second-level cache",
                not_kept: "others displace its TLB entries",
            },
            TablePlace::OffChip => Independence {
                kept: "entries of other domains never answer for it",
                not_kept: "others displace its TLB entries and the cache lines of its tables",
            },
        }
    }

    /// Ways that hold so many bytes of tables.
    pub const fn ways_for(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.way_bytes)
    }
}
