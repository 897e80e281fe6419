//! The compiler against the evaluator: what the registers permit is what was asked, byte for byte.

use super::*;
use crate::regions::REGIONS;
use crate::testing::Rng;
use crate::{Access, AccessKind, Data, MemType, Span};
use std::vec;
use std::vec::Vec;

const ACCESSES: [Access; 5] = [Access::NONE, Access::RO, Access::RW, Access::RX, Access::RWX];
const KINDS: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Exec];

fn loaded(regions: &[RegionRegs]) -> Shadow {
    let mut shadow = Shadow::new();
    for (slot, regs) in regions.iter().enumerate() {
        let at = regs.at_slot(slot as u32);
        shadow.write(0x0c, at.rbar).unwrap();
        shadow.write(0x10, at.rasr).unwrap();
    }
    shadow.write(0x04, 0b101).unwrap();
    assert_eq!(shadow.misprogrammed(), 0);
    shadow
}

fn granted(access: Access, kind: AccessKind) -> bool {
    match kind {
        AccessKind::Read => access.data != Data::None,
        AccessKind::Write => access.data == Data::Rw,
        AccessKind::Exec => access.exec,
    }
}

/// Every address where a rule can change for these regions, and its neighbours.
fn edges(regions: &[RegionRegs], asked: Span) -> Vec<u32> {
    let mut edges = vec![0, u32::MAX];
    let mut around = |at: u64| (-1i64..=1).for_each(|d| edges.push((at as i64 + d) as u32));
    around(u64::from(asked.base));
    around(asked.end());
    for regs in regions {
        let size = 1u64 << regs.size_log2();
        (0..=8).for_each(|k| around(u64::from(regs.base()) + k * size / 8));
    }
    edges
}

fn assert_exact(shadow: &mut Shadow, addr: u32, asked: Span, access: Access) {
    for kind in KINDS {
        let want = asked.contains(addr) && granted(access, kind) && !(kind == AccessKind::Exec && addr >= 0xe000_0000);
        let ppb = addr >> 20 == 0xe00;
        let got = shadow.permits(addr, 1, false, kind).is_ok();
        assert_eq!(got, want && !ppb, "{addr:#x} {kind:?} for {asked:x?} {access:?}");
    }
}

/// Compiles, loads, and compares at every edge.
fn check(asked: Span, access: Access) -> usize {
    let mut out = [RegionRegs::DISABLED; MAX_COVER];
    let count = cover(asked, access, MemType::WriteBack, &mut out).unwrap();
    assert_eq!(cover_count(asked), Some(count));
    assert!(out[..count].iter().all(|r| r.is_enabled() && r.is_well_formed()));
    match encode_one(asked, access, MemType::WriteBack) {
        Ok(one) => {
            assert_eq!(count, 1, "{asked:x?}");
            assert_eq!(span_of(one), Some(asked));
        }
        Err(error) => {
            assert_eq!(error.rule, Rule::OneRegion);
            assert_eq!(error.nearest.regions, count);
            assert!(count > 1, "{asked:x?} fits one region");
        }
    }
    let edges = edges(&out[..count], asked);
    if count <= REGIONS {
        let mut shadow = loaded(&out[..count]);
        edges.iter().for_each(|&addr| assert_exact(&mut shadow, addr, asked, access));
    }
    for addr in edges {
        let covered = out[..count].iter().any(|regs| regs.contains(addr));
        assert_eq!(covered, asked.contains(addr), "{addr:#x} in {asked:x?}");
    }
    count
}

#[test]
fn every_range_of_granules_in_2_kib_is_exact_at_every_granule() {
    for base in 0..64u32 {
        for end in base + 1..=64 {
            let asked = Span::new(0x2000_0000 + base * 32, u64::from(end - base) * 32);
            let mut out = [RegionRegs::DISABLED; REGIONS];
            let count = cover(asked, Access::RW, MemType::WriteBack, &mut out).unwrap();
            let mut shadow = loaded(&out[..count]);
            for granule in 0..66u32 {
                for addr in [0x2000_0000 + granule * 32, 0x2000_0000 + granule * 32 + 31] {
                    assert_exact(&mut shadow, addr, asked, Access::RW);
                }
            }
        }
    }
}

#[test]
fn random_ranges_are_exact_at_all_edges() {
    let mut rng = Rng::new(1);
    for _ in 0..6_000 {
        let (a, b) = ((rng.next() as u32) >> rng.below(28), (rng.next() as u32) >> rng.below(28));
        let shift = 5 + rng.below(16) as u32;
        let (low, high) =
            (u64::from(a.min(b)) >> shift << shift, (u64::from(a.max(b)) >> shift << shift) + (1 << shift));
        check(Span::new(low as u32, high - low), ACCESSES[rng.below(5) as usize]);
    }
}

#[test]
fn every_eighth_of_every_block_is_one_region() {
    for n in 8..=32u32 {
        for first in 0..8u64 {
            for last in first..8 {
                let eighth = 1u64 << (n - 3);
                let block = if n == 32 { 0 } else { 0xa5a5_a5a5 & !((1u64 << n) - 1) };
                let asked = Span::new((block + first * eighth) as u32, (last - first + 1) * eighth);
                assert_eq!(check(asked, Access::RO), 1);
            }
        }
    }
    for n in 5..=32u32 {
        assert_eq!(check(Span::new(0, 1 << n), Access::RX), 1);
    }
}

/// The fewest expressible intervals that cover the range, by dynamic programming over every interval there is: the prefix up
/// to `to` is covered by an interval ending there and a cover of a prefix that reaches its start.
fn fewest(asked: Span) -> usize {
    let granules = (asked.len / 32) as usize;
    let at = |g: usize| asked.base + g as u32 * 32;
    // need[to]: fewest that cover at least the first `to` granules and nothing beyond the range.
    let mut need = vec![usize::MAX; granules + 1];
    need[0] = 0;
    for to in 1..=granules {
        for from in 0..to {
            for end in to..=granules {
                let piece = Span::new(at(from), (end - from) as u64 * 32);
                if need[from] < need[to] && encode_one(piece, Access::RO, MemType::WriteBack).is_ok() {
                    need[to] = need[to].min(need[from] + 1);
                }
            }
        }
    }
    need[granules]
}

#[test]
fn the_cover_is_minimal() {
    let mut rng = Rng::new(2);
    for _ in 0..100 {
        let len = 1 + rng.below(70);
        let base = 0x1000 + 32 * rng.below(128) as u32;
        let asked = Span::new(base, len * 32);
        assert_eq!(cover_count(asked), Some(fewest(asked)), "{asked:x?}");
    }
}

#[test]
fn the_cover_never_exceeds_its_bound() {
    let mut worst = 0;
    for low in 0..32u32 {
        for high in 0..32u32 {
            // Ranges whose ends are as ragged as can be: one granule inside powers of two, and alternating bits.
            for (base, end) in [
                ((1u64 << low) + 32, (1 << 32) - (1 << high) - 32),
                (0x5555_5560 & !((1 << low) - 1) | 32, 0xaaaa_aaa0 & !((1u64 << high) - 1) | 32),
                (32, (1 << 32) - 32),
            ] {
                let base = base / 32 * 32;
                let end = end / 32 * 32;
                if base < end {
                    worst = worst.max(cover_count(Span::new(base as u32, end - base)).unwrap());
                }
            }
        }
    }
    let mut rng = Rng::new(3);
    for _ in 0..40_000 {
        let (a, b) = (rng.below(1 << 27), rng.below(1 << 27));
        if a != b {
            worst = worst.max(cover_count(Span::new((a.min(b) * 32) as u32, a.abs_diff(b) * 32)).unwrap());
        }
    }
    assert!(worst <= MAX_COVER, "{worst}");
    assert!(worst >= MAX_COVER - 1, "the bound is loose: {worst}");
}

#[test]
fn refusals_name_the_rule_and_the_nearest_legal_request() {
    let rule = |asked, access, mem| encode_one(asked, access, mem).unwrap_err().rule;
    let wb = MemType::WriteBack;
    assert_eq!(rule(Span::new(0x100, 0), Access::RW, wb), Rule::Empty);
    assert_eq!(rule(Span::new(0xffff_ffe0, 64), Access::RW, wb), Rule::AddressSpace);
    assert_eq!(rule(Span::new(0x100, u64::MAX), Access::RW, wb), Rule::AddressSpace);
    assert_eq!(rule(Span::new(0x110, 64), Access::RW, wb), Rule::Granule);
    assert_eq!(rule(Span::new(0x100, 65), Access::RW, wb), Rule::Granule);
    assert_eq!(rule(Span::new(0x4000_0000, 4096), Access::RX, MemType::Device), Rule::DeviceExecute);
    let unreadable = Access { data: Data::None, exec: true };
    assert_eq!(rule(Span::new(0, 4096), unreadable, wb), Rule::ExecuteUnreadable);

    // 9 KiB at a 1 KiB boundary: 9 of 16 eighths-of-8-KiB; five eighths of 16 KiB contain it, and it needs two regions.
    let asked = Span::new(0x2000_0000, 9 * 1024);
    let error = encode_one(asked, Access::RW, wb).unwrap_err();
    assert_eq!((error.rule, error.limit, error.nearest.regions), (Rule::OneRegion, 1, 2));
    assert_eq!(error.nearest.grown, Some(Span::new(0x2000_0000, 10 * 1024)));
    // A legal size at a bad base moves up.
    let error = encode_one(Span::new(0x2000_0200, 4096), Access::RW, wb).unwrap_err();
    assert_eq!(error.nearest.moved, Some(Span::new(0x2000_0400, 4096)));
    let mut none = [RegionRegs::DISABLED; 1];
    let error = cover(asked, Access::RW, wb, &mut none).unwrap_err();
    assert_eq!((error.rule, error.limit, error.nearest.regions), (Rule::Registers, 1, 2));
}

#[test]
fn what_a_refusal_suggests_is_granted() {
    let mut rng = Rng::new(4);
    let mut seen = 0;
    for _ in 0..5_000 {
        let most = 1 << (5 + rng.below(20));
        let asked = Span::new(rng.next() as u32 >> rng.below(20), 1 + rng.below(most));
        let Err(error) = encode_one(asked, Access::RW, MemType::WriteBack) else { continue };
        if error.rule == Rule::AddressSpace {
            continue;
        }
        let grown = error.nearest.grown.unwrap();
        assert!(grown.base <= asked.base && grown.end() >= asked.end());
        assert!(encode_one(grown, Access::RW, MemType::WriteBack).is_ok(), "{asked:x?} -> {grown:x?}");
        if let Some(moved) = error.nearest.moved {
            assert!(moved.len >= asked.len && moved.base >= asked.base);
            assert!(encode_one(moved, Access::RW, MemType::WriteBack).is_ok(), "{asked:x?} -> {moved:x?}");
        }
        seen += 1;
    }
    assert!(seen > 4_000);
}

#[test]
fn the_fields_are_those_of_the_manual() {
    // 64 KiB, write-back, read-write, never executed: XN, AP 011, TEX 001, C, B, size field 15.
    let regs = encode_one(Span::new(0x2000_0000, 0x1_0000), Access::RW, MemType::WriteBack).unwrap();
    assert_eq!(regs, RegionRegs { rbar: 0x2000_0000, rasr: 0x130b_001f });
    let code = encode_one(Span::new(0, 0x6000), Access::RX, MemType::WriteThrough).unwrap();
    assert_eq!(code, RegionRegs { rbar: 0, rasr: 0x0202_c01d });
    let device = encode_one(Span::new(0x4000_4000, 0x1000), Access::RW, MemType::Device).unwrap();
    assert_eq!(device, RegionRegs { rbar: 0x4000_4000, rasr: 0x1301_0017 });
    assert_eq!(device.at_slot(5).rbar, 0x4000_4015);
}

mod shadow;
