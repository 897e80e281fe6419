//! The ledger: what has been promised to whom, and what is left. The same decisions on the host, when a system is built, and on
//! the target, when it runs.
//!
//! Every admission is one joint decision over all resources that it needs. It is made first, without a change, and then carried
//! out, which cannot fail: a refused request leaves the ledger as it was.

mod account;
mod admit;
mod areas;
mod bytes;
mod change;
mod plan;
mod quota;
mod resource;

pub use account::{Account, Opening, Pool, Quantity, Quota};
pub use bytes::block_bytes;
pub use resource::Resource;

use crate::platform::{Bound, Effort, Independence, PLACES, Platform, TablePlace};
use crate::temporal::{MemoryClass, TemporalSpec};

/// Memory of a pool: in one piece, or where memory scatters in naturally aligned pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Number of the pool.
    pub pool: u8,
    /// Address of the first piece.
    pub base: u32,
    /// Bytes of all pieces, rounded up to what a region register, or pages, cover.
    pub bytes: u32,
}

/// The memory to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Bytes, not 0.
    pub bytes: u32,
    /// The address must be a multiple of this power of two; 1 for any.
    pub align: u32,
    /// The address that it must have.
    pub at: Option<u32>,
}

/// A pool cannot give the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotThere {
    /// Most bytes that the same request would be given now; 0 for none.
    pub largest: u32,
}

/// Clean memory, found by somebody who knows where it is: `memory::extents` on host and target.
pub trait Frames {
    /// Takes clean memory out of a pool, in one piece, or, if `piece` is not 0, in naturally aligned pieces of at least so many bytes.
    /// Then `wanted.bytes` is a multiple of `piece`, and alignment and address are about where it is mapped. On a platform with pages, one
    /// piece is a power of two, naturally aligned.
    ///
    /// # Errors
    /// [`NotThere`]; nothing has changed then.
    fn take(&mut self, pool: u8, wanted: &Wanted, piece: u32) -> Result<Range, NotThere>;

    /// Puts memory back that was taken and never used. The pool is as it was before it was taken.
    fn give(&mut self, range: Range);

    /// The largest request that takes no more than so many bytes, in pieces of at least `piece` bytes, or in one if that is 0.
    fn within(&self, _pool: u8, bytes: u32, _piece: u32) -> u32 {
        bytes
    }

    /// Bytes of the domain's table that a request needs in addition if its tables lie in this place; `None` when they cannot.
    /// Memory that is mapped at run time gets its address only then: `wanted` is the memory to be found, in pieces of at least `piece` bytes.
    fn table_bytes(&self, request: &Request, _place: TablePlace, _wanted: Option<&Wanted>, _piece: u32) -> Option<u32> {
        Some(request.table_bytes)
    }
}

/// No memory at all: for areas that have been placed already.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFrames;

impl Frames for NoFrames {
    fn take(&mut self, _: u8, _: &Wanted, _: u32) -> Result<Range, NotThere> {
        Err(NotThere::default())
    }

    fn give(&mut self, _: Range) {}
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The domain that will access the memory.
    pub domain: u8,
    /// The specification that it asks for.
    pub spec: TemporalSpec,
    /// The memory is executed.
    pub code: bool,
    /// If it is pinned: region registers that cover it (at least one is taken), or entries of the TLB to be locked (0 when it lies in a
    /// page or section that is locked already). Of page tables, only where the memory is there already.
    pub slots: u8,
    /// Bytes of nodes and leaves, or of second-level tables, that the domain's table needs for it in addition at most, unless
    /// [`Frames::table_bytes`] knows better.
    pub table_bytes: u32,
    /// Descriptors of page tables that are written, where the memory is there already.
    pub descriptors: u32,
    /// Misses in a period that it is expected to add.
    pub misses: u32,
    /// Memory to find; `None` when it is there already (placed by the host, or shared).
    pub frames: Option<Wanted>,
}

impl Request {
    /// For data that is there already, with one slot if it is pinned, and nothing else.
    pub const fn new(domain: u8, spec: TemporalSpec) -> Request {
        Request { domain, spec, code: false, slots: 1, table_bytes: 0, descriptors: 0, misses: 0, frames: None }
    }
}

/// The charge to an account for a grant. Keep it: [`Ledger::release`] wants it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The domain.
    pub domain: u8,
    /// The memory is executed.
    pub code: bool,
    /// Pinned region registers, or locked entries; 0 when it is paged.
    pub slots: u8,
    /// Location of all of its tables.
    pub place: TablePlace,
    /// Bytes of the domain's table there.
    pub table_bytes: u32,
    /// Misses in a period.
    pub misses: u32,
    /// The memory, if some was asked for.
    pub frames: Option<Range>,
}

/// A request that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The charge to the account.
    pub charge: Charge,
    /// The specification asked for.
    pub spec: TemporalSpec,
    /// The bound that is promised, of the level asked for or a better one; `None` when nothing is.
    pub bound: Option<Bound>,
    /// Memory that the domain's table is to be given in addition. It stays with the table.
    pub table: Option<Range>,
    /// Says if and how far it is independent, when that was asked.
    pub independence: Option<Independence>,
    /// Work of mapping and releasing, where the platform says. Under `constant-time` that is what they take whatever was mapped or
    /// released before; the clearing of the bytes comes on top.
    pub effort: Option<Effort>,
}

/// The ledger of at most `D` domains and `P` pools of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger<const D: usize, const P: usize> {
    platform: Platform,
    accounts: [Account; D],
    domains: usize,
    pools: [Pool; P],
    pool_count: usize,
    /// Share of each domain in each pool.
    quotas: [[Quota; P]; D],
    /// Memory for tables that is set aside when the system is built, by place.
    tables: [Quantity; PLACES],
    /// Entries of the TLB that can be locked, on the whole chip.
    slots: Quantity,
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// An empty ledger. `tables` are the bytes by place that can hold tables when the system starts; of locked ways, no more than can
    /// be locked.
    pub const fn new(platform: Platform, mut tables: [u32; PLACES]) -> Self {
        let (slots, ways) = (platform.slots().of_chip(), platform.lockable_bytes());
        if tables[TablePlace::LockedWays as usize] > ways {
            tables[TablePlace::LockedWays as usize] = ways;
        }
        let [tcm, on_chip, locked_ways, off_chip] = tables;
        Ledger {
            platform,
            accounts: [Account::EMPTY; D],
            domains: 0,
            pools: [Pool::EMPTY; P],
            pool_count: 0,
            quotas: [[Quota { most: None, used: 0 }; P]; D],
            tables: [Quantity::of(tcm), Quantity::of(on_chip), Quantity::of(locked_ways), Quantity::of(off_chip)],
            slots: Quantity::of(slots),
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
    pub const fn table_memory(&self, place: TablePlace) -> Quantity {
        self.tables[place as usize]
    }

    /// Entries of the TLB that can be locked, on the whole chip.
    pub const fn lock_slots(&self) -> Quantity {
        self.slots
    }

    /// Adds a pool of frames; returns its number, `None` when there are `P`.
    pub fn add_pool(&mut self, class: MemoryClass, bytes: u32) -> Option<u8> {
        *self.pools.get_mut(self.pool_count)? = Pool::new(class, bytes);
        self.pool_count += 1;
        Some((self.pool_count - 1) as u8)
    }
}
