//! The sequences, performed on a TLB with lock slots and on a cache with ways that can be closed.

use std::vec;
use std::vec::Vec;

use crate::testing::Rng;
use crate::vmsav7::Asid;
use crate::vmsav7::lockdown::*;
use units::VirtAddr;

/// A TLB as DDI 0388I describes it: walks go where the lockdown register says.
#[derive(Default)]
struct Tlb {
    register: u32,
    slots: [Option<u32>; 4],
    main: Vec<u32>,
    /// A write of the lockdown register, or an invalidation, that nothing has waited for.
    pending: bool,
}

impl Tlb {
    fn perform(&mut self, asid: u32, step: Step) {
        match step {
            Step::Dsb => {}
            Step::Isb => self.pending = false,
            Step::InvalidateEntry { value } => {
                self.main.retain(|key| *key != value);
                self.slots.iter_mut().filter(|slot| **slot == Some(value)).for_each(|slot| *slot = None);
                self.pending = true;
            }
            Step::TlbLockdown { value } => (self.register, self.pending) = (value, true),
            Step::Touch { address: VirtAddr(address) } => {
                assert!(!self.pending, "the load may overtake what was written before it");
                let key = address & !0xfff | asid;
                if !self.main.contains(&key) && !self.slots.contains(&Some(key)) {
                    match self.register & 1 {
                        1 => self.slots[(self.register >> 28) as usize] = Some(key),
                        _ => self.main.push(key),
                    }
                }
            }
            other => panic!("no step of a TLB: {other:?}"),
        }
    }
}

#[test]
fn an_entry_is_locked_in_its_slot_and_taken_out() {
    let (mut tlb, asid) = (Tlb::default(), Asid(9));
    // It has been used before, so that a load alone would hit.
    tlb.perform(9, Step::Touch { address: VirtAddr(0x1234_5678) });
    for (slot, address) in [(2, 0x1234_5678), (0, 0x2000_0000)] {
        lock_entry(slot, asid, VirtAddr(address)).unwrap().into_iter().for_each(|step| tlb.perform(9, step));
        assert_eq!(tlb.slots[slot], Some(address & !0xfff | 9));
        assert_eq!((tlb.register, tlb.pending), (0, false), "other walks still go into the slot");
    }
    assert!(tlb.main.is_empty());
    tlb.perform(9, Step::Touch { address: VirtAddr(0x3000_0000) });
    assert_eq!((tlb.slots.iter().flatten().count(), tlb.main.len()), (2, 1));
    assert_eq!(lock_entry(4, asid, VirtAddr(0)), None);
}

const SETS: u32 = WAY_BYTES / LINE_BYTES;

/// Both levels for one master: the first holds what it was ever given.
struct Caches {
    first: Vec<u32>,
    /// `[set][way]`.
    second: Vec<[Option<u32>; 8]>,
    data: [u16; 8],
    instructions: [u16; 8],
    random: Rng,
}

impl Caches {
    fn new() -> Caches {
        Caches {
            first: Vec::new(),
            second: vec![[None; 8]; SETS as usize],
            data: [0; 8],
            instructions: [0; 8],
            random: Rng::new(3),
        }
    }

    fn allocate(&mut self, line: u32, closed: u16) {
        let set = &mut self.second[(line % SETS) as usize];
        if set.contains(&Some(line)) {
            return;
        }
        let open: Vec<usize> = (0..8).filter(|way| closed >> way & 1 == 0).collect();
        if open.is_empty() {
            return;
        }
        // An empty way first, as the controller does; else any.
        let empty = open.iter().copied().find(|way| set[*way].is_none());
        set[empty.unwrap_or(open[self.random.below(open.len() as u64) as usize])] = Some(line);
    }

    fn load(&mut self, line: u32) {
        if !self.first.contains(&line) {
            self.first.push(line);
            self.allocate(line, self.data[0]);
        }
    }

    fn fetch(&mut self, line: u32) {
        self.allocate(line, self.instructions[0]);
    }

    fn perform(&mut self, step: Step) {
        let lines = |lines: Lines| lines.base / LINE_BYTES..lines.base / LINE_BYTES + lines.count;
        match step {
            Step::Dsb | Step::Sync => {}
            Step::CleanFirstLevel(range) => self.first.retain(|line| !lines(range).contains(line)),
            Step::CleanSecondLevel(range) => {
                let gone = |line: &Option<u32>| line.is_some_and(|line| lines(range).contains(&line));
                self.second.iter_mut().flatten().filter(|line| gone(line)).for_each(|line| *line = None);
            }
            Step::CleanWays { ways } => {
                for set in &mut self.second {
                    (0..8).filter(|way| ways >> way & 1 != 0).for_each(|way| set[way] = None);
                }
            }
            Step::Lock { offset, ways } => {
                let of = if offset & 4 == 0 { &mut self.data } else { &mut self.instructions };
                of[usize::from((offset - 0x900) / 8)] = ways;
            }
            Step::Load(range) => {
                for line in lines(range) {
                    self.load(line);
                    // Something is fetched meanwhile, from sets that have not been filled yet, too.
                    self.fetch(0x0400_0000 + (line ^ 1));
                }
            }
            other => panic!("no step of a cache: {other:?}"),
        }
    }

    fn in_ways(&self, base: u32, bytes: u32, ways: u16) -> bool {
        (base / LINE_BYTES..(base + bytes) / LINE_BYTES).all(|line| {
            let set = &self.second[(line % SETS) as usize];
            (0..8).any(|way| ways >> way & 1 != 0 && set[way] == Some(line))
        })
    }
}

#[test]
fn tables_are_in_their_ways_and_stay_there() {
    let mut caches = Caches::new();
    let other = |caches: &mut Caches| {
        for _ in 0..20_000 {
            let line = 0x0200_0000 + caches.random.below(1 << 18) as u32;
            caches.allocate(line, caches.data[0]);
            caches.fetch(line ^ 0x0100_0000);
        }
    };
    other(&mut caches);
    // Some of the tables have been used before.
    let first = LockWays { locked: 0, fill: 0b0000_0100, base: 0x3000_0000, bytes: WAY_BYTES };
    (0..300).for_each(|index| caches.load(first.base / LINE_BYTES + 5 * index));
    first.steps().unwrap().for_each(|step| caches.perform(step));
    assert!(caches.in_ways(first.base, WAY_BYTES, first.fill));
    let second = LockWays { locked: 0b100, fill: 0b1000_0001, base: 0x3001_0400, bytes: 2 * WAY_BYTES - 0x800 };
    second.steps().unwrap().for_each(|step| caches.perform(step));
    for _ in 0..3 {
        assert!(caches.in_ways(first.base, WAY_BYTES, first.fill));
        assert!(caches.in_ways(second.base, second.bytes, second.fill));
        other(&mut caches);
    }
    assert_eq!((caches.data, caches.instructions), ([0b1000_0101; 8], [0b1000_0101; 8]));
}

#[test]
fn ways_are_closed_without_anything_in_them_and_all_of_them_can_be() {
    let mut caches = Caches::new();
    LockWays { locked: 0, fill: u16::MAX, base: 0, bytes: 0 }.steps().unwrap().for_each(|step| caches.perform(step));
    (0..1000).for_each(|line| caches.allocate(line, caches.data[0]));
    assert!(caches.second.iter().flatten().all(Option::is_none));
}

#[test]
fn ways_that_cannot_be_locked_are_refused() {
    let refused = |locked, fill, base, bytes| LockWays { locked, fill, base, bytes }.steps().err();
    assert_eq!(refused(0, 0, 0, 0), Some(WaysError::Nothing));
    assert_eq!(refused(0b11, 0b110, 0, WAY_BYTES), Some(WaysError::Locked));
    assert_eq!(refused(0, 1, 0, WAY_BYTES + 32), Some(WaysError::TooMuch));
    assert_eq!(refused(0, 1, 0x10, WAY_BYTES), Some(WaysError::Misaligned));
    assert_eq!(refused(0, 1, 0x20, 0x110), Some(WaysError::Misaligned));
    assert_eq!(refused(0, 0b11, 0xffff_0000, 2 * WAY_BYTES), Some(WaysError::Misaligned));
    assert_eq!(refused(0xf0, 0x0f, 0x1_0000, 4 * WAY_BYTES), None);
}
