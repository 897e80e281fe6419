//! The account of one domain, and of one pool of frames.

use crate::platform::{PLACES, TablePlace};
use crate::temporal::MemoryClass;

/// A total and what of it is promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    /// All of it.
    pub total: u32,
    /// Promised; at most the total.
    pub used: u32,
}

impl Quantity {
    /// Nothing promised yet.
    pub const fn of(total: u32) -> Quantity {
        Quantity { total, used: 0 }
    }

    /// The amount left.
    pub const fn left(self) -> u32 {
        self.total - self.used
    }
}

/// The account of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Location of its table; of page tables, the first-level one.
    pub root: TablePlace,
    /// Bytes of its table (of page tables: of the second-level ones) by place. The domain keeps what it has once been given.
    pub tables: [Quantity; PLACES],
    /// Registers that paged memory keeps at least, once something is paged (0: what an instruction needs).
    pub paged_slots: u8,
    /// Slots that are its own, of all that there are: region registers, or entries of the TLB.
    pub slots: Quantity,
    /// Areas without them that are executed.
    pub code: u16,
    /// Areas without them that are not.
    pub data: u16,
    /// Misses in a period; the total is `u32::MAX` without a miss budget.
    pub misses: Quantity,
    /// Bytes of frames that it holds.
    pub held: u32,
    /// Bytes that it has released and that are not clean yet.
    pub dirty: u32,
}

impl Account {
    pub(super) const EMPTY: Account = Account {
        root: TablePlace::OnChip,
        tables: [Quantity::of(0); PLACES],
        paged_slots: 0,
        slots: Quantity::of(0),
        code: 0,
        data: 0,
        misses: Quantity::of(u32::MAX),
        held: 0,
        dirty: 0,
    };

    /// Its table in the place of [`Account::root`]: with region registers that is all of it.
    pub const fn table(&self) -> Quantity {
        self.tables[self.root as usize]
    }
}

/// How an account is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Location of the domain's table; of page tables, the first-level one, whose bytes come on top.
    pub root: TablePlace,
    /// Bytes of tables that it has from the beginning, by place.
    pub tables: [u32; PLACES],
    /// Registers that paging keeps at least (0: what an instruction needs).
    pub paged_slots: u8,
    /// Misses in a period (`u32::MAX`: no budget).
    pub misses: u32,
}

impl Opening {
    /// A table of so many bytes in one place, nothing else.
    pub const fn new(root: TablePlace, bytes: u32) -> Opening {
        let mut tables = [0; PLACES];
        tables[root as usize] = bytes;
        Opening { root, tables, paged_slots: 0, misses: u32::MAX }
    }
}

/// A domain's share of a pool: the bytes that it has at most, and always, and those that it has now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Bytes that are kept for it; without a quota it shares what the quotas of others leave.
    pub most: Option<u32>,
    /// Bytes that it has: what it holds, what it has released and not cleaned, and what its tables were given.
    pub used: u32,
}

/// A pool of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Class of its memory.
    pub class: MemoryClass,
    /// Its bytes; `used` counts those that are not clean, too.
    pub clean: Quantity,
    /// Bytes that have been released and are not clean yet.
    pub dirty: u32,
    /// Bytes that no quota keeps, and those of them that domains without a quota have.
    pub common: Quantity,
}

impl Pool {
    pub(super) const EMPTY: Pool = Pool::new(MemoryClass::OffChip, 0);

    /// So many bytes, all of them clean.
    pub(super) const fn new(class: MemoryClass, bytes: u32) -> Pool {
        Pool { class, clean: Quantity::of(bytes), dirty: 0, common: Quantity::of(bytes) }
    }
}
