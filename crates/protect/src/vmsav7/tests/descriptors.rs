//! Every word, read by an interpreter that is written from the manual's tables and shares nothing with the encoder.

use crate::{AccessKind, MemType};
use std::vec::Vec;

use crate::vmsav7::*;
use crate::{Access, Data};

/// A word, as a walk of the hardware reads it. Public fields in the manual's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub base: u32,
    pub log2: u32,
    /// `[by][kind]`: user and kernel; read, write, fetch.
    pub permits: [[bool; 3]; 2],
    /// Memory type by `TEX C B` (table B3-10), its name.
    pub memory: &'static str,
    pub shared: bool,
    pub global: bool,
}

fn field(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & ((1 << (high - low + 1)) - 1)
}

/// Table B3-8: user read, user write, kernel read, kernel write.
fn by_ap(ap: u32) -> Option<[bool; 4]> {
    [
        Some([false, false, false, false]),
        Some([false, false, true, true]),
        Some([true, false, true, true]),
        Some([true, true, true, true]),
        None,
        Some([false, false, true, false]),
        Some([true, false, true, false]),
        Some([true, false, true, false]),
    ][ap as usize]
}

fn read(base: u32, log2: u32, ap: u32, xn: u32, tex_cb: (u32, u32), s_ng: (u32, u32)) -> Option<Read> {
    let [ur, uw, kr, kw] = by_ap(ap)?;
    let fetch = |readable| readable && xn == 0;
    let memory = match tex_cb {
        (0, 0) => "strongly-ordered",
        (0, 1) => "device",
        (0, 2) => "write-through",
        (0, 3) => "write-back, no allocation",
        (1, 0) => "non-cacheable",
        (1, 3) => "write-back",
        (2, 0) => "device, not shared",
        (4..=7, _) => "two policies",
        _ => return None,
    };
    let permits = [[ur, uw, fetch(ur)], [kr, kw, fetch(kr)]];
    Some(Read { base, log2, permits, memory, shared: s_ng.0 == 1, global: s_ng.1 == 0 })
}

/// Figure B3-4: `Ok(None)` for a fault, `Err` with the address of a table.
pub fn first(word: u32) -> Result<Option<Read>, u32> {
    match field(word, 1, 0) {
        1 => return Err(word & 0xffff_fc00),
        2 => {}
        _ => return Ok(None),
    }
    let (base, log2) = if field(word, 18, 18) == 1 { (word & 0xff00_0000, 24) } else { (word & 0xfff0_0000, 20) };
    let ap = field(word, 15, 15) * 4 + field(word, 11, 10);
    let tex_cb = (field(word, 14, 12), field(word, 3, 2));
    Ok(read(base, log2, ap, field(word, 4, 4), tex_cb, (field(word, 16, 16), field(word, 17, 17))))
}

/// Figure B3-5.
pub fn second(word: u32) -> Option<Read> {
    let ap = field(word, 9, 9) * 4 + field(word, 5, 4);
    let s_ng = (field(word, 10, 10), field(word, 11, 11));
    let cb = field(word, 3, 2);
    match field(word, 1, 0) {
        0 => None,
        1 => read(word & 0xffff_0000, 16, ap, field(word, 15, 15), (field(word, 14, 12), cb), s_ng),
        _ => read(word & 0xffff_f000, 12, ap, field(word, 0, 0), (field(word, 8, 6), cb), s_ng),
    }
}

fn name(memory: MemType) -> &'static str {
    match memory {
        MemType::WriteBack => "write-back",
        MemType::WriteThrough => "write-through",
        MemType::NonCacheable => "non-cacheable",
        MemType::Device => "device",
        MemType::StronglyOrdered => "strongly-ordered",
    }
}

/// The translation that was asked for, in the interpreter's terms.
fn asked(base: u32, log2: u32, with: Attributes) -> Read {
    let permits = [Privilege::User, Privilege::Kernel]
        .map(|by| [AccessKind::Read, AccessKind::Write, AccessKind::Exec].map(|kind| with.rights().permits(by, kind)));
    let memory = name(with.memory());
    Read { base, log2, permits, memory, shared: with.is_shared(), global: with.is_global() }
}

pub fn every_attribute() -> Vec<Attributes> {
    let memory =
        [MemType::WriteBack, MemType::WriteThrough, MemType::NonCacheable, MemType::Device, MemType::StronglyOrdered];
    let mut all = Vec::new();
    for rights in Rights::ALL {
        for memory in memory {
            for flags in 0..4 {
                all.extend(Attributes::new(rights, memory, flags & 1 != 0, flags & 2 != 0));
            }
        }
    }
    all
}

#[test]
fn what_the_bits_permit_is_what_was_asked() {
    let all = every_attribute();
    // Two of six rights cannot be given to the two kinds of devices.
    assert_eq!(all.len(), (6 * 5 - 2 * 2) * 4);
    for with in all {
        let base = 0xa5b0_0000;
        assert_eq!(first(First::Section(Base::of(base), with).encode()), Ok(Some(asked(base, 20, with))));
        let word = First::Supersection(Base::of(base), with).encode();
        assert_eq!(first(word), Ok(Some(asked(0xa500_0000, 24, with))));
        // Domain 0, secure, and no physical address above 4 GiB.
        assert_eq!((field(word, 8, 5), field(word, 19, 19), field(word, 23, 20)), (0, 0, 0));
        let large = Second::Large(Base::of(0xa5b7_0000), with).encode();
        assert_eq!(second(large), Some(asked(0xa5b7_0000, 16, with)));
        let small = Second::Small(Base::of(0xa5b7_c000), with).encode();
        assert_eq!(second(small), Some(asked(0xa5b7_c000, 12, with)));
        assert_eq!(First::decode(word), Ok(First::Supersection(Base::of(base), with)));
        assert_eq!(Second::decode(small), Ok(Second::Small(Base::of(0xa5b7_c000), with)));
    }
    assert_eq!(first(First::Table(Base::of(0x1234_5c00)).encode()), Err(0x1234_5c00));
    assert_eq!((First::Fault.encode(), Second::Fault.encode()), (0, 0));
}

/// Every combination of the bits below the base.
#[test]
fn what_is_decoded_is_exactly_what_is_encoded() {
    let (mut firsts, mut seconds) = (0, 0);
    for low in 0..1u32 << 20 {
        let word = 0x8760_0000 | low;
        match First::decode(word) {
            Ok(First::Fault) => assert_eq!(first(word), Ok(None)),
            Ok(found @ First::Table(table)) => assert_eq!((first(word), found.encode()), (Err(table.address()), word)),
            Ok(found @ (First::Section(_, with) | First::Supersection(_, with))) => {
                firsts += 1;
                let read = first(word).unwrap().unwrap();
                assert_eq!((read, found.encode()), (asked(read.base, read.log2, with), word));
                assert!(read.permits.iter().all(|of| !of[1] || !of[2]));
            }
            Err(malformed) => assert_eq!(malformed, Malformed(word)),
        }
    }
    for low in 0..1u32 << 16 {
        let word = 0x8765_0000 | low;
        match Second::decode(word) {
            Ok(Second::Fault) => assert_eq!(second(word), None),
            Ok(found @ (Second::Large(_, with) | Second::Small(_, with))) => {
                seconds += 1;
                let read = second(word).unwrap();
                assert_eq!((read, found.encode()), (asked(read.base, read.log2, with), word));
            }
            Err(malformed) => assert_eq!(malformed, Malformed(word)),
        }
    }
    // All attributes of sections (a supersection is aligned to more than this base is), and of both kinds of pages: the small ones
    // at sixteen bases.
    let all = every_attribute().len();
    assert_eq!((firsts, seconds), (all, all * 17));
}

#[test]
fn nothing_is_both_written_and_executed() {
    for data in [Data::None, Data::Ro, Data::Rw] {
        for exec in [false, true] {
            let rights = Rights::of(Access { data, exec });
            assert_eq!(rights.is_none(), exec && data != Data::Ro, "{data:?} {exec}");
            let Some(rights) = rights else { continue };
            assert_eq!(rights.permits(Privilege::User, AccessKind::Read), data != Data::None);
            assert_eq!(rights.permits(Privilege::User, AccessKind::Write), data == Data::Rw);
            assert_eq!(rights.permits(Privilege::User, AccessKind::Exec), exec);
        }
    }
    for device in [MemType::Device, MemType::StronglyOrdered] {
        assert_eq!(Attributes::new(Rights::UserCode, device, false, false), None);
    }
}

/// Shapes, counted unit by unit.
#[test]
fn a_shape_is_what_is_mapped() {
    let mut random = crate::testing::Rng::new(11);
    for _ in 0..2000 {
        let shift = [12, 16, 20][random.below(3) as usize];
        let mut address = |limit| (random.below(limit) as u32) << shift & 0x3fff_f000;
        let (virt, phys) = (address(1 << 20), address(1 << 20));
        let bytes = (1 + random.below(1500) as u32) << 12;
        let (mut page, mut frame, mut left) = (virt >> 12, phys >> 12, bytes >> 12);
        let mut expected = Shape::default();
        let mut tables = Vec::new();
        while left > 0 {
            let fits = |pages: u32| page % pages == 0 && frame % pages == 0 && left >= pages;
            let pages = if fits(256) {
                expected.sections += 1;
                256
            } else {
                tables.push(page / 256);
                if fits(16) {
                    expected.large += 1;
                    16
                } else {
                    expected.small += 1;
                    1
                }
            };
            (page, frame, left) = (page + pages, frame + pages, left - pages);
        }
        tables.dedup();
        expected.tables = tables.len() as u32;
        assert_eq!(Shape::of(virt, phys, bytes), Some(expected), "{virt:#x} {phys:#x} {bytes:#x}");
        assert_eq!(expected.descriptors(), expected.sections + 16 * expected.large + expected.small);
    }
    for (virt, phys, bytes) in [(1, 0, 4096), (0, 2048, 4096), (0, 0, 0), (0, 0, 4097), (0, 0xffff_f000, 8192)] {
        assert_eq!(Shape::of(virt, phys, bytes), None);
    }
    assert_eq!(Shape::of(0, 0xffff_f000, 4096).unwrap().tlb_entries(), 1);
}
