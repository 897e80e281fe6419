//! Memory that clients have, and the entries of their tables for it.

pub use memory::pieces::{Mark, Piece};

/// Memory that a client has from an address on. With region registers it is in one piece that one
/// register covers: the lowest eighths of a naturally aligned power of two. With page tables it
/// consists of pieces that can lie anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// First address, as the client sees it.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Its first piece; there is always one unless there are page tables.
    pub first: Mark,
    /// Number of the pool.
    pub pool: u8,
}

impl Region {
    /// Returns true if an address lies in it.
    pub const fn contains(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }
}

/// How an entry in a client's table is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Region registers, or entries of the TLB, that are pinned for it.
    pub slots: u8,
    /// Location of its tables: number of a `spec::TablePlace`.
    pub place: u8,
    /// True if the kernel is asked to keep its tables on the chip. It refuses the mapping if it
    /// cannot, so that no promise is broken silently.
    pub near: bool,
}

impl Terms {
    /// Returns true if something is pinned for it.
    pub const fn pinned(self) -> bool {
        self.slots > 0
    }
}

/// An entry in a client's table, as the account admitted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The memory.
    pub region: Region,
    /// Its temporal specification, packed.
    pub spec: u32,
    /// How it is kept.
    pub terms: Terms,
}

/// How a piece of memory is entered into a client's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address, as the client sees it.
    pub at: u32,
    /// First address of the memory.
    pub from: u32,
    /// Bytes.
    pub bytes: u32,
    /// True if the client may write.
    pub write: bool,
    /// True if a region register, or an entry of the TLB, is pinned for it.
    pub pinned: bool,
    /// True if tables in near memory translate it.
    pub near: bool,
}
