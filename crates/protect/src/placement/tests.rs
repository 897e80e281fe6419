//! Placements against the compiler: what is promised is one region, and nothing smaller or lower would be.

use super::*;
use crate::pmsav7::{Access, MemType, Span, cover_count, encode_one};
use crate::testing::Rng;

fn is_one_region(base: u64, len: u64) -> bool {
    encode_one(Span::new(base as u32, len), Access::RW, MemType::WriteBack).is_ok()
}

#[test]
fn the_rounded_length_is_the_least_that_one_region_expresses() {
    for len in (1..2048u64).step_by(5) {
        let placement = placement_for(len).unwrap();
        assert!(placement.size_bytes >= len);
        let regs = encode_one(Span::new(0x2000_0000, placement.size_bytes), Access::RW, MemType::WriteBack).unwrap();
        assert_eq!(regs.srd(), u32::from(placement.srd), "{len}");
        let least = (len.next_multiple_of(32)..)
            .step_by(32)
            .find(|&size| (0..64).any(|granule| is_one_region(granule * 32, size)))
            .unwrap();
        assert_eq!(placement.size_bytes, least, "{len}");
    }
}

#[test]
fn every_multiple_of_the_alignment_is_legal_and_the_next_base_is_the_lowest() {
    let mut rng = Rng::new(20);
    for _ in 0..600 {
        let most = 32 << rng.below(9);
        let len = 1 + rng.below(most);
        let placement = placement_for(len).unwrap();
        let base = rng.below(64) * placement.align_bytes;
        assert!(is_one_region(base, placement.size_bytes) && placement.fits_at(base));
        let from = rng.below(1 << 20);
        let lowest = (from.next_multiple_of(32)..).step_by(32).find(|&b| is_one_region(b, placement.size_bytes));
        assert_eq!(placement.next_base(from), lowest, "{len} from {from:#x}");
    }
}

#[test]
fn splitting_wastes_less_and_keeps_its_promise() {
    let mut rng = Rng::new(21);
    for _ in 0..5_000 {
        let most = 32 << rng.below(20);
        let len = 1 + rng.below(most);
        let mut before = u64::MAX;
        for max in 1..=6 {
            let split = placements_within(len, max).unwrap();
            assert!(split.size_bytes >= len && split.size_bytes <= before, "{len} in {max}");
            before = split.size_bytes;
            assert!(split.regions <= max);
            let base = rng.below(4) * split.align_bytes;
            let needed = cover_count(Span::new(base as u32, split.size_bytes)).unwrap();
            assert!(needed <= split.regions as usize, "{len} in {max}: {needed} of {}", split.regions);
        }
        // Each further region divides the waste by four at least, down to the granule.
        assert!(before - len < 32 + (len >> 14), "{len}: {before}");
    }
    assert_eq!(placements_within(9 * 1024, 1).unwrap().size_bytes, 10 * 1024);
    assert_eq!(placements_within(9 * 1024, 2).unwrap().size_bytes, 9 * 1024);
}

#[test]
fn limits_are_refused() {
    assert_eq!(placement_for(0), None);
    assert_eq!(placement_for((1 << 32) + 1), None);
    assert_eq!(placement_for(1 << 32).unwrap().size_bytes, 1 << 32);
    assert_eq!(placements_within(100, 0), None);
    assert_eq!(placement_for(4096).unwrap().next_base(0xffff_f001), None);
    assert_eq!(placement_for(4096).unwrap().next_base(1 << 32), None);
}
