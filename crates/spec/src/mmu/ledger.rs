//! What has been promised of a chip with an MMU.

use super::platform::{Independence, Platform, TablePlace};
use crate::ledger::{Pool, Quantity};
use crate::platform::Bound;
use crate::temporal::{MemoryClass, TemporalSpec};

/// What can hold tables, and be locked, when the system starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of on-chip memory.
    pub on_chip: u32,
    /// Ways that may be locked: what is locked is lost to all other code and data.
    pub ways: u8,
    /// Bytes of memory off the chip.
    pub off_chip: u32,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The domain that will access the memory.
    pub domain: u8,
    /// What it asks for.
    pub spec: TemporalSpec,
    /// Pages and sections, each an entry of the TLB (`protect::vmsa::Shape::tlb_entries`).
    pub entries: u32,
    /// Descriptors that are written (`Shape::descriptors`).
    pub descriptors: u32,
    /// Second-level tables that are needed at most (`Shape::tables`).
    pub tables: u32,
    /// Bytes of memory to find, in pages that need not be next to each other; `None` when it is there already.
    pub frames: Option<u32>,
}

/// Clean memory of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Number of the pool.
    pub pool: u8,
    /// Bytes.
    pub bytes: u32,
}

/// What the time of mapping and of releasing depends on: it is the same whatever was mapped or released before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Descriptors, each a constant time (`protect::vmsa::Tables`).
    pub descriptors: u32,
    /// Bytes that are cleared after the release.
    pub cleared: u32,
}

/// What was granted. Keep it: [`Ledger::release`] wants it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The domain.
    pub domain: u8,
    /// What was asked for.
    pub spec: TemporalSpec,
    /// What is promised; `None` when nothing is.
    pub bound: Option<Bound>,
    /// Locked entries.
    pub locked: u8,
    /// Where all of its second-level tables lie.
    pub place: TablePlace,
    /// Bytes of second-level tables.
    pub table_bytes: u32,
    /// Ways that are to be locked now, in addition to those that are.
    pub new_ways: u8,
    /// Whether and how far it is independent, when that was asked.
    pub independence: Option<Independence>,
    /// Of what the time is constant, when that was asked.
    pub constant: Option<Constant>,
    /// The memory, if some was asked for.
    pub frames: Option<Range>,
}

/// The account of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Where its first-level table lies.
    pub root: TablePlace,
    /// Locked entries.
    pub locked: u8,
    /// Bytes of second-level tables, by place.
    pub tables: [u32; 3],
    /// Bytes of frames that it holds.
    pub held: u32,
    /// Bytes that it has released and that are not clean yet.
    pub dirty: u32,
}

impl Account {
    const EMPTY: Account = Account { root: TablePlace::OffChip, locked: 0, tables: [0; 3], held: 0, dirty: 0 };
}

/// The ledger of at most `D` domains and `P` pools of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger<const D: usize, const P: usize> {
    pub(super) platform: Platform,
    pub(super) accounts: [Account; D],
    pub(super) domains: usize,
    pub(super) pools: [Pool; P],
    pub(super) pool_count: usize,
    /// Memory for tables by place.
    pub(super) tables: [Quantity; 3],
    pub(super) slots: Quantity,
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// An empty ledger. Of the ways at least one stays unlocked, whatever the budget says.
    pub const fn new(platform: Platform, budget: Budget) -> Self {
        let most = platform.ways.saturating_sub(1);
        let ways = if budget.ways < most { budget.ways } else { most };
        Ledger {
            accounts: [Account::EMPTY; D],
            domains: 0,
            pools: [Pool::EMPTY; P],
            pool_count: 0,
            tables: [
                Quantity::of(budget.on_chip),
                Quantity::of(ways as u32 * platform.way_bytes),
                Quantity::of(budget.off_chip),
            ],
            slots: Quantity::of(platform.lock_slots as u32),
            platform,
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

    /// Bytes for tables in a place.
    pub const fn table_memory(&self, place: TablePlace) -> Quantity {
        self.tables[place as usize]
    }

    /// Lock slots.
    pub const fn lock_slots(&self) -> Quantity {
        self.slots
    }

    /// Ways that are locked for what has been granted.
    pub const fn locked_ways(&self) -> u32 {
        self.platform.ways_for(self.tables[TablePlace::LockedWays as usize].used)
    }

    /// Adds a pool of frames; returns its number, `None` when there are `P`.
    pub fn add_pool(&mut self, class: MemoryClass, bytes: u32) -> Option<u8> {
        let slot = self.pools.get_mut(self.pool_count)?;
        *slot = Pool { class, clean: Quantity::of(bytes), dirty: 0 };
        self.pool_count += 1;
        Some((self.pool_count - 1) as u8)
    }
}
