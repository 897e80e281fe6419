//! What the manager stands on: somebody who keeps the account, and somebody who performs.

use abi::Error;

use crate::note::Note;
use crate::wire::Refused;

pub use memory::pieces::{Mark, Piece};

use crate::holding::Holding;

/// Memory that a client has from an address on. With region registers one of them covers it: the lowest eighths of a naturally aligned
/// power of two, in one piece. With page tables it is in pieces, wherever these are.
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
    /// Whether an address lies in it.
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

/// Memory that a client asks the account for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Fresh memory.
    Fresh(Wanted),
    /// Memory that another client has, as that client has it.
    Theirs(Entry),
}

impl Asked {
    /// Temporal specification, packed; not yet judged.
    pub const fn spec(&self) -> u32 {
        match self {
            Asked::Fresh(wanted) => wanted.spec,
            Asked::Theirs(entry) => entry.spec,
        }
    }
}

/// What the ledger admitted, already entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The memory.
    pub region: Region,
    /// What the account was charged beside the frames.
    pub terms: Terms,
    /// Memory that the client's table needs in addition: base and bytes.
    pub nodes: Option<(u32, u32)>,
}

/// How an entry in a client's table is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Region registers, or entries of the TLB, that are pinned for it.
    pub slots: u8,
    /// Where its tables lie: number of a `spec::TablePlace`.
    pub place: u8,
    /// The kernel is asked to keep them on the chip.
    pub near: bool,
}

impl Terms {
    /// Whether something is pinned for it.
    pub const fn pinned(self) -> bool {
        self.slots > 0
    }
}

/// The account of memory and of what checks accesses to it. Each operation is joint and atomic: refused means unchanged. `held` is what the
/// client has: what is mapped already decides where there is room for more, and which tables there are.
pub trait Account {
    /// Finds clean frames for fresh memory and enters them; enters the memory into the client's table.
    ///
    /// # Errors
    /// The refusal; where a change has to be looked for, it says so ([`Account::explain`]).
    fn admit(&mut self, client: u8, asked: &Asked, held: &[Holding]) -> Result<Admitted, Refused>;

    /// One step of looking for the smallest change of what would be refused: the request and one candidate are decided. Nothing changes.
    ///
    /// # Errors
    /// The refusal, with the change or the next step. `Ok` when it would be admitted.
    fn explain(&mut self, client: u8, asked: &Asked, step: u16, held: &[Holding]) -> Result<(), Refused>;

    /// Takes the entry of a region in the client's table away; with `frames` also the memory, which is not clean then: the client
    /// is charged for it until it is.
    fn leave(&mut self, client: u8, entry: &Entry, frames: bool, held: &[Holding]);

    /// Whether mapping is left to requests that follow the one that admits: memory is in pieces, each of which takes its time.
    fn maps_later(&self) -> bool;

    /// The next piece of a client's region to be mapped, of which `done` bytes are, up to the piece `last`: a piece that there is, or memory
    /// of the promise that the grant was.
    ///
    /// # Errors
    /// `FULL`: the memory left is in so many pieces that the pool has no marks for one more. `BAD_STATE`: there is no such piece.
    fn draw(&mut self, client: u8, region: &mut Region, done: u32, last: Mark) -> Result<Mark, Error>;

    /// A piece of a region.
    fn piece(&self, region: &Region, mark: Mark) -> Option<Piece>;

    /// A piece of memory that the client had left is clean again; without one, what was promised of it and never drawn.
    fn clean(&mut self, client: u8, region: &Region, piece: Option<Mark>, bytes: u32);

    /// The bound of a client's accesses to memory that is kept so.
    fn bound(&self, client: u8, terms: Terms) -> Bound;

    /// Cycles to map a region and to take that away again, at most, and how they were found; zeros where nothing is said.
    fn effort(&self, region: &Region, terms: Terms) -> Effort;
}

/// What mapping a region takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Descriptors.
    pub descriptors: u32,
    /// Cycles to map it.
    pub map_cycles: u32,
    /// Cycles to take it away, clearing apart.
    pub release_cycles: u32,
    /// Number of a method.
    pub method: u8,
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
    /// Whether the client may write.
    pub write: bool,
    /// Whether a region register, or an entry of the TLB, is pinned for it.
    pub pinned: bool,
    /// Whether tables in near memory translate it.
    pub near: bool,
}

/// The kernel's calls, each bounded. The kernel checks everything again; a refusal here means that the account is wrong, unless it is
/// `BUSY`: another manager's edit is under way, and the same call will do later.
pub trait Calls {
    /// Untyped frames become memory that can be mapped.
    ///
    /// # Errors
    /// Those of the kernel.
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error>;

    /// Lets a client access memory in one piece.
    ///
    /// # Errors
    /// Those of the kernel.
    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Ends a client's access to memory that was mapped so.
    ///
    /// # Errors
    /// Those of the kernel.
    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Gives the client's table memory for nodes, as much of it as the kernel takes at once, from its beginning on; returns the bytes
    /// given.
    ///
    /// # Errors
    /// Those of the kernel.
    fn nodes(&mut self, client: u8, base: u32, bytes: u32) -> Result<u32, Error>;

    /// One step of clearing frames that nobody has mapped; returns the bytes left.
    ///
    /// # Errors
    /// Those of the kernel.
    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, Error>;

    /// Tells whoever observes; by itself, nobody does.
    fn tell(&mut self, note: &Note) {
        let _ = note;
    }
}
