//! Specifications, platforms, envelopes; the ledger has its own tests.

mod pages;
mod quotas;
mod regions;
mod world;

use std::string::ToString;

use crate::*;

/// Eight region registers, with data in any memory.
const fn regions(tcm_cycles: u32, on_chip_cycles: u32) -> Platform {
    let classes = [MemoryClass::Tcm, MemoryClass::OnChip, MemoryClass::OffChip];
    Platform::new(Hardware::Regions(Regions::new(8, Some(tcm_cycles), on_chip_cycles)), &classes)
}

const M7: Platform = regions(180, 240);

#[test]
fn every_specification_survives_packing_and_words() {
    let mut seen = 0;
    for bits in 0..=0x3ff {
        let Ok(spec) = TemporalSpec::from_bits(bits) else { continue };
        seen += 1;
        assert_eq!(spec.bits(), bits);
        assert_eq!(TemporalSpec::parse(&spec.to_string()), Ok(spec));
    }
    assert_eq!(seen, 5 * 2 * 2 * 4 * 2);
    assert_eq!(TemporalSpec::from_bits(1 << 8), Err(SpecError::UnknownBits(1 << 8)));
    assert_eq!(TemporalSpec::from_bits(5), Err(SpecError::UnknownBits(5)));
}

#[test]
fn contradictions_are_refused() {
    let refused = |text| TemporalSpec::parse(text).unwrap_err();
    assert_eq!(refused("deterministic l2"), SpecError::TwoLevels(AccessLevel::Deterministic, AccessLevel::L2));
    assert_eq!(refused("l1 data-tcm data-off-chip"), SpecError::TwoPlaces(MemoryClass::Tcm, MemoryClass::OffChip));
    assert_eq!(refused("l1 l1"), SpecError::Repeated(1));
    assert_eq!(refused("independent l1 independent"), SpecError::Repeated(2));
    assert_eq!(refused("l4"), SpecError::UnknownWord(0));
    assert_eq!(TemporalSpec::parse("").unwrap(), TemporalSpec::default());
}

#[test]
fn stronger_levels_are_greater() {
    assert!(AccessLevel::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(AccessLevel::ALL.map(|level| AccessLevel::from_number(level as u32)), AccessLevel::ALL.map(Some));
}

#[test]
fn the_platform_keeps_or_refuses_with_a_reason() {
    let level = |access| M7.meaning(TemporalSpec::level(access));
    let bound = |level, cycles, method| Bound { level, cycles, method };
    let pinned = bound(AccessLevel::Deterministic, 0, Method::Derived);
    assert_eq!(level(AccessLevel::Deterministic), Ok(Meaning::Pinned(pinned)));
    assert_eq!(level(AccessLevel::L1), Ok(Meaning::Tables(&[TablePlace::Tcm])));
    assert_eq!(level(AccessLevel::L2), Ok(Meaning::Tables(&[TablePlace::Tcm, TablePlace::OnChip])));
    let l1 = bound(AccessLevel::L1, 180, Method::Observed);
    let l2 = bound(AccessLevel::L2, 240, Method::Observed);
    let bounds = TablePlace::ALL.map(|place| M7.bound_of(place));
    assert_eq!(bounds, [Some(l1), Some(l2), None, None]);
    assert_eq!(level(AccessLevel::L3), Err(Reason::NoThirdLevel));
    let spec = TemporalSpec { constant_time: true, independent: true, ..TemporalSpec::default() };
    assert_eq!(M7.meaning(spec), Err(Reason::ReleaseScrubs));
    let nowhere = Platform { data_classes: 0b0110, ..M7 };
    let spec = TemporalSpec { data: Some(MemoryClass::OffChip), ..TemporalSpec::default() };
    assert_eq!((nowhere.meaning(spec), M7.meaning(spec).is_ok()), (Err(Reason::NoSuchMemory), true));
    let slots =
        [(false, false), (false, true), (true, false), (true, true)].map(|(code, data)| M7.paged_slots(code, data));
    assert_eq!(slots, [0, 2, 4, 4]);
}

#[test]
fn without_tightly_coupled_memory_there_is_no_first_level() {
    let classes = [MemoryClass::OnChip, MemoryClass::OffChip];
    let m33 = Platform::new(Hardware::Regions(Regions::new(8, None, 160)), &classes);
    let level = |access| m33.meaning(TemporalSpec::level(access));
    assert_eq!(level(AccessLevel::L1), Err(Reason::NoFirstLevel));
    let on_chip = Ok(Meaning::Tables(&[TablePlace::OnChip]));
    assert_eq!([level(AccessLevel::L2), level(AccessLevel::BestEffort)], [on_chip; 2]);
    assert_eq!(level(AccessLevel::L3), Err(Reason::NoThirdLevel));
    let bound = Bound { level: AccessLevel::L2, cycles: 160, method: Method::Observed };
    assert_eq!(TablePlace::ALL.map(|place| m33.bound_of(place)), [None, Some(bound), None, None]);
    for platform in [m33, M7, regions(0, 1)] {
        assert_eq!(Platform::from_words(&platform.words()), Some(platform));
    }
    let mut words = m33.words();
    words[3] = 160; // a bound in memory that is not there
    assert_eq!(Platform::from_words(&words), None);
}

#[test]
fn an_envelope_is_possible_or_refused() {
    let envelope = |live, largest, count| Envelope { spec: TemporalSpec::default(), live, largest, count }.check();
    assert_eq!(envelope(4096, 512, 8), Ok(()));
    assert_eq!(envelope(4096, 512, 7), Err(EnvelopeError::LiveAboveBlocks { most: 3584 }));
    assert_eq!(envelope(256, 512, 7), Err(EnvelopeError::LargestAboveLive));
    for (live, largest, count) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        assert_eq!(envelope(live, largest, count), Err(EnvelopeError::Empty));
    }
}

#[test]
fn the_largest_that_fits_is_found() {
    for limit in [0, 1, 2, 1000, u32::MAX - 1, u32::MAX] {
        assert_eq!(largest_that(0, u32::MAX, |value| value <= limit), Some(limit));
    }
    assert_eq!(largest_that(5, 10, |value| value <= 4), None);
    assert_eq!(largest_that(6, 5, |_| true), None);
}
