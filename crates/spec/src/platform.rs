//! What each level means on a platform. All of it is data, so that one table can be printed and tested.

use crate::temporal::{AccessLevel, MemoryClass, TemporalSpec};

/// How a bound was found. A bound has one method; figures found in different ways are never combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Method {
    /// It follows from the platform's description: no software takes part in the check.
    Derived = 1,
    /// The largest value observed on the platform's worst path, by a test that is run with every change.
    Observed = 2,
}

impl Method {
    /// The method with this number.
    pub const fn from_number(number: u32) -> Option<Method> {
        match number {
            1 => Some(Self::Derived),
            2 => Some(Self::Observed),
            _ => None,
        }
    }

    /// Its name in reports.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Derived => "derived from the platform description",
            Self::Observed => "observed maximum",
        }
    }
}

/// What a bound covers, for whoever prints one.
pub const SCOPE: &str = "the check whether the access is permitted; not the access itself";

/// The promise that comes with a grant: how long the *check* of one access takes at most, beyond the access itself. It says
/// nothing about the time that the memory takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The level at which the check ends at the latest.
    pub level: AccessLevel,
    /// Cycles of the processor that the check adds to one access at most.
    pub cycles: u32,
    /// How that was found.
    pub method: Method,
}

/// Why a platform refuses a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The platform has no third level that could hold the table.
    NoThirdLevel = 1,
    /// Releasing includes clearing the memory, whose time grows with its size.
    ReleaseScrubs = 2,
    /// The platform has no memory of this class.
    NoSuchMemory = 3,
    /// The platform keeps domains apart, but not all that the check of one depends on.
    PartlyIndependent = 4,
}

impl Reason {
    /// The reason as a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoThirdLevel => "there is no third level of on-chip storage in which the table could be kept",
            Self::ReleaseScrubs => "a release includes clearing the memory, whose time grows with its size",
            Self::NoSuchMemory => "there is no memory of this class",
            Self::PartlyIndependent => {
                "identifiers keep other domains' TLB entries from answering, not from taking the place of one's own"
            }
        }
    }
}

/// How a platform keeps a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A region register of its own, always loaded.
    PinnedRegion(Bound),
    /// A table whose nodes lie in memory of this class.
    Nodes(MemoryClass, Bound),
    /// Not at all.
    Refused(Reason),
}

/// A platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Region registers of a domain.
    pub registers: u8,
    /// Registers that must serve paged memory once data is paged: an access can straddle regions.
    pub slots_for_data: u8,
    /// Registers beyond these once code is paged: a fetch can straddle regions, too.
    pub slots_for_code: u8,
    /// Bytes of a node of a domain's table.
    pub node_bytes: u16,
    /// What each level means, by the level's number.
    pub levels: [Meaning; 5],
    /// Classes of memory in which data can be placed, a bit for each (bit 1 TCM, 2 on the chip, 3 off the chip).
    pub data_classes: u8,
}

/// Bytes of a PCTrie node (`protect::pctrie` asserts it).
pub const NODE_BYTES: u16 = 288;

impl Platform {
    /// The Cortex-M7 with its PMSAv7 unit. `l1_cycles` and `l2_cycles` are the largest observed times from a faulting access to the
    /// restarted one, with nodes in TCM and in on-chip SRAM.
    pub const fn cortex_m7(l1_cycles: u32, l2_cycles: u32) -> Platform {
        let l1 = Bound { level: AccessLevel::L1, cycles: l1_cycles, method: Method::Observed };
        let l2 = Bound { level: AccessLevel::L2, cycles: l2_cycles, method: Method::Observed };
        let pinned = Bound { level: AccessLevel::Deterministic, cycles: 0, method: Method::Derived };
        Platform {
            registers: 8,
            slots_for_data: 2,
            slots_for_code: 2,
            node_bytes: NODE_BYTES,
            levels: [
                Meaning::Nodes(MemoryClass::OnChip, l2),
                Meaning::Refused(Reason::NoThirdLevel),
                Meaning::Nodes(MemoryClass::OnChip, l2),
                Meaning::Nodes(MemoryClass::Tcm, l1),
                Meaning::PinnedRegion(pinned),
            ],
            data_classes: 0b1110,
        }
    }

    /// What the platform makes of a specification: everything that it asks for is kept, or the reason why not.
    ///
    /// `independent` holds for every domain here: each has a register image and a table of its own, and a switch loads the image
    /// whole, so that no domain's misses depend on another's.
    ///
    /// # Errors
    /// The [`Reason`].
    pub const fn meaning(&self, spec: TemporalSpec) -> Result<Meaning, Reason> {
        if spec.constant_time {
            return Err(Reason::ReleaseScrubs);
        }
        if let Some(class) = spec.data
            && self.data_classes & 1 << class as u8 == 0
        {
            return Err(Reason::NoSuchMemory);
        }
        match self.levels[spec.access as usize] {
            Meaning::Refused(reason) => Err(reason),
            meaning => Ok(meaning),
        }
    }

    /// Registers that must be left to paged memory: none if nothing is paged. Code holds constants, which are read as data.
    pub const fn paged_slots(&self, code_paged: bool, data_paged: bool) -> u8 {
        match (code_paged, data_paged) {
            (false, false) => 0,
            (false, true) => self.slots_for_data,
            (true, _) => self.slots_for_data + self.slots_for_code,
        }
    }
}
