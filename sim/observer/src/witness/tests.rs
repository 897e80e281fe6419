use record::{DomainWatch, Range, Watch};

use super::{FRESH, Witnesses, hash_into};

#[test]
fn every_changed_byte_changes_the_hash() {
    let mut memory = [0u8; 100];
    let hash = |memory: &[u8]| {
        let mut state = FRESH;
        hash_into(&mut state, memory);
        state
    };
    let clean = hash(&memory);
    for index in 0..memory.len() {
        memory[index] = 0x80;
        assert_ne!(hash(&memory), clean, "byte {index}");
        memory[index] = 0;
    }
}

#[test]
fn a_store_over_ranges_that_follow_one_another_is_inside() {
    let range = |start, end| Range { start, end };
    let own =
        DomainWatch { domain: 1, hostile: true, ram: vec![range(0x100, 0x120)], may_store: vec![range(0x120, 0x122)] };
    let watch = Watch { domains: vec![own], ..Watch::default() };
    let mut witness = Witnesses::new(&watch);
    witness.follow(1);
    let outside = |witness: &mut Witnesses, at| witness.stores_outside(at, 4);
    assert!(!outside(&mut witness, 0x11c) && !outside(&mut witness, 0x11e));
    assert!(outside(&mut witness, 0x11f), "its last byte is nobody's");
    assert!(outside(&mut witness, 0xfe), "its first byte is nobody's");
    assert_eq!((witness.seen().stores, witness.seen().stores_outside), (4, 2));
}
