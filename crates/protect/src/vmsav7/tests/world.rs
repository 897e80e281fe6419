//! Table memory that counts and objects, and a TLB that keeps whatever it was ever shown until it is told to forget.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::vec::Vec;

use super::descriptors::{Read, first, second};
use crate::vmsav7::*;
use units::{PhysAddr, VirtAddr};

/// On-chip from here, locked ways from [`WAYS`], off the chip below.
pub const OCM: u32 = 0xfffc_0000;
pub const WAYS: u32 = 0x3000_0000;
pub const SPACE: Asid = Asid(7);

/// An entry of the TLB: first virtual address, and what a walk read.
pub type Entry = (u32, Read);

#[derive(Debug, Default)]
pub struct Chip {
    pub words: BTreeMap<u32, u32>,
    pub accesses: u64,
    pub root: u32,
    pub tlb: Vec<Entry>,
    /// Second-level tables that are linked.
    pub linked: BTreeSet<u32>,
    /// Written since the last `DSB`.
    pub unpublished: BTreeSet<u32>,
    /// Invalidated since the last wait.
    pub waiting: bool,
    pub invalidations: usize,
}

impl Chip {
    pub fn word(&self, at: u32) -> u32 {
        self.words.get(&at).copied().unwrap_or_else(|| panic!("{at:#x} is no table's memory"))
    }

    /// The hardware's walk.
    pub fn walk(&self, virt: u32) -> Option<Entry> {
        let read = match first(self.word(self.root + (virt >> 20) * 4)) {
            Ok(read) => read,
            Err(table) => second(self.word(table + (virt >> 12 & 255) * 4)),
        }?;
        Some((virt >> read.log2 << read.log2, read))
    }

    /// A walk whose result the TLB keeps.
    pub fn touch(&mut self, virt: u32) {
        if let Some(entry) = self.walk(virt)
            && !self.tlb.contains(&entry)
        {
            let end = |entry: &Entry| u64::from(entry.0) + (1 << entry.1.log2);
            let clash = self.tlb.iter().find(|held| u64::from(held.0) < end(&entry) && u64::from(entry.0) < end(held));
            assert_eq!(clash, None, "two translations of one address: {entry:x?}");
            self.tlb.push(entry);
        }
    }

    /// Returns true if a walk can read this address.
    pub fn is_walked(&self, at: u32) -> bool {
        (self.root..self.root + 4096).contains(&at) || self.linked.contains(&(at & !1023))
    }

    /// Returns true if a walk sees all that was written.
    pub fn is_published(&self) -> bool {
        !self.unpublished.iter().any(|at| self.is_walked(*at))
    }

    fn forget(&mut self, address: u32) {
        self.tlb.retain(|(base, read)| address >> read.log2 << read.log2 != *base);
    }

    /// Returns true if an entry is what a walk would find now.
    pub fn is_fresh(&self, (base, read): &Entry) -> bool {
        let mut pages = (0..1u32 << (read.log2 - 12)).map(|page| base + (page << 12));
        pages.all(|virt| self.walk(virt) == Some((*base, *read)))
    }
}

#[derive(Clone, Debug, Default)]
pub struct World(pub Rc<RefCell<Chip>>);

impl World {
    pub fn add(&self, at: u32, bytes: u32) -> u32 {
        (at..at + bytes).step_by(4).for_each(|at| _ = self.0.borrow_mut().words.insert(at, 0xdead_beef));
        at
    }
}

impl TableMemory for World {
    fn word(&self, PhysAddr(at): PhysAddr<u32>) -> u32 {
        self.0.borrow_mut().accesses += 1;
        self.0.borrow().word(at)
    }

    fn set_word(&mut self, PhysAddr(at): PhysAddr<u32>, value: u32) {
        let mut chip = self.0.borrow_mut();
        chip.accesses += 1;
        chip.unpublished.insert(at);
        let old = chip.words.insert(at, value).unwrap_or_else(|| panic!("{at:#x} is no table's memory"));
        // A descriptor that a TLB can hold is taken out before another is put in.
        if old != value && chip.is_walked(at) {
            assert!(old & 3 == 0 || value & 3 == 0, "{at:#x}: {old:#x} becomes {value:#x} without a break");
        }
        if (chip.root..chip.root + 4096).contains(&at) {
            if let Err(table) = first(old) {
                chip.linked.remove(&table);
            }
            if let Err(table) = first(value) {
                let early = chip.unpublished.range(table..table + 1024).any(|at| chip.word(*at) & 3 != 0);
                assert!(!early, "a table is linked before what it maps can be seen");
                assert!(chip.linked.insert(table), "a table is linked twice");
            }
        }
    }

    fn placement(&self, at: PhysAddr<u32>) -> Placement {
        match at.0 {
            OCM.. => Placement::OnChip,
            WAYS.. => Placement::LockedWays,
            _ => Placement::OffChip,
        }
    }
}

impl Maintenance for World {
    fn publish(&mut self) {
        self.0.borrow_mut().unpublished.clear();
    }

    fn invalidate_page(&mut self, asid: Asid, VirtAddr(address): VirtAddr<u32>) {
        assert_eq!(asid, SPACE);
        let mut chip = self.0.borrow_mut();
        assert!(chip.is_published(), "invalidated before walks see what was written");
        chip.invalidations += 1;
        chip.waiting = true;
        chip.forget(address);
    }

    fn invalidate_space(&mut self, _: Asid) {
        unreachable!("tables invalidate by address");
    }

    fn complete(&mut self) {
        self.0.borrow_mut().waiting = false;
    }
}
