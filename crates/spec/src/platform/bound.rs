//! Promises of a platform.

use super::place::TablePlace;
use crate::temporal::AccessLevel;

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

/// The scope of a bound, for code that prints one.
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
    /// The platform has no tightly coupled memory that could hold the table.
    NoFirstLevel = 5,
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
            Self::NoFirstLevel => "there is no tightly coupled memory in which the table could be kept",
        }
    }
}

/// How a platform keeps a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Slots of its own in the hardware that checks: region registers that are always loaded, or locked entries of the TLB.
    Pinned(Bound),
    /// Tables that lie in one of these places, the first that has room.
    Tables(&'static [TablePlace]),
}

/// The outcome of asking for `independent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Independence {
    /// The part that no other domain changes.
    pub kept: &'static str,
    /// The part that other domains change, if any.
    pub not_kept: Option<&'static str>,
}
