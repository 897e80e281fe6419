//! A mapping may lie across any number of marks, as others map parts of the same memory. Counting
//! it is therefore cut into steps ([`Counting`]). Between two steps the range is in use as far as
//! it has been counted, and no domain may have access before all of it is.

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
    /// Returns true if a byte of it is counted now.
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
