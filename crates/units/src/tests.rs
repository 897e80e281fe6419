use crate::{AddrRange, Bytes, Cycles, Hz, Micros, PhysAddr, PhysRange, Ticks, VirtAddr};

fn range(base: u64, end: u64) -> PhysRange {
    AddrRange::<PhysAddr>::from_bounds(PhysAddr(base), PhysAddr(end)).unwrap()
}

#[test]
fn a_range_whose_end_overflows_is_refused() {
    assert_eq!(PhysRange::new(PhysAddr(u64::MAX - 3), Bytes(4)), None);
    let last = PhysRange::new(PhysAddr(u64::MAX - 3), Bytes(3)).unwrap();
    assert_eq!(last.end(), PhysAddr(u64::MAX));
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

/// Containment, overlap and intersection agree with the sets of bytes, for every pair of ranges within 0..7.
#[test]
fn ranges_agree_with_sets_of_bytes() {
    let all = || (0..7u64).flat_map(|b| (b..7).map(move |e| range(b, e)));
    for x in all() {
        for y in all() {
            let common = (0..7).filter(|&a| x.contains(PhysAddr(a)) && y.contains(PhysAddr(a))).count() as u64;
            assert_eq!(x.overlaps(y), common > 0, "{x} {y}");
            assert_eq!(x.intersection(y).map_or(0, |r| r.size().0), common, "{x} {y}");
            if !y.is_empty() {
                assert_eq!(x.contains_range(y), common == y.size().0, "{x} {y}");
            }
        }
    }
}

#[test]
fn alignment_refuses_zero_and_overflow() {
    assert!(PhysAddr(0x40).is_aligned(Bytes(0x20)) && !PhysAddr(0x41).is_aligned(Bytes(0x20)));
    assert!(!PhysAddr(0).is_aligned(Bytes(0)));
    assert!(range(0x40, 0x80).is_aligned(Bytes(0x40)) && !range(0x40, 0x81).is_aligned(Bytes(0x40)));
    assert_eq!(VirtAddr(0x41).align_down(Bytes(0x40)), Some(VirtAddr(0x40)));
    assert_eq!(VirtAddr(0x41).align_up(Bytes(0x40)), Some(VirtAddr(0x80)));
    assert_eq!(VirtAddr(u64::MAX).align_up(Bytes(2)), None);
    assert_eq!(VirtAddr(1).align_up(Bytes(0)), None);
    assert_eq!(Bytes(33).round_up(Bytes(32)), Some(Bytes(64)));
}

#[test]
fn distances_and_narrowing_are_checked() {
    assert_eq!(PhysAddr(0x300).offset_from(PhysAddr(0x100)), Some(Bytes(0x200)));
    assert_eq!(PhysAddr(0x100).offset_from(PhysAddr(0x300)), None);
    assert_eq!(PhysAddr(0xffff_ffff).to_u32(), Some(u32::MAX));
    assert_eq!(PhysAddr(0x1_0000_0000).to_u32(), None);
    assert_eq!(PhysAddr(3).checked_sub(Bytes(4)), None);
    assert_eq!(Bytes(3).checked_sub(Bytes(4)), None);
    assert_eq!(Bytes(3).saturating_sub(Bytes(4)), Bytes::ZERO);
    assert_eq!(Bytes::kib(16), Bytes(16_384));
    assert_eq!(Bytes::mib(2), Bytes(2_097_152));
}

#[test]
fn conversions_round_as_their_names_say() {
    const CORE: Hz = Hz::mhz(216);
    // 1000 cycles / 216 cycles per us = 4.63 us.
    assert_eq!(Cycles(1000).to_micros_floor(CORE), Some(Micros(4)));
    assert_eq!(Cycles(1000).to_micros_ceil(CORE), Some(Micros(5)));
    assert_eq!(Cycles(216).to_micros_ceil(CORE), Some(Micros(1)));
    assert_eq!(Micros(3).to_cycles_floor(CORE), Some(Cycles(648)));
    assert_eq!(Micros(1).to_ticks_floor(Hz::new(32_768).unwrap()), Some(Ticks(0)));
    assert_eq!(Micros(1).to_ticks_ceil(Hz::new(32_768).unwrap()), Some(Ticks(1)));
    // 217 cycles at 216 MHz are 25.1 counts at 25 MHz.
    assert_eq!(Cycles(217).to_ticks_ceil(CORE, Hz::mhz(25)), Some(Ticks(26)));
    assert_eq!(Cycles(217).to_ticks_floor(CORE, Hz::mhz(25)), Some(Ticks(25)));
    assert_eq!(Ticks(25).to_cycles_ceil(Hz::mhz(25), CORE), Some(Cycles(216)));
    assert_eq!(Cycles(216).to_nanos_floor(CORE), Some(1000));
}

#[test]
fn conversions_refuse_what_cannot_be_represented() {
    assert_eq!(Micros(u64::MAX).to_cycles_floor(Hz::mhz(216)), None);
    assert_eq!(Cycles(u64::MAX).to_micros_ceil(Hz::new(1).unwrap()), None);
    assert_eq!(Cycles::MAX.checked_add(Cycles(1)), None);
    assert_eq!(Cycles::MAX.saturating_add(Cycles(1)), Cycles::MAX);
    assert_eq!(Hz::new(0), None);
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
