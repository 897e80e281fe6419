//! The ledger: what has been promised to whom, and what is left. The same decisions on the host, when a system is built, and on
//! the target, when it runs.
//!
//! Every admission is one joint decision over all resources that it needs. It is made first, without a change, and then carried
//! out, which cannot fail: a refused request leaves the ledger as it was.

mod account;
mod admit;
mod bytes;
mod change;

pub use account::{Account, Pool, Quantity};
pub use bytes::block_bytes;

use crate::platform::{Bound, Platform};
use crate::temporal::{MemoryClass, TemporalSpec};

/// Memory in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Number of the pool.
    pub pool: u8,
    /// First address.
    pub base: u32,
    /// Bytes, rounded up to what one region register covers.
    pub bytes: u32,
}

/// Which memory is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Bytes, not 0.
    pub bytes: u32,
    /// A power of two of which the address must be a multiple; 1 for any.
    pub align: u32,
    /// The address that it must have.
    pub at: Option<u32>,
}

/// What a pool could not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotThere {
    /// Most bytes that the same request would be given now; 0 for none.
    pub largest: u32,
}

/// Clean memory, found by somebody who knows where it is: `memory::extents` on host and target.
pub trait Frames {
    /// Takes clean memory out of a pool.
    ///
    /// # Errors
    /// [`NotThere`]; nothing has changed then.
    fn take(&mut self, pool: u8, wanted: &Wanted) -> Result<Range, NotThere>;

    /// Puts memory back that was taken and never used. The pool is as it was before it was taken.
    fn give(&mut self, range: Range);
}

/// No memory at all: for areas that have been placed already.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFrames;

impl Frames for NoFrames {
    fn take(&mut self, _: u8, _: &Wanted) -> Result<Range, NotThere> {
        Err(NotThere::default())
    }

    fn give(&mut self, _: Range) {}
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The domain that will access the memory.
    pub domain: u8,
    /// What it asks for.
    pub spec: TemporalSpec,
    /// The memory is executed.
    pub code: bool,
    /// Region registers that cover it, if it is pinned.
    pub registers: u8,
    /// Bytes of nodes and leaves that the domain's table needs for it at most, if it is paged.
    pub table_bytes: u32,
    /// Misses in a period that it is expected to add.
    pub misses: u32,
    /// Memory to find; `None` when it is there already (placed by the host, or shared).
    pub frames: Option<Wanted>,
}

/// What was granted. Keep it: [`Ledger::release`] wants it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The domain.
    pub domain: u8,
    /// What was asked for.
    pub spec: TemporalSpec,
    /// What is promised: of the level asked for, or a better one.
    pub bound: Bound,
    /// The memory is executed.
    pub code: bool,
    /// Pinned region registers, or 0 when it is paged.
    pub registers: u8,
    /// Bytes of the domain's table.
    pub table_bytes: u32,
    /// Misses in a period.
    pub misses: u32,
    /// The memory, if some was asked for.
    pub frames: Option<Range>,
    /// Memory that the domain's table is to be given in addition. It stays with the table.
    pub table: Option<Range>,
}

/// The ledger of at most `D` domains and `P` pools of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger<const D: usize, const P: usize> {
    platform: Platform,
    accounts: [Account; D],
    domains: usize,
    pools: [Pool; P],
    pool_count: usize,
    /// Memory for tables that is set aside when the system is built: TCM and on the chip.
    tables: [Quantity; 2],
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// An empty ledger. `tcm` and `on_chip` are the bytes that can hold tables when the system starts.
    pub const fn new(platform: Platform, tcm: u32, on_chip: u32) -> Self {
        Ledger {
            platform,
            accounts: [Account::EMPTY; D],
            domains: 0,
            pools: [Pool::EMPTY; P],
            pool_count: 0,
            tables: [Quantity::of(tcm), Quantity::of(on_chip)],
        }
    }

    /// The platform for which it decides.
    pub const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Domains that have an account.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts[..self.domains]
    }

    /// Pools of frames.
    pub fn pools(&self) -> &[Pool] {
        &self.pools[..self.pool_count]
    }

    /// Memory for tables that is set aside when the system is built.
    pub const fn table_memory(&self, class: MemoryClass) -> Quantity {
        match class {
            MemoryClass::Tcm => self.tables[0],
            MemoryClass::OnChip | MemoryClass::OffChip => self.tables[1],
        }
    }

    /// Adds a pool of frames; returns its number, `None` when there are `P`.
    pub fn add_pool(&mut self, class: MemoryClass, bytes: u32) -> Option<u8> {
        let slot = self.pools.get_mut(self.pool_count)?;
        *slot = Pool { class, clean: Quantity::of(bytes), dirty: 0 };
        self.pool_count += 1;
        Some((self.pool_count - 1) as u8)
    }
}
