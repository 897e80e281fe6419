//! Results of every function.

use protect::pmsav7::RegionRegs;
use protect::regions::pctrie::TrieError;
use protect::regions::slots::{Miss, SlotError};

/// `cfm_status`. Numbers never change their meaning.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer that must not be null is.
    Null = 1,
    /// A pointer is not aligned as its type requires.
    Misaligned = 2,
    /// The object was never initialised, or its memory was overwritten.
    Stale = 3,
    /// A value outside of what the function takes.
    Argument = 4,
    /// Memory given to one object overlaps.
    Overlapping = 5,
    /// No registers express the range; the refusal says why and what would.
    Refused = 10,
    /// The trie's nodes are used up.
    NoNodes = 20,
    /// The trie's leaves are used up.
    NoLeaves = 21,
    /// Some byte of the region is mapped already.
    Mapped = 22,
    /// The registers are off, break PMSAv7's rules, or express less than 256 bytes where that is required.
    Malformed = 23,
    /// The region is not in the trie.
    NotMapped = 24,
    /// More pinned regions than registers.
    TooManyPinned = 30,
    /// Fewer paged registers than an instruction may need.
    TooFewPaged = 31,
    /// A violation: no region contains the address.
    Unmapped = 40,
    /// A violation: the region is loaded and does not permit the access.
    Present = 41,
    /// No free block is large enough.
    Full = 50,
    /// The request, with its alignment, exceeds what any heap gives.
    TooLarge = 51,
    /// The address is none that this heap has handed out.
    NotABlock = 52,
    /// The block has been freed before.
    DoubleFree = 53,
    /// Somebody wrote beyond a block, or into a freed one.
    Corrupt = 54,
    /// The piece is too small for a block, or too large.
    Piece = 55,
    /// The ledger does not admit it; the denial says why and what would be.
    Denied = 60,
    /// The grant is none that this ledger has outstanding.
    NotGranted = 61,
    /// The bytes are no ledger.
    Damaged = 62,
}

impl From<TrieError<RegionRegs>> for Status {
    fn from(error: TrieError<RegionRegs>) -> Self {
        match error {
            TrieError::NoNodes { .. } => Self::NoNodes,
            TrieError::NoLeaves { .. } => Self::NoLeaves,
            TrieError::Overlap { .. } => Self::Mapped,
            TrieError::Misaligned => Self::Malformed,
            TrieError::NotMapped => Self::NotMapped,
        }
    }
}

impl From<SlotError> for Status {
    fn from(error: SlotError) -> Self {
        match error {
            SlotError::TooManyPinned { .. } => Self::TooManyPinned,
            SlotError::TooFewPaged { .. } => Self::TooFewPaged,
            SlotError::Malformed { .. } => Self::Malformed,
        }
    }
}

impl From<Miss> for Status {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Unmapped => Self::Unmapped,
            Miss::Present => Self::Present,
        }
    }
}

/// The status of a function's body.
pub(crate) fn status_of(done: Result<(), Status>) -> Status {
    match done {
        Ok(()) => Status::Ok,
        Err(status) => status,
    }
}
