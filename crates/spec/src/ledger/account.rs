//! What one domain has been promised, and one pool of frames.

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

    /// What is left.
    pub const fn left(self) -> u32 {
        self.total - self.used
    }
}

/// The account of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Where its table lies.
    pub table_class: MemoryClass,
    /// Bytes of its table.
    pub table: Quantity,
    /// Registers that paged memory keeps at least, once something is paged (0: what an instruction needs).
    pub paged_slots: u8,
    /// Registers that are pinned.
    pub pinned: u8,
    /// Paged areas that are executed.
    pub code: u16,
    /// Paged areas that are not.
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
        table_class: MemoryClass::OnChip,
        table: Quantity::of(0),
        paged_slots: 0,
        pinned: 0,
        code: 0,
        data: 0,
        misses: Quantity::of(u32::MAX),
        held: 0,
        dirty: 0,
    };
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
}

impl Pool {
    pub(crate) const EMPTY: Pool = Pool { class: MemoryClass::OffChip, clean: Quantity::of(0), dirty: 0 };
}
