//! The account of memory, which says what is admitted.

use abi::Error;

use crate::holding::Holding;
use crate::region::{Entry, Mark, Piece, Region, Terms};
use crate::wire::Refused;

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

/// A client's request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fresh {
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
    Fresh(Fresh),
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

/// An admitted request, already entered in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The memory.
    pub region: Region,
    /// Charge to the account beside the frames.
    pub terms: Terms,
    /// Memory that the client's table needs in addition: base and bytes.
    pub nodes: Option<(u32, u32)>,
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

    /// Returns true if mapping is left to requests that follow the one that admits: memory is in
    /// pieces, each of which takes its time.
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

/// Most work that mapping a region takes.
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
