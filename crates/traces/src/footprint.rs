//! Pages that a history maps: those that were touched, and not given back since.

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;

use memory::demand::{Below, Counts, Deferred, DemandHeap, KeptHeap, Layout, Made, PAGE, Refused, Regions};
use memory::heap::{Error, GRANULE, HEADER, Storage, Word};

use crate::action::Action;

/// The first address of the heap.
const BASE: u32 = 0x9000_0000;

/// How a heap treats pages that no block meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// They are given back at once: [`DemandHeap`].
    Released,
    /// They are kept until the end of the heap is free: [`KeptHeap`].
    Kept,
}

/// Pages that a history maps with a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Pages mapped at once, at most.
    pub peak: usize,
    /// Pages that one release has unmapped, at most.
    pub most_released: usize,
    /// First touches.
    pub touches: u32,
}

/// The footprint of a history in such a memory, with so many blocks at once.
///
/// # Errors
/// As the heap's.
pub fn footprint(
    policy: Policy,
    (layout, count): (Layout, u32),
    actions: impl Iterator<Item = Action>,
) -> Result<Footprint, Error> {
    let table = Table::default();
    let memory =
        Sparse { records: vec![0; (layout.records / 4) as usize], headers: BTreeMap::new(), table: table.clone() };
    let piece = BASE + layout.fixed * PAGE;
    table.borrow_mut().first = piece;
    let mut grown = vec![0; layout.piece as usize];
    let pages = Pages(table.clone());
    let mut slots = vec![0; count as usize];
    match policy {
        Policy::Released => {
            let counts = Numbers(vec![0; layout.piece as usize]);
            let memory = Deferred::new(memory, counts, piece, layout.piece);
            let mut heap = DemandHeap::new(memory, &layout, BASE, count, pages)?;
            for action in actions {
                perform(action, &mut slots, &table, &mut heap, DemandHeap::alloc, DemandHeap::free)?;
            }
        }
        Policy::Kept => {
            let memory = Deferred::new(memory, Below::default(), piece, layout.piece);
            let mut heap = KeptHeap::new(memory, &layout, BASE, pages, &mut grown)?;
            for action in actions {
                perform(action, &mut slots, &table, &mut heap, KeptHeap::alloc, KeptHeap::free)?;
            }
        }
    }
    let found = table.borrow().found;
    Ok(found)
}

fn perform<H>(
    action: Action,
    slots: &mut [u32],
    table: &Table,
    heap: &mut H,
    alloc: impl Fn(&mut H, u32) -> Result<u32, Error>,
    free: impl Fn(&mut H, u32) -> Result<(), Error>,
) -> Result<(), Error> {
    match action {
        Action::Alloc { slot, bytes } => slots[slot as usize] = alloc(heap, bytes)?,
        Action::Free { slot } => {
            let before = table.borrow().mapped.len();
            free(heap, slots[slot as usize])?;
            let mut table = table.borrow_mut();
            let gone = before - table.mapped.len();
            table.found.most_released = table.found.most_released.max(gone);
        }
        Action::Touch { slot, offset, .. } => table.borrow_mut().touch(slots[slot as usize] + offset),
    }
    Ok(())
}

/// Regions, and the pages of them that are mapped.
#[derive(Debug, Default)]
struct Space {
    /// The first page of each, and the page behind it.
    regions: BTreeMap<u32, u32>,
    mapped: BTreeSet<u32>,
    /// Address of page 0.
    first: u32,
    found: Footprint,
}

type Table = Rc<RefCell<Space>>;

impl Space {
    fn touch(&mut self, at: u32) {
        let page = (at - self.first) / PAGE;
        if self.mapped.insert(page) {
            self.found.touches += 1;
            self.found.peak = self.found.peak.max(self.mapped.len());
        }
    }
}

struct Pages(Table);

impl Regions for Pages {
    fn map(&mut self, made: Made) -> Result<(), Refused> {
        let Made { first, pages, first_alone, last_alone } = made;
        let end = first + pages;
        let cuts = [Some(first), first_alone.then_some(first + 1), last_alone.then_some(end - 1)];
        let starts: BTreeSet<u32> = cuts.into_iter().flatten().filter(|at| *at < end).collect();
        let ends: Vec<u32> = starts.iter().skip(1).copied().chain([end]).collect();
        self.0.borrow_mut().regions.extend(starts.into_iter().zip(ends));
        Ok(())
    }

    fn unmap(&mut self, first: u32, count: u32) -> Result<(), Refused> {
        let mut space = self.0.borrow_mut();
        let mut at = first;
        for _ in 0..count {
            let end = space.regions.remove(&at).ok_or(Refused)?;
            let pages: Vec<u32> = space.mapped.range(at..end).copied().collect();
            pages.iter().for_each(|page| _ = space.mapped.remove(page));
            at = end;
        }
        Ok(())
    }
}

struct Numbers(Vec<u16>);

impl Counts for Numbers {
    fn get(&self, page: u32) -> u16 {
        self.0[page as usize]
    }
    fn set(&mut self, page: u32, count: u16) {
        self.0[page as usize] = count;
    }
}

/// Records, and the words before blocks, whose pages are touched with them.
struct Sparse {
    records: Vec<u32>,
    headers: BTreeMap<u32, u32>,
    table: Table,
}

impl Sparse {
    fn is_block(&self, block: u32) -> bool {
        block.is_multiple_of(GRANULE) && block > BASE + self.records.len() as u32 * 4
    }
}

impl Storage for Sparse {
    /// The index of a record's first word.
    type Place = usize;

    fn place(&self, at: u32) -> Option<usize> {
        let index = (at.checked_sub(BASE)? / 4) as usize;
        (at.is_multiple_of(8) && index + 6 <= self.records.len()).then_some(index)
    }
    fn address(place: usize) -> u32 {
        BASE + 4 * place as u32
    }
    fn load(&self, place: usize, word: Word) -> u32 {
        self.records[place + word as usize]
    }
    fn store(&mut self, place: usize, word: Word, value: u32) {
        self.records[place + word as usize] = value;
    }
    fn header(&self, block: u32) -> Option<u32> {
        self.is_block(block).then(|| self.headers.get(&block).copied().unwrap_or(0))
    }
    fn set_header(&mut self, block: u32, value: u32) {
        self.headers.insert(block, value);
        self.table.borrow_mut().touch(block - HEADER);
    }
    fn copy(&mut self, _: u32, _: u32, _: u32) -> Option<()> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{COUNT, LARGE};
    use crate::{Synthetic, arena};

    fn found(policy: Policy, layout: Layout, actions: Synthetic) -> Footprint {
        footprint(policy, (layout, COUNT as u32), actions).unwrap()
    }

    #[test]
    fn pages_that_are_given_back_are_never_more_than_pages_that_are_kept() {
        let found = |policy| found(policy, arena::layout(COUNT as u32).unwrap(), Synthetic::new(Synthetic::ACTIONS, 1));
        let (released, kept) = (found(Policy::Released), found(Policy::Kept));
        assert!(released.peak < kept.peak && kept.peak <= Synthetic::PAGES as usize, "{released:?} {kept:?}");
        assert!(released.most_released <= 14 && kept.most_released > 50, "{released:?} {kept:?}");
    }

    #[test]
    fn with_large_blocks_pages_that_are_kept_are_three_times_as_many() {
        let found = |policy| found(policy, arena::widest(), Synthetic::within(LARGE, Synthetic::ACTIONS, 1));
        let (released, kept) = (found(Policy::Released), found(Policy::Kept));
        assert!(3 * released.peak < kept.peak && released.peak > 2900, "{released:?} {kept:?}");
    }
}
