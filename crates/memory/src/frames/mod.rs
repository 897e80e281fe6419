//! The type of every physical range, and explicit retyping.
//!
//! ```text
//!              retype                    release (no maps, no objects)
//!   Untyped ------------> User, Shared, Kernel -----------------------> Dirty
//!      ^                          |                                       |
//!      |  cleared (every byte)    | (not in use, not Kernel)              |
//!      +--------------------------+---------------------------------------+
//! ```
//!
//! A byte has one type at a time. Kernel memory can never be mapped; other memory can never hold kernel objects; nothing leaves its
//! type while it is mapped or holds an object; nothing is used again before it has been cleared.
//!
//! # Bounds
//! The table is a sorted sequence of *marks* of 8 bytes: addresses at which the type changes or a mapping begins or ends.
//! Adjacent memory of one type that nothing uses therefore has no mark inside, whatever its history, and taking a mapping away
//! needs no mark. Marks lie in chunks of sixteen, at least half full: finding one takes O(log chunks), and putting one in or taking one
//! out moves the marks of two chunks at most.
//!
//! Memory can be taken out in other parts than it was mapped in (page tables). The caller that maps it
//! says at which address two mappings of one domain have become one ([`FrameTable::join`]), and at
//! which the use goes on behind the part that is taken out ([`FrameTable::counted`]): marks stand
//! at the ends of each range that a domain uses in one piece, however that range came about. A part
//! in the middle needs marks of its own; [`FrameTable::room_for_part`] says whether there are any,
//! and two are kept back for who takes everything out part by part, which never needs more at a
//! time.
//!
//! A mapping may lie across any number of marks, as others map parts of the same memory. Counting it is therefore cut into steps
//! ([`Counting`]); between them the range is in use as far as it has been counted, and nobody may have access before all of it is.

mod count;
mod marks;
mod table;

use units::{PhysAddr, PhysRange};

pub use marks::{Chunk, Place};
pub use table::FrameTable;

/// Bytes of a granule: the smallest region of a protection unit.
const GRANULE_LOG2: u32 = 5;

/// A use of a range that is being counted, or taken back: what is below `at` is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counting {
    /// In granules, as `past` and `at`.
    first: u32,
    past: u32,
    at: u32,
    /// The domain that maps it; `None` for an object of the kernel.
    domain: Option<Domain>,
    /// At its first and its last end: the use goes on behind it, so that what is taken back leaves an end there.
    goes_on: [bool; 2],
}

impl Counting {
    /// Whether a byte of it is counted now.
    pub fn counts(&self, addr: PhysAddr) -> bool {
        (u64::from(self.first)..u64::from(self.at)).contains(&(addr.0 >> GRANULE_LOG2))
    }
}

/// A protection domain, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub u16);

/// The use of memory once it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Mapped by one domain only.
    User(Domain),
    /// Mapped by any domain that holds a capability for it.
    Shared,
    /// Backs kernel objects.
    Kernel,
}

/// The type of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Clear and free to be given a purpose.
    Untyped,
    /// Released, with its last contents.
    Dirty,
    /// In use.
    Typed(Purpose),
}

/// One range, its type, and how many mappings or objects hold each byte of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The range.
    pub range: PhysRange,
    /// Its type.
    pub kind: FrameType,
    /// Mappings (user, shared) or objects (kernel).
    pub uses: u8,
}

/// Why the table is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The table has room for `limit` marks, and this would take more.
    Full {
        /// Marks at most.
        limit: usize,
    },
    /// The range is empty, or not made of granules of 32 bytes below 2^37.
    Malformed,
    /// The range overlaps memory that the table has already.
    Overlap {
        /// The entry in the way.
        with: Entry,
    },
    /// Some byte of the range is not in the table.
    Unknown,
    /// The type of some byte does not allow this.
    WrongType {
        /// The entry that holds it.
        entry: Entry,
    },
    /// Some byte is mapped, or holds objects; or as often as can be counted.
    InUse {
        /// The entry that holds it, with the number.
        entry: Entry,
    },
    /// There is no mapping or object left to take away.
    NotInUse {
        /// The entry.
        entry: Entry,
    },
    /// Another domain's memory.
    WrongDomain {
        /// Its owner.
        owner: Domain,
    },
}

#[cfg(test)]
mod tests;
