//! The rules that the manager itself applies; those below [`FIRST`] are the ledger's (`spec`).

use crate::wire::Refused;

/// The first number of a rule, and of a kind of change, that is not the ledger's. 65 and 71 were rules once and are not used again.
pub const FIRST: u32 = 64;

/// A client has a fixed number of records. Asked 1; left 0.
pub const RECORDS: u32 = 64;
/// A client maps shared memory with the specification that it has. Asked and left: packed
/// specifications.
pub const SPEC_AGREES: u32 = 66;
/// A client maps no more of shared memory than there is. Asked and left: bytes.
pub const SIZE_AGREES: u32 = 67;
/// A client maps shared memory as far as manifest and owner both permit. Asked and left: bits of
/// `wire::access`.
pub const PERMITTED: u32 = 68;
/// The memory that a request names exists, and is the caller's. Asked: the address; left 0.
pub const EXISTS: u32 = 69;
/// An owner gives shared memory back after everybody else. Asked 0; left: how many domains have it mapped.
pub const ALONE: u32 = 70;
/// A specification is one that exists. Asked: the word; left 0.
pub const SPECIFIED: u32 = 72;
/// An alignment is a power of two. Asked: bytes; left 0.
pub const ALIGNED: u32 = 73;
/// Shared memory exists after its owner has made it, until the owner gives it back. Asked 1; left
/// 0.
pub const MADE: u32 = 74;
/// A client shares what the manifest declares as its own, under that name. Asked 1; left 0.
pub const DECLARED: u32 = 75;
/// Each piece of memory takes two marks of the kernel's frame table, and a pool has a limited
/// number of marks. Asked 1; left 0.
pub const MARKS: u32 = 76;

/// Kinds of change that would make a request admissible.
pub mod change {
    /// No change has been found yet: `EXPLAIN` goes on with this step (value). The ledger's number.
    pub const UNKNOWN: u32 = spec::Change::Unknown(0).numbers().0;
    /// No change of this request would be admitted.
    pub const NONE: u32 = 64;
    /// Release so many of one's own (value).
    pub const RELEASE: u32 = 65;
    /// Ask for this specification (value: packed).
    pub const SPEC: u32 = 66;
    /// Ask for so many bytes (value).
    pub const BYTES: u32 = 67;
    /// Ask for this access (value: bits of `wire::access`).
    pub const ACCESS: u32 = 68;
    /// Revoke the access of so many domains first (value).
    pub const REVOKE: u32 = 69;
    /// Ask for this alignment (value: bytes).
    pub const ALIGNMENT: u32 = 71;
    /// Declare it in the manifest, under the shares of its owner.
    pub const DECLARE: u32 = 72;
    /// Ask again: what was in the way no longer is.
    pub const AGAIN: u32 = 73;
}

pub(crate) const fn refuse(rule: u32, asked: u32, left: u32, change: u32, value: u32) -> Refused {
    Refused { rule, asked, left, change, value }
}
