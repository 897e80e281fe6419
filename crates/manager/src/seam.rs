//! What the manager stands on: somebody who keeps the account, and somebody who performs.

use abi::Error;

use crate::wire::Refused;

/// Memory that one region register covers: the lowest eighths of a naturally aligned power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// First address, a multiple of `1 << size_log2`.
    pub base: u32,
    /// log2 of the size that the register is programmed with, 5 to 31.
    pub size_log2: u8,
    /// Eighths that stay closed (bit 0 the lowest), as in the register; 0 below 256 bytes.
    pub srd: u8,
    /// Bytes that are open, from `base` on.
    pub bytes: u32,
}

impl Region {
    /// Whether an address lies in the open bytes.
    pub const fn contains(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }
}

/// Most cycles that checking one access adds, where that is decided, and how we know; numbers as in `spec`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Number of an access level.
    pub level: u8,
    /// Number of a method.
    pub method: u8,
    /// Cycles.
    pub cycles: u32,
}

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Temporal specification, packed; not yet judged.
    pub spec: u32,
    /// Bytes; not 0.
    pub bytes: u32,
    /// The address that it must have.
    pub at: Option<u32>,
    /// A power of two of which the address must be a multiple; 1 for any.
    pub alignment: u32,
}

/// What the ledger admitted, already entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The memory.
    pub region: Region,
    /// Whether a region register is pinned for it.
    pub pinned: bool,
    /// The bound of accesses to it.
    pub bound: Bound,
    /// Memory that the client's table needs in addition: base and bytes.
    pub nodes: Option<(u32, u32)>,
}

/// The account of memory and region registers. Each operation is joint and atomic: refused means unchanged.
pub trait Account {
    /// Finds clean frames for what is wanted and enters them, and their entry in the client's table.
    ///
    /// # Errors
    /// The refusal, with the smallest change that would be admitted.
    fn admit(&mut self, client: u8, wanted: &Wanted) -> Result<Admitted, Refused>;

    /// Enters memory that is granted already into the table of another client.
    ///
    /// # Errors
    /// As [`Account::admit`].
    fn join(&mut self, client: u8, region: Region, spec: u32) -> Result<Admitted, Refused>;

    /// Takes the entry of a region in the client's table away; with `frames` also the memory, which is not clean then: the client
    /// is charged for it until it is.
    fn leave(&mut self, client: u8, entry: &Entry, frames: bool);

    /// Memory that the client had left is clean again.
    fn clean(&mut self, client: u8, region: Region);
}

/// An entry in a client's table, as the account admitted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The memory.
    pub region: Region,
    /// Its temporal specification, packed.
    pub spec: u32,
    /// Whether a region register is pinned for it.
    pub pinned: bool,
}

/// How a region is entered into a client's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The memory.
    pub region: Region,
    /// Whether the client may write.
    pub write: bool,
    /// Whether a region register is pinned for it.
    pub pinned: bool,
}

/// The kernel's calls, each bounded. The kernel checks everything again; a refusal here means that the account is wrong.
pub trait Calls {
    /// Untyped frames become memory that can be mapped.
    ///
    /// # Errors
    /// Those of the kernel.
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error>;

    /// Lets a client access a region.
    ///
    /// # Errors
    /// Those of the kernel.
    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Ends a client's access to a region.
    ///
    /// # Errors
    /// Those of the kernel.
    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Gives the client's table memory for nodes.
    ///
    /// # Errors
    /// Those of the kernel.
    fn nodes(&mut self, client: u8, base: u32, bytes: u32) -> Result<(), Error>;

    /// One step of clearing frames that nobody has mapped; returns the bytes left.
    ///
    /// # Errors
    /// Those of the kernel.
    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, Error>;
}
