//! Looking at tables: one address, a range that the kernel is to access, and what is mapped in the order of addresses.

use units::{Bytes, PhysAddr, VirtAddr};

use super::attributes::{Attributes, Privilege};
use super::descriptor::{First, Second};
use super::memory::{Placement, TableMemory};
use super::shape::Unit;
use super::tables::Tables;
use super::{PAGE_LOG2, TABLE_BYTES, TABLE_ENTRIES};
use crate::AccessKind;

/// Most empty descriptors that one step of a search passes.
pub const SEARCH_ENTRIES: u32 = 32;

/// A translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Physical address of the byte asked for.
    pub physical: PhysAddr<u32>,
    /// Size of the page that it is in.
    pub unit: Unit,
    /// Its attributes.
    pub attributes: Attributes,
    /// Location of its second-level table; `None` for a section, which needs none.
    pub table: Option<Placement>,
}

/// Result of one step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The first mapped address at or above the one asked for, and its translation.
    Found(VirtAddr<u32>, Found),
    /// Nothing below this address, which is above the one asked for: the search goes on from it.
    From(VirtAddr<u32>),
    /// Nothing more.
    End,
}

impl<M: TableMemory> Tables<M> {
    /// The translation of an address; `None` where nothing is mapped.
    ///
    /// # Time complexity
    /// Two descriptors, as the hardware's walk.
    pub fn lookup(&self, VirtAddr(virt): VirtAddr<u32>) -> Option<Found> {
        let page = virt >> PAGE_LOG2;
        if page >= self.split().pages() {
            return None;
        }
        let found = |base: u32, unit: Unit, attributes, table| {
            Some(Found { physical: PhysAddr(base | virt & (unit.bytes() - 1)), unit, attributes, table })
        };
        match self.first(page) {
            First::Section(base, attributes) => found(base.address(), Unit::Section, attributes, None),
            First::Table(table) => {
                let lies = Some(self.memory.placement(PhysAddr(table.address())));
                match self.second(table.address() + 4 * (page & 255)) {
                    Second::Large(base, attributes) => found(base.address(), Unit::Large, attributes, lies),
                    Second::Small(base, attributes) => found(base.address(), Unit::Small, attributes, lies),
                    Second::Fault => None,
                }
            }
            First::Fault | First::Supersection(..) => None,
        }
    }

    /// Returns true if the kernel may access `bytes` bytes from `virt` on on the domain's behalf:
    /// each of them is mapped with rights that permit the domain the same, and is normal memory. An
    /// empty range is granted anywhere: nothing is accessed.
    ///
    /// # Time complexity
    /// Two descriptors for each page or section that the range touches: for `b` bytes at most `b / 4096 + 2` look-ups.
    pub fn permits(&self, VirtAddr(virt): VirtAddr<u32>, Bytes(bytes): Bytes<u32>, kind: AccessKind) -> bool {
        let (mut at, end) = (u64::from(virt), u64::from(virt) + u64::from(bytes));
        if end > 1 << 32 {
            return false;
        }
        while at < end {
            match self.lookup(VirtAddr(at as u32)) {
                Some(Found { attributes, unit, .. })
                    if attributes.rights().permits(Privilege::User, kind) && !attributes.memory().is_device() =>
                {
                    at = (at | u64::from(unit.bytes() - 1)) + 1;
                }
                _ => return false,
            }
        }
        true
    }

    /// Takes one step of a search for what is mapped at or above an address. A restart uses it to
    /// take everything away from a stopped domain.
    ///
    /// # Time complexity
    /// [`SEARCH_ENTRIES`] and two descriptors.
    pub fn next_step(&self, VirtAddr(from): VirtAddr<u32>) -> Next {
        let (mut page, end) = (from >> PAGE_LOG2, self.split().pages());
        for _ in 0..SEARCH_ENTRIES {
            if page >= end {
                return Next::End;
            }
            // An empty entry of the first level is passed at once, one of the second by itself; neither is decoded.
            let empty = |at: u32| self.word(at) & 0b11 == 0;
            let first = self.word(self.first_at(page));
            let is_table = first & 0b11 == 0b01;
            let table = first & !(TABLE_BYTES - 1);
            if first & 0b11 != 0 && !(is_table && empty(table + 4 * (page & (TABLE_ENTRIES - 1)))) {
                let at = VirtAddr((page << PAGE_LOG2).max(from));
                if let Some(found) = self.lookup(at) {
                    return Next::Found(at, found);
                }
            }
            page = if is_table { page + 1 } else { (page | (TABLE_ENTRIES - 1)) + 1 };
        }
        if page >= end { Next::End } else { Next::From(VirtAddr(page << PAGE_LOG2)) }
    }
}
