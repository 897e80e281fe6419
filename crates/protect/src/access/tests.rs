//! The access map against a plain array of bytes.

use super::*;
use crate::testing::Rng;
use std::vec::Vec;

const KINDS: [(AccessKind, u8); 3] = [(AccessKind::Read, READ), (AccessKind::Write, WRITE), (AccessKind::Exec, EXEC)];

fn area(first: u32, last: u32, rights: u8, residence: Residence) -> Area {
    Area { first, last, rights, residence }
}

/// The first refusal, byte by byte; addresses are offsets from `origin`.
fn reference(areas: &[Area], base: u32, len: u32, right: u8) -> Result<(), Refusal> {
    if u64::from(base) + u64::from(len) > 1 << 32 {
        return Err(Refusal::Overflow);
    }
    for addr in (0..len).map(|i| base + i) {
        match areas.iter().find(|area| area.first <= addr && addr <= area.last) {
            None => return Err(Refusal::Outside { addr }),
            Some(area) if area.residence == Residence::Device => return Err(Refusal::Device { addr }),
            Some(area) if area.rights & right == 0 => return Err(Refusal::Right { addr }),
            Some(_) => {}
        }
    }
    Ok(())
}

#[test]
fn random_maps_agree_with_a_bytewise_reading() {
    for origin in [0u32, 0x2000_0000, 0xffff_ff00] {
        let mut rng = Rng::new(50);
        let mut map = AccessMap::<12>::new();
        let mut model: Vec<Area> = Vec::new();
        let (mut granted, mut refused, mut full) = (0, 0, 0);
        for _ in 0..4_000 {
            if rng.below(100) < 60 {
                let first = rng.below(256) as u32;
                let last = (first + rng.below(24) as u32).min(255);
                let residence =
                    [Residence::Pinned, Residence::Paged, Residence::Paged, Residence::Device][rng.below(4) as usize];
                let new = area(origin + first, origin + last, 1 + rng.below(7) as u8, residence);
                let clash = model.iter().filter(|a| a.first <= new.last && new.first <= a.last).min_by_key(|a| a.first);
                let expected = match clash {
                    Some(&with) => Err(MapError::Overlap { with }),
                    None if model.len() == 12 => Err(MapError::Full { limit: 12 }),
                    None => Ok(()),
                };
                full += usize::from(matches!(expected, Err(MapError::Full { .. })));
                assert_eq!(map.insert(new), expected);
                if expected.is_ok() {
                    model.push(new);
                }
            } else if !model.is_empty() {
                let old = model.swap_remove(rng.below(model.len() as u64) as usize);
                assert_eq!(map.remove(old.first, old.last), Ok(old));
                assert_eq!(map.remove(old.first, old.last), Err(MapError::NotMapped));
            }
            model.sort_by_key(|area| area.first);
            assert_eq!(map.areas(), model);
            for _ in 0..10 {
                let base = origin + rng.below(256) as u32;
                let (kind, right) = KINDS[rng.below(3) as usize];
                let len = rng.below(40) as u32;
                let expected = reference(&model, base, len, right);
                assert_eq!(map.check(base, len, kind), expected, "{base:#x}+{len} {kind:?}");
                if expected.is_ok() { granted += 1 } else { refused += 1 }
            }
        }
        assert!(granted > 1_000 && refused > 10_000 && full > 0, "{granted} {refused} {full}");
    }
}

#[test]
fn hostile_lengths_and_pointers_are_refused() {
    let mut map = AccessMap::<4>::new();
    map.insert(area(0x2000_0000, 0x2000_0fff, READ | WRITE, Residence::Pinned)).unwrap();
    map.insert(area(0xffff_ff00, 0xffff_ffff, READ, Residence::Paged)).unwrap();
    let check = |base, len| map.check(base, len, AccessKind::Read);
    assert_eq!(check(0x2000_0000, u32::MAX), Err(Refusal::Overflow));
    assert_eq!(check(0x2000_0ff0, 0xe000_0000), Err(Refusal::Overflow));
    assert_eq!(check(0x2000_0000, 0x1001), Err(Refusal::Outside { addr: 0x2000_1000 }));
    assert_eq!(check(0xffff_ff00, 0x100), Ok(()));
    assert_eq!(check(0xffff_ff00, 0x101), Err(Refusal::Overflow));
    assert_eq!((check(0, 0), check(0, 1)), (Ok(()), Err(Refusal::Outside { addr: 0 })));
    assert_eq!(map.check(0xffff_ff00, 1, AccessKind::Write), Err(Refusal::Right { addr: 0xffff_ff00 }));
}

#[test]
fn adjacent_areas_count_as_one_up_to_a_device() {
    let mut map = AccessMap::<4>::new();
    map.insert(area(0x100, 0x1ff, READ | WRITE, Residence::Pinned)).unwrap();
    map.insert(area(0x200, 0x2ff, READ, Residence::Paged)).unwrap();
    map.insert(area(0x300, 0x3ff, READ | WRITE, Residence::Device)).unwrap();
    assert_eq!(map.check(0x1f0, 0x110, AccessKind::Read), Ok(()));
    assert_eq!(map.check(0x1f0, 0x111, AccessKind::Read), Err(Refusal::Device { addr: 0x300 }));
    assert_eq!(map.check(0x1f0, 0x20, AccessKind::Write), Err(Refusal::Right { addr: 0x200 }));
    assert_eq!(map.area_at(0x3ff).map(|area| area.residence), Some(Residence::Device));
    assert_eq!(map.remove(0x200, 0x2fe), Err(MapError::NotMapped));
    assert_eq!(map.insert(area(5, 4, READ, Residence::Pinned)), Err(MapError::Empty));
    assert_eq!(map.insert(area(4, 5, 0, Residence::Pinned)), Err(MapError::Empty));
}
