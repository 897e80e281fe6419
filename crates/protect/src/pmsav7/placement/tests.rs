//! Placements against the compiler: what is promised is one region, and nothing smaller or lower would be.

use super::*;
use crate::pmsav7::encode_one;
use crate::testing::Rng;
use crate::{Access, MemType, Span};

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
fn limits_are_refused() {
    assert_eq!(placement_for(0), None);
    assert_eq!(placement_for((1 << 32) + 1), None);
    assert_eq!(placement_for(1 << 32).unwrap().size_bytes, 1 << 32);
    assert_eq!(placement_for(4096).unwrap().next_base(0xffff_f001), None);
    assert_eq!(placement_for(4096).unwrap().next_base(1 << 32), None);
}
