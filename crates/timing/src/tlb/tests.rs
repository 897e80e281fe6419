use crate::cache::Replacement;
use crate::tlb::{Space, Tlb, TlbGeometry};

/// Four entries in two sets of two ways, one lock slot.
fn tlb() -> Tlb {
    Tlb::new(TlbGeometry { entries: 4, ways: 2, lock_slots: 1 }, Replacement::Lru).unwrap()
}

#[test]
fn translations_belong_to_their_space() {
    let mut tlb = tlb();
    tlb.fill(8, Space::Asid(1));
    assert!(tlb.access(8, 1));
    assert!(!tlb.access(8, 2), "another space");
    assert!(!tlb.access(9, 1), "another page");
    tlb.fill(9, Space::Global);
    assert!(tlb.access(9, 1) && tlb.access(9, 2));
}

/// Pages 0, 2, 4 share a set of two ways; 0 was used last before 4 came, so 2 goes.
#[test]
fn a_full_set_loses_its_oldest() {
    let mut tlb = tlb();
    tlb.fill(0, Space::Asid(1));
    tlb.fill(2, Space::Asid(1));
    assert!(tlb.access(0, 1));
    tlb.fill(4, Space::Asid(1));
    assert!(tlb.access(0, 1) && tlb.access(4, 1) && !tlb.access(2, 1));
}

#[test]
fn a_locked_translation_survives_any_load() {
    let mut tlb = tlb();
    assert!(tlb.lock(0, 0, Space::Asid(3)));
    assert!(!tlb.lock(1, 0, Space::Global), "there is one slot");
    for page in (2..100).step_by(2) {
        tlb.fill(page, Space::Asid(3));
        assert!(tlb.access(0, 3));
    }
    assert!(!tlb.access(0, 4));
    assert!(tlb.unlock(0) && !tlb.access(0, 3));
}

#[test]
fn invalidation_reaches_what_it_names() {
    let mut tlb = tlb();
    tlb.fill(1, Space::Asid(1));
    tlb.fill(2, Space::Asid(2));
    tlb.fill(3, Space::Global);
    tlb.lock(0, 7, Space::Asid(1));
    tlb.invalidate_asid(1);
    assert!(!tlb.access(1, 1) && !tlb.access(7, 1));
    assert!(tlb.access(2, 2) && tlb.access(3, 1));
    tlb.invalidate_page(2, Space::Asid(2));
    assert!(!tlb.access(2, 2) && tlb.access(3, 1));
    tlb.invalidate_page(3, Space::Global);
    assert!(!tlb.access(3, 1));
    tlb.fill(2, Space::Asid(2));
    tlb.invalidate_all();
    assert!(!tlb.access(2, 2));
}
