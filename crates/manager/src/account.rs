//! The account of memory, which says what is admitted.

use abi::Error;

use crate::holding::Holding;
use crate::region::{Entry, Mark, Piece, Region, Terms};
use crate::wire::Refused;

/// Bound on the check of one access: its level, its cycles, and the method by which they were
/// found. Numbers are those of `spec`.
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
    /// Alignment of the address, a power of two; 1 for any.
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

/// The account of memory and of what checks accesses to it.
///
/// Each operation is joint and atomic: a refusal has changed nothing. `held` is what the client
/// has, because what is mapped already decides where there is room for more and which tables exist.
pub trait Account {
    /// Finds clean frames for fresh memory and enters them; enters the memory into the client's table.
    ///
    /// # Errors
    /// The refusal. It names no change that has to be searched for: the search is
    /// [`Account::explain`]'s, and the refusal says that there is one.
    fn admit(&mut self, client: u8, asked: &Asked, held: &[Holding]) -> Result<Admitted, Refused>;

    /// One step of looking for the smallest change of what would be refused: the request and one candidate are decided. Nothing changes.
    ///
    /// # Errors
    /// The refusal, with the change or the next step. `Ok` when it would be admitted.
    fn explain(&mut self, client: u8, asked: &Asked, step: u16, held: &[Holding]) -> Result<(), Refused>;

    /// Takes the entry of a region out of the client's table. With `frames` it takes the memory,
    /// too. That is dirty then, and stays charged to the client until it is clean.
    fn leave(&mut self, client: u8, entry: &Entry, frames: bool, held: &[Holding]);

    /// Returns true if the request that admits memory maps none of it, because it comes in pieces.
    /// Requests that follow map some each, so that the bound of one request does not grow with the
    /// size.
    fn maps_later(&self) -> bool;

    /// Returns the next piece of a client's region that is to be mapped. `done` bytes of it are
    /// mapped, up to the piece `last`. The piece exists already, or is drawn now from the memory
    /// that the grant has promised.
    ///
    /// # Errors
    /// `FULL`: the memory left is in so many pieces that the pool has no marks for one more. `BAD_STATE`: there is no such piece.
    fn draw(&mut self, client: u8, region: &mut Region, done: u32, last: Mark) -> Result<Mark, Error>;

    /// A piece of a region.
    fn piece(&self, region: &Region, mark: Mark) -> Option<Piece>;

    /// Notes that a piece of memory that the client had left is clean again. Without a piece it is
    /// memory that was promised and never drawn.
    fn clean(&mut self, client: u8, region: &Region, piece: Option<Mark>, bytes: u32);

    /// Returns the bound of a client's accesses to memory that is kept on these terms.
    fn bound(&self, client: u8, terms: Terms) -> Bound;

    /// Returns the most cycles that mapping a region takes, and taking it away again, with the
    /// method; zeros where the platform says nothing.
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
