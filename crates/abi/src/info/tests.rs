//! A block written by hand, as the module describes it. The host tool's own blocks are read back in `tools/place`.

extern crate std;

use std::boxed::Box;
use std::vec::Vec;

use super::{
    AREA_BYTES, Cap, Envelope, HEADER_WORDS, Info, MAGIC, NAME_BYTES, UNBOUNDED, VERSION, area, block_bytes, word,
};
use crate::Kind;

fn padded(name: &str) -> Vec<u32> {
    let mut bytes = [0u8; NAME_BYTES];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// The words as bytes that live as long as the test.
fn bytes(words: &[u32]) -> &'static [u8] {
    Box::leak(words.iter().flat_map(|word| word.to_le_bytes()).collect())
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
    Info::read(bytes(&words)).expect("a block of this version")
}

const HEAP: [u32; area::WORDS] = [0x2000_0000, 0x100, 0b1011, 7, 40, 3, 0x1000, 0];
const DEVICE: [u32; area::WORDS] = [0x4000_0000, 0x1000, 0b0011, 0, UNBOUNDED, 1, 0, 99];

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
        assert!(Info::read(bytes(&words)).is_none());
    }
}

#[test]
fn bytes_that_end_before_the_block_are_none() {
    let whole = two().bytes();
    assert_eq!(whole.len(), block_bytes(3, 2, 1));
    assert!((0..whole.len()).all(|end| Info::read(&whole[..end]).is_none()));
    assert!(Info::read(&whole[..whole.len() - AREA_BYTES]).is_none());
}
