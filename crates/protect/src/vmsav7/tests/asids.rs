//! Identifiers against a TLB that remembers for whom each entry was made.

use std::vec::Vec;

use crate::testing::Rng;
use crate::vmsav7::*;
use units::VirtAddr;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    asid: Asid,
    owner: usize,
    address: u32,
    locked: bool,
}

#[derive(Default)]
struct Tlb(Vec<Entry>);

impl Maintenance for Tlb {
    fn publish(&mut self) {}

    fn invalidate_page(&mut self, asid: Asid, VirtAddr(address): VirtAddr<u32>) {
        self.0.retain(|entry| (entry.asid, entry.address) != (asid, address));
    }

    fn invalidate_space(&mut self, asid: Asid) {
        self.0.retain(|entry| entry.asid != asid);
    }

    fn invalidate_all(&mut self) {
        self.0.retain(|entry| entry.locked);
    }

    fn complete(&mut self) {}
}

#[test]
fn no_domain_ever_meets_anothers_entry() {
    let (mut rolls, mut locks, mut kept) = (0, 0, 0);
    for seed in 1..=20 {
        let mut random = Rng::new(seed);
        let (mut asids, mut tlb) = (Asids::new(), Tlb::default());
        let mut domains: Vec<Option<Tag>> = [None; 400].to_vec();
        let mut slots: Vec<(usize, usize)> = Vec::new();
        for _ in 0..6000 {
            let domain = random.below(400) as usize;
            let old = domains[domain];
            // A bill that is dropped is owed again.
            if random.chance(10) {
                drop(asids.acquire(None));
            }
            rolls += u32::from(asids.owed().all);
            let tag = asids.acquire(old).settle(&mut tlb);
            assert!(asids.is_valid(tag) && tag.asid().number() != 0);
            domains[domain] = Some(tag);
            let foreign = tlb.0.iter().find(|entry| entry.asid == tag.asid() && entry.owner != domain);
            assert_eq!(foreign, None, "domain {domain} runs with {tag:?}");
            kept += u32::from(slots.iter().any(|(_, owner)| *owner == domain));
            let address = random.below(16) as u32 * 4096;
            let held = tlb.0.iter().any(|entry| entry.asid == tag.asid() && entry.address == address);
            let entry = Entry { asid: tag.asid(), owner: domain, address, locked: false };
            match random.below(40) {
                0 if !held => match asids.lock(tag, VirtAddr(address)) {
                    Ok(slot) => {
                        assert!(slots.iter().all(|(taken, _)| *taken != slot));
                        tlb.0.push(Entry { locked: true, ..entry });
                        slots.push((slot, domain));
                        locks += 1;
                    }
                    Err(error) => assert_eq!((error, slots.len()), (AsidError::NoSlot, LOCK_SLOTS)),
                },
                1 if !slots.is_empty() => {
                    let (slot, owner) = slots.swap_remove(random.below(slots.len() as u64) as usize);
                    assert!(asids.is_locked(domains[owner].unwrap()));
                    asids.unlock(slot).unwrap().settle(&mut tlb);
                    assert_eq!(asids.unlock(slot).unwrap_err(), AsidError::NotLocked);
                }
                _ if !held => tlb.0.push(entry),
                _ => {}
            }
            assert_eq!(asids.free_slots() + slots.len(), LOCK_SLOTS);
            let locked = tlb.0.iter().filter(|entry| entry.locked).count();
            assert_eq!(locked, slots.len(), "a locked entry was lost, or outlives its slot");
        }
    }
    assert!(rolls > 40 && locks > 100 && kept > 100, "{rolls} {locks} {kept}");
}

#[test]
fn an_identifier_of_another_generation_locks_nothing() {
    let (mut asids, mut tlb) = (Asids::new(), Tlb::default());
    let first = asids.acquire(None).settle(&mut tlb);
    let locked = asids.acquire(None).settle(&mut tlb);
    asids.lock(locked, VirtAddr(0x1000)).unwrap();
    for _ in 0..300 {
        let other = asids.acquire(None).settle(&mut tlb);
        assert_ne!(other.asid(), locked.asid());
    }
    assert_eq!(asids.lock(first, VirtAddr(0x1000)), Err(AsidError::Stale));
    assert!(!asids.is_valid(first) && asids.is_valid(locked));
    assert_eq!(asids.acquire(Some(locked)).settle(&mut tlb), locked);
    assert_ne!(asids.acquire(Some(first)).settle(&mut tlb), first);
}
