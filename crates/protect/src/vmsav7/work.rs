//! The state of the edit under way in the tables of a domain.

use units::VirtAddr;

use super::attributes::Attributes;
use super::memory::Placement;

/// Most invalidations that one step owes.
pub const WINDOWS: usize = 32;

/// Why an edit changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Another edit of these tables is under way.
    Busy,
    /// Addresses or sizes are not multiples of 4 KiB, or of what a table needs; or there is nothing to map.
    Misaligned,
    /// Some byte is beyond what these tables translate, or beyond physical memory.
    Outside,
    /// The mapping would be global, or of use to the kernel only: tables of domains hold neither.
    Rights,
    /// Something is mapped at this address.
    Mapped {
        /// The page.
        at: VirtAddr<u32>,
    },
    /// Nothing is mapped at this address.
    NotMapped {
        /// The page.
        at: VirtAddr<u32>,
    },
    /// Too few second-level tables of this placement are free.
    NoTables {
        /// Their placement.
        placement: Placement,
        /// So many are needed.
        needed: u32,
        /// So many are free.
        free: u32,
    },
    /// The table for this address lies elsewhere than the mapping asks, or the first-level table cannot keep what it asks.
    Placement {
        /// The page.
        at: VirtAddr<u32>,
        /// Placement of the table.
        lies: Placement,
    },
}

/// How an edit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Take another step.
    More,
    /// It is done, and no TLB holds what it took out.
    Done,
    /// It was refused, and nothing has changed.
    Refused(Refused),
}

/// Purpose of an edit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// The frame of the first page, numbered in small pages.
    Map {
        frame: u32,
        attributes: Attributes,
    },
    Unmap,
}

/// A range under edit, in small pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    pub goal: Goal,
    pub placement: Placement,
    pub first: u32,
    pub end: u32,
    /// The first page that has not been looked at, or changed, yet.
    pub at: u32,
    /// Second-level tables that it will take.
    pub tables: u32,
}

impl Edit {
    /// The last page before the next first-level entry, or the end.
    pub fn slot_end(&self) -> u32 {
        ((self.at | 255) + 1).min(self.end)
    }
}

/// The edit under way, by what its next step does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    Idle,
    /// The first-level table is cleared from this entry on.
    Clear(u32),
    /// Nothing has changed yet.
    Check(Edit),
    /// All is checked; the first table that was lent is cleared from this entry on.
    Wipe(Edit, u32),
    /// All is checked: it cannot fail any more.
    Write(Edit),
    /// A table is filled from this entry on, to stand for the section at the edit's page.
    Build(Edit, u32, u32),
    /// Pages have been taken out of the table of the slot before the edit's page: is anything left in it, from this entry on?
    Sweep(Edit, u32, u32),
    Refused(Refused),
}

/// The action that follows when a debt has been settled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Nothing,
    /// One descriptor.
    Link {
        at: u32,
        word: u32,
    },
    /// Sixteen small pages where a large one was.
    Shatter {
        at: u32,
        frame: u32,
        attributes: Attributes,
    },
    /// A table that is in no walk any more.
    Return(u32),
}

/// Maintenance that a step owes before it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debt {
    pub open: bool,
    pub wrote: bool,
    count: u8,
    addresses: [VirtAddr<u32>; WINDOWS],
    pub then: Then,
}

impl Debt {
    pub const NONE: Debt =
        Debt { open: false, wrote: false, count: 0, addresses: [VirtAddr(0); WINDOWS], then: Then::Nothing };

    pub fn addresses(&self) -> &[VirtAddr<u32>] {
        &self.addresses[..usize::from(self.count)]
    }

    /// An entry was taken out that translated this page.
    pub fn add(&mut self, page: u32) {
        self.addresses[usize::from(self.count)] = VirtAddr(page << super::PAGE_LOG2);
        self.count += 1;
        self.wrote = true;
    }

    /// Returns true if another can be added.
    pub const fn is_full(&self) -> bool {
        self.count as usize == WINDOWS
    }
}
