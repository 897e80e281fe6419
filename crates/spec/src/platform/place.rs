//! Location of the tables that a check may have to read.

use crate::temporal::{AccessLevel, MemoryClass};

/// How many places there are.
pub const PLACES: usize = 4;

/// Location of tables, nearest first (`protect::vmsav7::Placement` for page tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TablePlace {
    /// Tightly coupled memory.
    Tcm = 0,
    /// Memory on the chip.
    OnChip = 1,
    /// Memory off the chip whose lines are in locked ways of the second-level cache.
    LockedWays = 2,
    /// Memory off the chip.
    OffChip = 3,
}

impl TablePlace {
    /// All of them, nearest first.
    pub const ALL: [TablePlace; PLACES] = [Self::Tcm, Self::OnChip, Self::LockedWays, Self::OffChip];

    /// The place with this number.
    pub const fn from_number(number: u32) -> Option<TablePlace> {
        if number < PLACES as u32 { Some(Self::ALL[number as usize]) } else { None }
    }

    /// Place of tables in memory of a class, unless ways are locked for it.
    pub const fn of(class: MemoryClass) -> TablePlace {
        match class {
            MemoryClass::Tcm => Self::Tcm,
            MemoryClass::OnChip => Self::OnChip,
            MemoryClass::OffChip => Self::OffChip,
        }
    }

    /// The level that a check keeps which reads tables there.
    pub const fn level(self) -> AccessLevel {
        match self {
            Self::Tcm => AccessLevel::L1,
            Self::OnChip | Self::LockedWays => AccessLevel::L2,
            Self::OffChip => AccessLevel::BestEffort,
        }
    }

    /// Its name in reports and layouts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcm => "tcm",
            Self::OnChip => "on-chip",
            Self::LockedWays => "locked-ways",
            Self::OffChip => "off-chip",
        }
    }

    /// The tables there, as a phrase.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Tcm => "tables in tightly coupled memory",
            Self::OnChip => "tables in on-chip memory",
            Self::LockedWays => "tables in locked ways of the second-level cache",
            Self::OffChip => "tables off the chip",
        }
    }
}
