//! The evaluator against a byte-wise reading of the architecture, and its answers in cases worked out by hand.

use super::*;
use crate::regions::{Denial, Unpredictable, Violation};

/// B3.5.3 read literally for one byte: the highest-numbered enabled region that contains it, else the background.
fn reference(shadow: &Shadow, addr: u32, privileged: bool, kind: AccessKind) -> bool {
    let default = match addr >> 28 {
        0x4 | 0x5 | 0xa..=0xd => kind != AccessKind::Exec,
        0xe | 0xf => kind != AccessKind::Exec && (privileged || addr > 0xe00f_ffff),
        _ => true,
    };
    if shadow.control() & 1 == 0 || addr >> 20 == 0xe00 {
        return default;
    }
    for regs in shadow.regions().iter().rev() {
        let size = 2u64 << (regs.rasr >> 1 & 31);
        let offset = u64::from(addr).wrapping_sub(u64::from(regs.rbar));
        if regs.rasr & 1 == 0 || size < 32 || u64::from(regs.rbar) % size != 0 || offset >= size {
            continue;
        }
        let srd = regs.rasr >> 8 & 0xff;
        if size < 256 && srd != 0 || srd >> (offset * 8 / size) & 1 != 0 {
            continue;
        }
        let ap = regs.rasr >> 24 & 7;
        let (read, write) = match (ap, privileged) {
            (1..=3, true) | (3, false) => (true, true),
            (5..=7, true) | (2 | 6 | 7, false) => (true, false),
            _ => (false, false),
        };
        let tex_c_b = regs.rasr >> 16 & 0x3b;
        let never = regs.rasr >> 28 & 1 != 0 || addr >= 0xe000_0000 || matches!(tex_c_b, 0 | 1 | 0x10);
        return match kind {
            AccessKind::Read => read,
            AccessKind::Write => write,
            AccessKind::Exec => read && !never,
        };
    }
    privileged && shadow.control() & 4 != 0 && default
}

fn scramble(shadow: &mut Shadow, rng: &mut Rng) {
    let areas = [0u32, 0x2000_0000, 0x2000_0f00, 0xe000_0000, 0xffff_f000];
    let base = areas[rng.below(5) as usize] + rng.below(0x1000) as u32;
    let size = if rng.chance(20) { 31 } else { 3 + rng.below(10) as u32 };
    let base = if rng.chance(8) { base } else { (u64::from(base) & !((2u64 << size) - 1)) as u32 };
    let srd = if rng.chance(2) { 0 } else { rng.below(256) as u32 };
    let rasr = (rng.next() as u32 & 0x173f_0000) | srd << 8 | size << 1 | u32::from(!rng.chance(6));
    shadow.write(0x08, rng.below(8) as u32).unwrap();
    shadow.write(0x0c, base & !0x1f).unwrap();
    shadow.write(0x10, rasr).unwrap();
    if rng.chance(10) {
        shadow.write(0x04, [0, 1, 5, 5][rng.below(4) as usize]).unwrap();
    }
}

#[test]
fn every_answer_equals_the_bytewise_reading() {
    let mut rng = Rng::new(10);
    let mut shadow = Shadow::new();
    let (mut granted, mut denied) = (0, 0);
    for _ in 0..4_000 {
        scramble(&mut shadow, &mut rng);
        for _ in 0..40 {
            let areas = [0u32, 0x2000_0000, 0x2000_0f00, 0xe000_0000, 0xe00f_fff0, 0xffff_f000];
            let addr = areas[rng.below(6) as usize].wrapping_add(rng.below(0x1000) as u32);
            let len = [1, 2, 4, 8, 16, 300][rng.below(6) as usize];
            let (privileged, kind) = (rng.chance(2), KINDS[rng.below(3) as usize]);
            let bad = (0..len)
                .map(|i| u64::from(addr) + i)
                .find(|&byte| byte > 0xffff_ffff || !reference(&shadow, byte as u32, privileged, kind));
            // Twice: the second answer comes from the table.
            for _ in 0..2 {
                let got = shadow.permits(addr, len as u32, privileged, kind).map_err(|violation| violation.addr);
                assert_eq!(got.err(), bad.map(|byte| byte as u32), "{addr:#x}+{len} {kind:?} {privileged}");
            }
            if bad.is_none() { granted += 1 } else { denied += 1 }
        }
    }
    assert!(granted > 10_000 && denied > 10_000, "{granted} {denied}");
}

#[test]
fn an_access_that_straddles_the_end_of_its_region_is_denied_at_the_first_byte_beyond() {
    let region = encode_one(Span::new(0x2000_0000, 0x400), Access::RW, MemType::WriteBack).unwrap();
    let mut shadow = loaded(&[region]);
    assert!(shadow.permits(0x2000_03fc, 4, false, AccessKind::Write).is_ok());
    for (addr, len) in [(0x2000_03fd, 4), (0x2000_03fc, 8), (0x2000_03ff, 2)] {
        let violation = shadow.permits(addr, len, false, AccessKind::Write).unwrap_err();
        assert_eq!(violation, Violation { addr: 0x2000_0400, denial: Denial::NoRegion });
    }
}

#[test]
fn the_highest_number_decides_and_disabled_sub_regions_fall_through() {
    let low = encode_one(Span::new(0x2000_0000, 0x1000), Access::RW, MemType::WriteBack).unwrap();
    let high = encode_one(Span::new(0x2000_0200, 0x200), Access::RO, MemType::NonCacheable).unwrap();
    let mut shadow = loaded(&[low, high]);
    let attr = shadow.permits(0x2000_0200, 4, false, AccessKind::Read).unwrap();
    assert_eq!((attr.region, attr.memory.is_cacheable()), (Some(1), false));
    let violation = shadow.permits(0x2000_01fe, 4, false, AccessKind::Write).unwrap_err();
    assert_eq!(violation, Violation { addr: 0x2000_0200, denial: Denial::Permission { region: 1 } });
    // The same block, with the eighth switched off: region 0 is seen through the hole.
    shadow.write(0x0c, 0x2000_0011).unwrap();
    shadow.write(0x10, 0x1200_0000 | 0x04 << 8 | 10 << 1 | 1).unwrap();
    assert!(shadow.permits(0x2000_0200, 4, false, AccessKind::Write).is_ok());
    assert!(shadow.permits(0x2000_0000, 4, false, AccessKind::Write).is_err());
}

#[test]
fn registers_and_aliases_address_the_slot_in_force() {
    let mut shadow = Shadow::new();
    for (offset, slot) in [(0x0c, 4), (0x14, 5), (0x1c, 6), (0x24, 7)] {
        shadow.write(offset, (0x2000_0010 + slot * 0x100) | slot).unwrap();
        shadow.write(offset + 4, 0x1303_000f + slot).unwrap();
        assert_eq!(
            shadow.regions()[slot as usize],
            RegionRegs { rbar: 0x2000_0000 + slot * 0x100, rasr: 0x1303_000f + slot }
        );
    }
    // Without VALID the region number stays: the write goes to slot 7.
    shadow.write(0x0c, 0x2000_9000).unwrap();
    assert_eq!(shadow.regions()[7].rbar, 0x2000_9000);
    let bad = |offset, value| Err(Unpredictable { offset, value });
    assert_eq!(shadow.write(0x0c, 0x18), bad(0x0c, 0x18));
    assert_eq!(shadow.write(0x08, 8), bad(0x08, 8));
    assert_eq!(shadow.write(0x04, 2), bad(0x04, 2));
    assert_eq!(shadow.write(0x00, 0), bad(0x00, 0));
    // Misaligned, too small, and eighths below 256 bytes: each is reported, and matches nothing.
    for (rbar, rasr) in [(0x2000_0100, 9 << 1 | 1), (0x2000_0000, 3 << 1 | 1), (0x2000_0000, 6 << 1 | 1 | 1 << 8)] {
        let mut shadow = Shadow::new();
        shadow.write(0x04, 1).unwrap();
        shadow.set_region(3, RegionRegs { rbar, rasr: rasr | 0x0303_0000 });
        assert_eq!(shadow.misprogrammed(), 8);
        assert!(shadow.permits(rbar, 1, false, AccessKind::Read).is_err());
    }
}

#[test]
fn attributes_follow_the_region_or_the_default_map() {
    let mut shadow = Shadow::new();
    let attr = |shadow: &mut Shadow, addr| shadow.permits(addr, 4, true, AccessKind::Read).unwrap();
    let memory = |shadow: &mut Shadow, addr| attr(shadow, addr).memory;
    let flash = memory(&mut shadow, 0x0800_0000);
    assert!(flash.is_cacheable() && !flash.is_write_back());
    assert!(memory(&mut shadow, 0x2000_0000).is_write_back());
    assert!(memory(&mut shadow, 0x4000_0000).is_device());
    assert!(memory(&mut shadow, 0xe000_ed00).is_device());
    for (mem, cacheable, write_back, device) in [
        (MemType::WriteBack, true, true, false),
        (MemType::WriteThrough, true, false, false),
        (MemType::NonCacheable, false, false, false),
        (MemType::Device, false, false, true),
        (MemType::StronglyOrdered, false, false, true),
    ] {
        let region = encode_one(Span::new(0x6000_0000, 0x1000), Access::RW, mem).unwrap();
        let got = attr(&mut loaded(&[region]), 0x6000_0000);
        let seen = got.memory;
        assert_eq!((seen.is_cacheable(), seen.is_write_back(), seen.is_device()), (cacheable, write_back, device));
        assert_eq!(got.region, Some(0));
    }
    assert!(Shadow::permits_background(0xe000_ed94, 4, false, AccessKind::Read).is_err());
    assert!(Shadow::permits_background(0x4000_0000, 2, true, AccessKind::Exec).is_err());
}

#[test]
fn a_generation_that_wraps_forgets_everything() {
    let region = encode_one(Span::new(0x2000_0000, 0x400), Access::RW, MemType::WriteBack).unwrap();
    let mut shadow = loaded(&[region]);
    assert!(shadow.permits(0x2000_0000, 4, false, AccessKind::Read).is_ok());
    shadow.wrap_generation_for_test();
    shadow.set_region(0, RegionRegs::DISABLED);
    assert!(shadow.permits(0x2000_0000, 4, false, AccessKind::Read).is_err());
}
