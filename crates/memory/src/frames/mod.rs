//! The type of every physical range, and explicit retyping.
//!
//! ```text
//!              retype                    release (no maps, no objects)
//!   Untyped ------------> User, Shared, Kernel -----------------------> Dirty
//!      ^                                                                  |
//!      |  finish (every byte cleared)                                     | begin_scrub
//!      +-------------------------------- Scrubbing <----------------------+
//! ```
//!
//! A range has one type at a time. Kernel ranges can never be mapped; others can never hold kernel objects; nothing leaves its
//! type while it is mapped or holds an object; nothing is used again before it has been cleared.
//!
//! # Bounds
//! At most `N` entries. Finding one is O(log N); splitting or merging moves at most `N` entries once. Mapping, unmapping and object
//! counts are O(log N).

mod table;

use units::PhysRange;

pub use table::FrameTable;

/// A protection domain, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub u16);

/// What memory is used for once it is typed.
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
    /// Being cleared.
    Scrubbing,
    /// In use.
    Typed(Purpose),
}

/// One range, its type, and how many mappings or objects hold it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The range.
    pub range: PhysRange,
    /// Its type.
    pub kind: FrameType,
    /// Mappings (user, shared) or objects (kernel).
    pub uses: u32,
}

/// Why the table is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The table has room for `limit` entries, and this would take more.
    Full {
        /// Entries at most.
        limit: usize,
    },
    /// The range is empty.
    Empty,
    /// The range overlaps memory that the table has already.
    Overlap {
        /// The entry in the way.
        with: Entry,
    },
    /// Some byte of the range is not in the table.
    Unknown,
    /// The range extends beyond the entry that contains its start.
    Straddles {
        /// That entry.
        entry: Entry,
    },
    /// The entry's type does not allow this.
    WrongType {
        /// The entry.
        entry: Entry,
    },
    /// The range is mapped, or holds objects.
    InUse {
        /// The entry, with the number.
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
    /// The scrub has bytes left to clear.
    NotClear,
}

#[cfg(test)]
mod tests;
