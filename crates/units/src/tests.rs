use crate::{Bytes, PhysAddr, PhysRange};

fn range(base: u64, end: u64) -> PhysRange {
    PhysRange::from_bounds(PhysAddr(base), PhysAddr(end)).unwrap()
}

#[test]
fn a_range_whose_end_is_below_its_base_is_refused() {
    assert_eq!(PhysRange::from_bounds(PhysAddr(2), PhysAddr(1)), None);
}

#[test]
fn a_range_is_half_open() {
    let r = range(0x100, 0x200);
    assert!(r.contains(PhysAddr(0x100)) && r.contains(PhysAddr(0x1ff)));
    assert!(!r.contains(PhysAddr(0x200)) && !r.contains(PhysAddr(0xff)));
    assert_eq!(r.size(), Bytes(0x100));
    assert!(!r.is_empty() && range(5, 5).is_empty());
}

/// Containment and overlap agree with the sets of bytes, for every pair of ranges within 0..7.
#[test]
fn ranges_agree_with_sets_of_bytes() {
    let all = || (0..7u64).flat_map(|b| (b..7).map(move |e| range(b, e)));
    for x in all() {
        for y in all() {
            let common = (0..7).filter(|&a| x.contains(PhysAddr(a)) && y.contains(PhysAddr(a))).count() as u64;
            assert_eq!(x.overlaps(y), common > 0, "{x} {y}");
        }
    }
}

#[test]
fn alignment_refuses_zero_and_overflow() {
    assert!(PhysAddr(0x40).is_aligned(Bytes(0x20)) && !PhysAddr(0x41).is_aligned(Bytes(0x20)));
    assert!(!PhysAddr(0).is_aligned(Bytes(0)));
    assert!(range(0x40, 0x80).is_aligned(Bytes(0x40)) && !range(0x40, 0x81).is_aligned(Bytes(0x40)));
    assert_eq!(PhysAddr(0x41).align_up(Bytes(0x40)), Some(PhysAddr(0x80)));
    assert_eq!(PhysAddr(u64::MAX).align_up(Bytes(2)), None);
    assert_eq!(PhysAddr(1).align_up(Bytes(0)), None);
}

#[test]
fn distances_and_narrowing_are_checked() {
    assert_eq!(PhysAddr(0x300).offset_from(PhysAddr(0x100)), Some(Bytes(0x200)));
    assert_eq!(PhysAddr(0x100).offset_from(PhysAddr(0x300)), None);
    assert_eq!(PhysAddr(0xffff_ffff).to_u32(), Some(u32::MAX));
    assert_eq!(PhysAddr(0x1_0000_0000).to_u32(), None);
}

#[test]
fn addresses_wrap_at_their_own_width_and_ranges_do_not() {
    let (narrow, wide) = (PhysAddr(u32::MAX - 3), PhysAddr(u64::MAX - 3));
    assert_eq!((narrow.plus(Bytes(8)), wide.plus(Bytes(8))), (PhysAddr(4), PhysAddr(4)));
    assert_eq!((PhysAddr(4).minus(narrow), PhysAddr(4).minus(wide)), (Bytes(8), Bytes(8)));
    assert_eq!(PhysRange::at(narrow, Bytes(8)).end(), PhysAddr(0x1_0000_0004));
    assert_eq!(PhysRange::at(wide, Bytes(8)).end(), PhysAddr(u64::MAX));
    assert_eq!(PhysAddr::<u32>::narrow(narrow.wide()), narrow);
}
