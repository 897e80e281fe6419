//! Why a request is refused, and what would be admitted instead.

use crate::platform::Reason;
use crate::temporal::TemporalSpec;

/// The rule that a request breaks. The unit of `asked` and `left` in its [`Refusal`] stands with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The ledger has an account for the domain. Domains.
    Domain,
    /// The request is for something. Bytes.
    Size,
    /// The platform can keep the specification. Packed specification; 0.
    Spec(Reason),
    /// Paged memory gets the level of its domain's table, which is chosen when the system is built. Numbers of levels.
    TableLevel,
    /// Pinned regions have region registers of their own. Registers.
    PinnedSlots,
    /// Paged memory keeps the registers that one instruction can need at once. Registers.
    PagedSlots,
    /// The domain's misses in a period are within its miss budget. Misses.
    Misses,
    /// The domain's table has memory for its nodes, of the class of its level. Bytes.
    TableMemory,
    /// There is clean memory in one piece. Bytes.
    Frames,
    /// There would be, were the memory clean that has been released. Bytes.
    FramesNotClean,
    /// Locked memory has an entry of the TLB for each page or section. Entries.
    LockSlots,
    /// A constant time is promised for a bounded number of descriptors. Descriptors.
    ConstantTime,
    /// There is clean memory, in any pages. Bytes.
    Pages,
    /// The domain has no more of a pool than its quota; without one, no more than the quotas of others leave. Bytes.
    Quota,
    /// The domain's window has addresses at which the memory can be mapped, with tables where they have to lie. 1; 0.
    Addresses,
}

impl Rule {
    /// Its number in messages.
    pub const fn number(self) -> u32 {
        match self {
            Self::Domain => 1,
            Self::Size => 2,
            Self::Spec(reason) => 16 + reason as u32,
            Self::TableLevel => 4,
            Self::PinnedSlots => 5,
            Self::PagedSlots => 6,
            Self::Misses => 7,
            Self::TableMemory => 8,
            Self::Frames => 9,
            Self::FramesNotClean => 10,
            Self::LockSlots => 11,
            Self::ConstantTime => 12,
            Self::Pages => 13,
            Self::Addresses => 14,
            Self::Quota => 15,
        }
    }

    /// The rule as a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Domain => "a request comes from a domain of the system",
            Self::Size => "a request is for at least one byte",
            Self::Spec(reason) => reason.text(),
            Self::TableLevel => {
                "paged memory is found through the domain's table, whose level is chosen when the system is built"
            }
            Self::PinnedSlots => "pinned memory is in region registers of its own whenever the domain runs",
            Self::PagedSlots => "paged memory keeps the registers that one instruction can need at once",
            Self::Misses => "the misses of a period are within the miss budget",
            Self::TableMemory => "the domain's table has room for its nodes in memory of its level",
            Self::Frames => "memory is granted in one piece that one region register covers",
            Self::FramesNotClean => "memory is granted only after it has been cleared",
            Self::LockSlots => "each page or section has a locked entry of the TLB, of which the chip has few",
            Self::ConstantTime => "a constant time is promised for a bounded number of descriptors",
            Self::Pages => "memory is granted from one pool that has so much of it clean",
            Self::Quota => "a domain has of a pool what its quota says, or without one what the quotas of others leave",
            Self::Addresses => "memory is mapped in the domain's window, where nothing is and its tables can lie",
        }
    }
}

/// The smallest change of a request after which it is admitted, nothing else having changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change of the request alone is enough.
    None,
    /// Ask for this specification.
    Spec(TemporalSpec),
    /// Ask for so many bytes.
    Bytes(u32),
    /// Declare so many misses.
    Misses(u32),
    /// Release so many of one's own pinned registers first.
    ReleaseRegisters(u32),
    /// Release so many bytes of one's own table (regions with their nodes) first.
    ReleaseTable(u32),
    /// Release so many of one's own locked entries first.
    ReleaseEntries(u32),
    /// Release, and clear, so many of one's own bytes first.
    ReleaseBytes(u32),
    /// It has not been found yet: the search goes on with this step (`Ledger::explain`).
    Unknown(u32),
}

impl Change {
    /// Kind and value in messages.
    pub const fn numbers(self) -> (u32, u32) {
        match self {
            Self::None => (0, 0),
            Self::Spec(spec) => (1, spec.bits()),
            Self::Bytes(bytes) => (2, bytes),
            Self::Misses(misses) => (3, misses),
            Self::ReleaseRegisters(count) => (4, count),
            Self::ReleaseTable(bytes) => (5, bytes),
            Self::ReleaseEntries(count) => (6, count),
            Self::ReleaseBytes(bytes) => (7, bytes),
            Self::Unknown(step) => (8, step),
        }
    }
}

/// A refusal. The ledger is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// The amount asked for, in the rule's unit.
    pub asked: u32,
    /// The amount left, in the rule's unit.
    pub left: u32,
    /// The change that would make it admissible.
    pub change: Change,
}
