use super::super::class::{CLASSES, class_floor, class_for, class_of, found_from};
use super::super::{GRANULE, MAX_BLOCK_LOG2, MAX_REQUEST, MIN_BLOCK, block_for};

/// Every size up to 64 KiB, and those around each border of a class above.
fn sizes() -> impl Iterator<Item = u32> {
    let borders =
        (0..CLASSES as u32).map(class_floor).flat_map(|floor| [floor.saturating_sub(GRANULE), floor, floor + GRANULE]);
    let low = (MIN_BLOCK..65536).step_by(GRANULE as usize);
    low.chain(borders).filter(|size| (MIN_BLOCK..1 << MAX_BLOCK_LOG2).contains(size))
}

#[test]
fn every_size_lies_in_its_class_and_classes_follow_each_other() {
    for size in sizes() {
        let class = class_of(size);
        assert!((class as usize) < CLASSES, "{size}");
        assert!(class_floor(class) <= size, "{size}");
        assert!(class as usize == CLASSES - 1 || size < class_floor(class + 1), "{size}");
    }
    (0..CLASSES as u32).filter(|class| class_floor(*class) >= MIN_BLOCK).for_each(|class| {
        assert_eq!(class_of(class_floor(class)), class);
    });
    assert_eq!(class_of((1 << MAX_BLOCK_LOG2) - GRANULE) as usize, CLASSES - 1);
}

#[test]
fn a_search_begins_at_the_first_class_that_always_fits() {
    for size in sizes().filter(|size| *size <= block_for(MAX_REQUEST)) {
        let class = class_for(size);
        assert!(class_floor(class) >= size && class_floor(class - 1) < size, "{size}");
        assert_eq!(class_floor(class), found_from(size), "{size}");
        assert!(found_from(size) - size < (size / 16).max(GRANULE), "{size}");
    }
}

#[test]
fn requests_are_rounded_to_blocks() {
    assert_eq!([0, 1, 12, 13, 20, 21].map(block_for), [16, 16, 16, 24, 24, 32]);
    assert_eq!(class_for(block_for(MAX_REQUEST)) as usize, CLASSES - 1);
}
