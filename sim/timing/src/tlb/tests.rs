use super::{Entry, MainTlb, MicroTlb, Part};
use crate::attr::{MemAttr, Outer};
use crate::cache::Replacement;
use crate::vmsa::Mapping;

fn entry(virt: u32, size_log2: u32, asid: u8, global: bool) -> Entry {
    let mapping = Mapping {
        virt,
        phys: virt ^ 0x8000_0000,
        size_log2,
        global,
        domain: 0,
        access: 3,
        never: false,
        attr: MemAttr::WRITE_BACK_ALLOCATE,
        outer: Outer::WriteBackAllocate,
    };
    Entry { mapping, asid, root: 0 }
}

fn page(n: u32, asid: u8) -> Entry {
    entry(n << 12, 12, asid, false)
}

/// Four entries in two sets of two ways, one lock entry.
fn tlb() -> MainTlb {
    MainTlb::new(4, 2, 1, Replacement::Lru).unwrap()
}

fn holds(tlb: &mut MainTlb, n: u32, asid: u8) -> bool {
    tlb.look_up(n << 12, asid).is_some()
}

#[test]
fn translations_belong_to_their_space() {
    let mut tlb = tlb();
    tlb.fill(page(8, 1));
    assert_eq!(tlb.look_up(0x8ABC, 1), Some((page(8, 1), Part::Associative)));
    assert!(!holds(&mut tlb, 8, 2), "another space");
    assert!(!holds(&mut tlb, 9, 1), "another page");
    tlb.fill(entry(9 << 12, 12, 1, true));
    assert!(holds(&mut tlb, 9, 1) && holds(&mut tlb, 9, 2));
}

/// Pages 0, 2, 4 share a set of two ways; 0 was used last before 4 came, so 2 goes.
#[test]
fn a_full_set_loses_its_oldest() {
    let mut tlb = tlb();
    tlb.fill(page(0, 1));
    tlb.fill(page(2, 1));
    assert!(holds(&mut tlb, 0, 1));
    tlb.fill(page(4, 1));
    assert!(holds(&mut tlb, 0, 1) && holds(&mut tlb, 4, 1) && !holds(&mut tlb, 2, 1));
}

#[test]
fn each_page_size_is_one_entry() {
    for size_log2 in [12, 16, 20, 24] {
        let mut tlb = tlb();
        let block = entry(0x4000_0000, size_log2, 7, false);
        tlb.fill(block);
        let last = 0x4000_0000 + ((1 << size_log2) - 1);
        assert_eq!(tlb.look_up(last, 7), Some((block, Part::Associative)), "{size_log2}");
        assert!(tlb.look_up(last + 1, 7).is_none() && tlb.look_up(last, 8).is_none());
        tlb.invalidate(false, |entry| entry.matches(last, 7));
        assert!(tlb.look_up(last, 7).is_none());
    }
}

#[test]
fn a_locked_translation_survives_any_load() {
    let mut tlb = tlb();
    assert_eq!(tlb.lock(0, page(0, 3)), Ok(None));
    assert!(tlb.lock(1, page(0, 3)).is_err(), "there is one lock entry");
    for n in (2..100).step_by(2) {
        tlb.fill(page(n, 3));
        assert_eq!(tlb.look_up(0, 3), Some((page(0, 3), Part::Locked(0))));
    }
    assert!(!holds(&mut tlb, 0, 4));
    assert_eq!(tlb.lock(0, page(1, 3)), Ok(Some(page(0, 3))));
    assert!(!holds(&mut tlb, 0, 3) && holds(&mut tlb, 1, 3));
}

#[test]
fn invalidation_reaches_locked_entries_only_when_told() {
    let mut tlb = tlb();
    tlb.fill(page(1, 1));
    tlb.lock(0, page(7, 1)).unwrap();
    tlb.invalidate(false, |_| true);
    assert!(!holds(&mut tlb, 1, 1) && holds(&mut tlb, 7, 1));
    tlb.invalidate(true, |entry| entry.asid == 2);
    assert!(holds(&mut tlb, 7, 1));
    tlb.invalidate(true, |entry| entry.asid == 1);
    assert!(!holds(&mut tlb, 7, 1));
}

/// Two entries: the third takes the place of the first.
#[test]
fn a_micro_tlb_replaces_in_turn() {
    let mut micro = MicroTlb::new(2);
    for n in 1..=3 {
        micro.fill(page(n, 1));
    }
    assert_eq!(micro.look_up(0x1000, 1), None);
    assert_eq!(micro.look_up(0x2FFF, 1), Some(page(2, 1)));
    assert_eq!(micro.look_up(0x3000, 1), Some(page(3, 1)));
    assert_eq!(micro.look_up(0x3000, 2), None);
    micro.flush();
    assert_eq!(micro.look_up(0x3000, 1), None);
}
