//! The evaluator against a byte-wise reading of the architecture, the compiler against the evaluator, and cases worked out by hand.

use super::*;
use crate::regions::{Attr, Denial, Policy, REGIONS, Unpredictable, Violation};

const KINDS: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Exec];
const ACCESSES: [Access; 5] = [Access::NONE, Access::RO, Access::RW, Access::RX, Access::RWX];
const CTRL: u32 = 0x04;
const RNR: u32 = 0x08;
const RBAR: u32 = 0x0c;
const RLAR: u32 = 0x10;
const MAIR0: u32 = 0x30;

/// A unit with these regions, which is on and has no background.
fn loaded(regions: &[RegionRegs]) -> Shadow {
    let mut shadow = Shadow::new();
    for (register, value) in (MAIR0..).step_by(4).zip(MAIR) {
        shadow.write(register, value).unwrap();
    }
    for (slot, regs) in (0..).zip(regions) {
        shadow.write(RNR, slot).unwrap();
        shadow.write(RBAR, regs.rbar).unwrap();
        shadow.write(RLAR, regs.rlar).unwrap();
    }
    shadow.write(CTRL, 1).unwrap();
    assert_eq!(shadow.misprogrammed(), 0);
    shadow
}

fn denied(addr: u32, denial: Denial) -> Result<Attr, Violation> {
    Err(Violation { addr, denial })
}

/// Rights at a byte as the compiler was asked for them; privileged code writes wherever unprivileged code may, or may do nothing.
fn granted(access: Access, privileged: bool, kind: AccessKind) -> bool {
    let readable = privileged || access.data != Data::None;
    match kind {
        AccessKind::Read => readable,
        AccessKind::Write => access.data == Data::Rw || privileged && access.data == Data::None,
        AccessKind::Exec => readable && access.exec,
    }
}

fn assert_exact(shadow: &mut Shadow, addr: u32, asked: Span, access: Access) {
    for (privileged, kind) in [false, true].into_iter().flat_map(|privileged| KINDS.map(|kind| (privileged, kind))) {
        let is_bus = addr >> 20 == 0xe00;
        let never = kind == AccessKind::Exec && addr >= 0xe000_0000;
        let inside = asked.contains(addr) && granted(access, privileged, kind);
        let want = if is_bus { privileged && !never } else { inside && !never };
        let got = shadow.permits(addr, 1, privileged, kind).is_ok();
        assert_eq!(got, want, "{addr:#x} {privileged} {kind:?} for {asked:x?} {access:?}");
    }
}

#[test]
fn every_range_of_granules_in_1_kib_is_exact_at_every_granule() {
    for base in 0..32u32 {
        for end in base + 1..=32 {
            let asked = Span::new(0x3800_0000 + base * 32, u64::from(end - base) * 32);
            let mut shadow = loaded(&[exact(asked, Access::RW, MemType::WriteBack).unwrap()]);
            for granule in 0..34u32 {
                let at = 0x3800_0000 - 32 + granule * 32;
                [at, at + 31].into_iter().for_each(|addr| assert_exact(&mut shadow, addr, asked, Access::RW));
            }
        }
    }
}

#[test]
fn random_ranges_are_exact_at_all_edges() {
    let mut rng = Rng::new(20);
    let system = Span::new(0xdfff_ff00, 0x20_0000);
    let spans = (0..20_000).map(|_| random_span(&mut rng, 29, 32)).collect::<Vec<_>>();
    for (number, asked) in [system, Span::new(0, 1 << 32)].into_iter().chain(spans).enumerate() {
        let access = ACCESSES[number % 5];
        let mut shadow = loaded(&[exact(asked, access, MemType::WriteThrough).unwrap()]);
        for edge in [u64::from(asked.base), asked.end(), 0xe000_0000, 0xe010_0000, 0] {
            (-1i64..=1).for_each(|d| assert_exact(&mut shadow, (edge as i64 + d) as u32, asked, access));
        }
    }
}

/// B10 read literally for one byte: one enabled region that contains it, none (the background), or several.
fn reference(shadow: &Shadow, mair: [u32; 2], addr: u32, privileged: bool, kind: AccessKind) -> bool {
    let default = match addr >> 28 {
        0x4 | 0x5 | 0xa..=0xd => kind != AccessKind::Exec,
        0xe | 0xf => kind != AccessKind::Exec && (privileged || addr > 0xe00f_ffff),
        _ => true,
    };
    if shadow.control() & 1 == 0 || addr >> 20 == 0xe00 {
        return default;
    }
    let contains = |regs: &&RegionRegs| regs.rlar & 1 != 0 && regs.rbar & !31 <= addr && addr <= regs.rlar | 31;
    let mut those = shadow.regions().iter().filter(contains);
    let Some(regs) = those.next() else { return privileged && shadow.control() & 4 != 0 && default };
    if those.next().is_some() {
        return false;
    }
    let index = regs.rlar >> 1 & 7;
    let device = mair[(index / 4) as usize] >> (8 * (index % 4)) & 0xf0 == 0;
    let for_this = privileged || regs.rbar >> 1 & 1 != 0;
    for_this
        && match kind {
            AccessKind::Read => true,
            AccessKind::Write => regs.rbar >> 2 & 1 == 0,
            AccessKind::Exec => regs.rbar & 1 == 0 && !device && addr < 0xe000_0000,
        }
}

const AREAS: [u32; 6] = [0, 0x1000_0f00, 0x3800_0000, 0xdfff_f800, 0xe00f_f800, 0xffff_f000];

fn scramble(shadow: &mut Shadow, rng: &mut Rng) {
    let base = AREAS[rng.below(6) as usize].wrapping_add(rng.below(0x1000) as u32);
    let last = base.saturating_add(rng.below(0x800) as u32);
    let last = if rng.chance(20) { base.wrapping_sub(64) } else { last };
    let at = [RBAR, 0x14, 0x1c, 0x24][rng.below(4) as usize];
    shadow.write(RNR, rng.below(8) as u32).unwrap();
    shadow.write(at, base & !31 | rng.below(32) as u32).unwrap();
    shadow.write(at + 4, last & !31 | rng.below(16) as u32 | u32::from(!rng.chance(6))).unwrap();
    if rng.chance(10) {
        shadow.write(CTRL, [0, 1, 5, 5][rng.below(4) as usize]).unwrap();
    }
}

#[test]
fn every_answer_equals_the_bytewise_reading() {
    // All types that there are, in both registers.
    let mair = [0x4408_04ff, 0x0cbb_0033];
    let mut rng = Rng::new(21);
    let mut shadow = Shadow::new();
    (MAIR0..).step_by(4).zip(mair).for_each(|(register, value)| shadow.write(register, value).unwrap());
    let (mut granted, mut denied, mut doubled) = (0, 0, 0);
    for _ in 0..8_000 {
        scramble(&mut shadow, &mut rng);
        for _ in 0..40 {
            let addr = AREAS[rng.below(6) as usize].wrapping_add(rng.below(0x1000) as u32);
            let len = [1, 2, 4, 8, 16, 300][rng.below(6) as usize];
            let (privileged, kind) = (rng.chance(2), KINDS[rng.below(3) as usize]);
            let is_bad = |byte: u64| byte > 0xffff_ffff || !reference(&shadow, mair, byte as u32, privileged, kind);
            let bad = (u64::from(addr)..u64::from(addr) + len).find(|byte| is_bad(*byte));
            // Twice: the second answer comes from the table.
            for _ in 0..2 {
                let got = shadow.permits(addr, len as u32, privileged, kind);
                let at = got.err().map(|violation| violation.addr);
                assert_eq!(at, bad.map(|byte| byte as u32), "{addr:#x}+{len} {kind:?} {privileged}");
                doubled += u32::from(matches!(got, Err(Violation { denial: Denial::Overlap { .. }, .. })));
            }
            if bad.is_none() { granted += 1 } else { denied += 1 }
        }
    }
    assert!(granted > 10_000 && denied > 10_000 && doubled > 1_000, "{granted} {denied} {doubled}");
}

#[test]
fn a_byte_in_two_regions_is_nobodys_and_its_neighbours_are_not_concerned() {
    let at = |base, len| exact(Span::new(base, len), Access::RW, MemType::WriteBack).unwrap();
    let (low, high) = (at(0x3800_0000, 0x200), at(0x3800_01e0, 0x100));
    let mut shadow = loaded(&[at(0x3900_0000, 32), low, at(0x3a00_0000, 32), high]);
    let both = Denial::Overlap { lower: 1, higher: 3 };
    for privileged in [false, true] {
        for kind in [AccessKind::Read, AccessKind::Write] {
            assert!(shadow.permits(0x3800_01dc, 4, privileged, kind).is_ok());
            assert!(shadow.permits(0x3800_0200, 4, privileged, kind).is_ok());
            assert_eq!(shadow.permits(0x3800_01fc, 4, privileged, kind), denied(0x3800_01fc, both));
            assert_eq!(shadow.permits(0x3800_01de, 4, privileged, kind), denied(0x3800_01e0, both));
            assert_eq!(shadow.permits(0x3800_01ff, 2, privileged, kind), denied(0x3800_01ff, both));
        }
    }
    // The background decides about no byte that regions contain, and a third region changes nothing.
    shadow.write(CTRL, 5).unwrap();
    shadow.set_region(7, at(0x3800_0000, 0x1000));
    assert_eq!(shadow.permits(0x3800_01e0, 1, true, AccessKind::Read), denied(0x3800_01e0, both));
    assert_eq!(
        shadow.permits(0x3800_0000, 1, true, AccessKind::Read),
        denied(0x3800_0000, Denial::Overlap { lower: 1, higher: 7 })
    );
    // The private peripheral bus is outside of the unit, and a region that is off overlaps none.
    shadow.set_region(0, at(0xe000_0000, 0x10_0000));
    shadow.set_region(5, at(0xe000_0000, 0x10_0000));
    assert!(shadow.permits(0xe000_ed94, 4, true, AccessKind::Write).is_ok());
    shadow.set_region(7, RegionRegs { rlar: 0, ..at(0x3800_0000, 0x1000) });
    shadow.set_region(3, RegionRegs { rlar: 0, ..high });
    assert!(shadow.permits(0x3800_01fc, 4, false, AccessKind::Write).is_ok());
}

#[test]
fn a_read_only_region_is_read_only_for_privileged_code_too() {
    let code = exact(Span::new(0x1000_0000, 0x400), Access::RX, MemType::WriteThrough).unwrap();
    let kernel = exact(Span::new(0x3800_0000, 0x400), Access::NONE, MemType::WriteBack).unwrap();
    let mut shadow = loaded(&[code, kernel]);
    for privileged in [false, true] {
        let denial = denied(0x1000_0000, Denial::Permission { region: 0 });
        assert_eq!(shadow.permits(0x1000_0000, 4, privileged, AccessKind::Write), denial);
        assert!(shadow.permits(0x1000_0000, 4, privileged, AccessKind::Exec).is_ok());
        assert_eq!(shadow.permits(0x3800_0000, 4, privileged, AccessKind::Write).is_ok(), privileged);
        let outside = denied(0x2000_0000, Denial::NoRegion);
        assert_eq!(shadow.permits(0x2000_0000, 1, privileged, AccessKind::Read), outside);
    }
    shadow.write(CTRL, 5).unwrap();
    assert_eq!(shadow.permits(0x2000_0000, 1, true, AccessKind::Read).map(|attr| attr.region), Ok(None));
    assert_eq!(shadow.permits(0x2000_0000, 1, false, AccessKind::Read), denied(0x2000_0000, Denial::NoRegion));
    assert_eq!(shadow.permits(0x4000_0000, 2, true, AccessKind::Exec), denied(0x4000_0000, Denial::DefaultMap));
    assert_eq!(shadow.permits(0xe000_ed94, 4, false, AccessKind::Read), denied(0xe000_ed94, Denial::DefaultMap));
}

#[test]
fn attributes_come_from_the_byte_that_the_region_names() {
    use Policy::{Device, NonCacheable, Reserved, StronglyOrdered, WriteBack, WriteBackAllocate, WriteThrough};
    let known = [
        (0x00, StronglyOrdered),
        (0x04, Device),
        (0x08, Device),
        (0x0c, Device),
        (0x44, NonCacheable),
        (0xaa, WriteThrough),
        (0x12, WriteThrough),
        (0xee, WriteBack),
        (0x46, WriteBack),
        (0xff, WriteBackAllocate),
        (0x45, WriteBackAllocate),
        (0x01, Reserved),
        (0x0e, Reserved),
        (0xf0, Reserved),
    ];
    let mut shadow = Shadow::new();
    shadow.write(CTRL, 1).unwrap();
    for (index, (attribute, policy)) in (0..8).cycle().zip(known) {
        for shareability in 0..4 {
            shadow.write(MAIR0 + index / 4 * 4, attribute << (index % 4 * 8)).unwrap();
            shadow.write(RBAR, 0x6000_0000 | shareability << 3 | 1 << 1).unwrap();
            shadow.write(RLAR, 0x6000_0fe0 | index << 1 | 1).unwrap();
            let memory = shadow.permits(0x6000_0800, 4, false, AccessKind::Read).unwrap().memory;
            let device = matches!(policy, StronglyOrdered | Device);
            assert_eq!((memory.policy(), memory.is_device()), (policy, device), "{attribute:#x}");
            assert_eq!(memory.is_shareable(), device || shareability != 0);
            assert_eq!(shadow.permits(0x6000_0800, 4, true, AccessKind::Exec).is_ok(), !device);
            assert_eq!(shadow.misprogrammed(), u8::from(policy == Reserved));
        }
    }
    for (mem, policy) in [
        (MemType::WriteBack, WriteBackAllocate),
        (MemType::WriteThrough, WriteThrough),
        (MemType::NonCacheable, NonCacheable),
        (MemType::Device, Device),
        (MemType::StronglyOrdered, StronglyOrdered),
    ] {
        let region = exact(Span::new(0x6000_0000, 0x1000), Access::RW, mem).unwrap();
        let got = loaded(&[region]).permits(0x6000_0000, 4, false, AccessKind::Read).unwrap();
        assert_eq!((got.memory.policy(), got.region), (policy, Some(0)));
    }
}

#[test]
fn aliases_are_the_other_regions_of_a_group_and_leave_the_number() {
    let mut shadow = Shadow::new();
    shadow.write(RNR, 6).unwrap();
    for (offset, region) in [(0x0c, 6), (0x14, 5), (0x1c, 6), (0x24, 7)] {
        shadow.write(offset, 0x3800_0000 + offset * 0x100).unwrap();
        shadow.write(offset + 4, 0x3900_0011 + offset * 0x100).unwrap();
        // Bit 4 is reserved.
        let regs = RegionRegs { rbar: 0x3800_0000 + offset * 0x100, rlar: 0x3900_0001 + offset * 0x100 };
        assert_eq!(shadow.regions()[region], regs);
    }
    assert_eq!(shadow.regions()[..5], [RegionRegs { rbar: 0, rlar: 0 }; 5]);
    shadow.write(RNR, 3).unwrap();
    shadow.write(0x14, 0x40).unwrap();
    assert_eq!(shadow.regions()[1].rbar, 0x40);
    let bad = |offset, value| Err(Unpredictable { offset, value });
    assert_eq!(shadow.write(RNR, 8), bad(RNR, 8));
    shadow.write(CTRL, 5).unwrap();
    assert!(shadow.spares_negative());
    assert_eq!(shadow.write(CTRL, 2), bad(CTRL, 2));
    assert!(!shadow.spares_negative());
    for offset in [0x00, 0x2c, 0x38, 0x0e] {
        assert_eq!(shadow.write(offset, 1), bad(offset, 1));
    }
    assert_eq!((shadow.control(), shadow.regions()[3].rbar), (2, 0));
    // A region that ends before it begins contains nothing, and is told.
    let mut shadow = Shadow::new();
    shadow.set_region(REGIONS - 1, RegionRegs { rbar: 0x3800_0102, rlar: 0x3800_0001 });
    shadow.write(CTRL, 1).unwrap();
    assert_eq!(shadow.misprogrammed(), 0x80);
    assert!([0x3800_0000, 0x3800_0100].into_iter().all(|at| shadow.permits(at, 1, true, AccessKind::Read).is_err()));
}
