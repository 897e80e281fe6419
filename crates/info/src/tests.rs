//! A block written by hand, as `abi::info` describes it. The host tool's own blocks are read back in `tools/place`.

use std::boxed::Box;
use std::vec::Vec;

use super::*;

extern crate std;

fn padded(name: &str) -> Vec<u32> {
    let mut bytes = [0u8; NAME_BYTES];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// A block with these entries; it lives as long as the test.
fn block(caps: &[(&str, u32, u32)], areas: &[(&str, [u32; area::WORDS])], envelopes: &[[u32; 6]]) -> Info {
    let mut words = std::vec![0; HEADER_WORDS];
    words[word::MAGIC] = MAGIC;
    words[word::VERSION] = VERSION;
    for (index, count) in [(word::CAPS, caps.len()), (word::AREAS, areas.len()), (word::ENVELOPES, envelopes.len())] {
        words[index] = count as u32;
    }
    words.splice(word::NAME..word::NAME + 4, padded("fifteen-letters"));
    for (name, slot, kind) in caps {
        words.extend(padded(name).into_iter().chain([*slot, *kind]));
    }
    for (name, area) in areas {
        words.extend(padded(name).into_iter().chain(*area));
    }
    words.extend(envelopes.iter().flatten());
    // SAFETY: the words are a block, and are never freed.
    unsafe { Info::at(Box::leak(words.into_boxed_slice()).as_ptr()) }.expect("a block of this version")
}

const HEAP: [u32; area::WORDS] = [0x2000_0000, 0x100, 0b1011, 7, 40, 3, 0x1000, 0];
const DEVICE: [u32; area::WORDS] = [0x4000_0000, 0x1000, 0b0011, 0, UNBOUNDED, 1, 0, 99];
const UNBOUNDED: u32 = abi::info::UNBOUNDED;

fn two() -> Info {
    let caps = [("memory", 3, Kind::Gate as u32), ("memory", 5, Kind::Notification as u32), ("app", 12, 0)];
    block(&caps, &[("heap", HEAP), ("uart", DEVICE)], &[[7, 0, 64, 32, 4, 1]])
}

#[test]
fn names_find_what_they_name_and_nothing_else() {
    let info = two();
    assert_eq!(info.name(), "fifteen-letters");
    assert_eq!(info.cap("memory", Kind::Gate), Some(Cap { slot: 3, kind: Kind::Gate }));
    assert_eq!(info.cap("memory", Kind::Notification).map(|cap| cap.slot), Some(5));
    for name in ["", "mem", "memory2", "memory\0", "app"] {
        assert_eq!(info.cap(name, Kind::Gate), None, "{name:?}");
    }
    assert_eq!((info.client(12), info.client(3)), (Some("app"), None));
    assert_eq!(info.area("uart").map(|area| (area.base, area.kind)), Some((0x4000_0000, 99)));
    assert_eq!(info.area("hea"), None);
    assert_eq!(info.areas().map(|(name, _)| name).collect::<Vec<_>>(), ["heap", "uart"]);
}

#[test]
fn an_address_belongs_to_a_piece_or_to_none() {
    let info = two();
    let piece = |address| info.piece_at(address).map(|(_, piece)| piece);
    for (first, last) in [(0x2000_0000, 0x2000_00ff), (0x2000_1000, 0x2000_10ff), (0x2000_2000, 0x2000_20ff)] {
        assert_eq!((piece(first), piece(last)), (Some((first, 0x100)), Some((first, 0x100))));
    }
    for outside in [0, 0x1fff_ffff, 0x2000_0100, 0x2000_0fff, 0x2000_3000, 0x3fff_ffff, 0x4000_1000, u32::MAX] {
        assert_eq!(piece(outside), None, "{outside:#x}");
    }
    assert_eq!(piece(0x4000_0fff), Some((0x4000_0000, 0x1000)));
    let pieces: Vec<_> = info.area("heap").expect("an area").each_piece().map(|(base, _)| base).collect();
    assert_eq!(pieces, [0x2000_0000, 0x2000_1000, 0x2000_2000]);
}

#[test]
fn an_envelope_comes_with_its_arena() {
    let all: Vec<_> = two().envelopes().collect();
    let arena = two().area("heap").expect("an area");
    assert_eq!(all, [Envelope { spec: 7, arena, live: 64, largest: 32, count: 4, default: true }]);
    assert_eq!(block(&[], &[("heap", HEAP)], &[[7, 1, 64, 32, 4, 1]]).envelopes().count(), 0, "no such area");
}

#[test]
fn a_block_of_another_version_is_none() {
    for (index, value) in [(word::MAGIC, MAGIC + 1), (word::VERSION, VERSION + 1), (word::VERSION, 0)] {
        let mut words = [0u32; HEADER_WORDS];
        words[word::MAGIC] = MAGIC;
        words[word::VERSION] = VERSION;
        words[index] = value;
        // SAFETY: only the header is read.
        assert!(unsafe { Info::at(words.as_ptr()) }.is_none());
    }
}
