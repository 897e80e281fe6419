//! The image that the tool has built for a target: the kernel under test boots from its tables, and finds in it what domains read there.

use std::collections::BTreeMap;
use std::path::Path;
use std::vec::Vec;

use abi::Kind;
use abi::info::{AREA_BYTES, CAP_BYTES, HEADER_WORDS, NAME_BYTES, area, word};
use system::System;

/// Loadable segments, by first address, and the system's tables.
pub struct Image {
    segments: BTreeMap<u32, Vec<u8>>,
    pub tables: System<'static>,
}

/// A word of a file, little-endian; 0 behind its end.
fn word_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_le_bytes)
}

fn half_at(bytes: &[u8], at: usize) -> usize {
    word_at(bytes, at) as usize & 0xffff
}

/// Segments of an ELF file of 32 bits, by physical address.
fn segments(file: &[u8]) -> BTreeMap<u32, Vec<u8>> {
    assert_eq!(file.get(..5), Some(&b"\x7fELF\x01"[..]), "an ELF file of 32 bits");
    let (first, bytes, count) = (word_at(file, 28) as usize, half_at(file, 42), half_at(file, 44));
    let headers = (0..count).map(|index| first + index * bytes).filter(|header| word_at(file, *header) == 1);
    let segment = |header: usize| {
        let (offset, length) = (word_at(file, header + 4) as usize, word_at(file, header + 16) as usize);
        (word_at(file, header + 12), file[offset..offset + length].to_vec())
    };
    headers.map(segment).collect()
}

/// The tables of the system: where their first word is and the block is valid.
fn tables(segments: &BTreeMap<u32, Vec<u8>>) -> Option<System<'static>> {
    segments.values().find_map(|bytes| {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|four| word_at(four, 0)).collect();
        let starts = words.iter().enumerate().filter(|(_, word)| **word == system::MAGIC).map(|(index, _)| index);
        starts.into_iter().find_map(|start| {
            System::parse(&words[start..]).ok()?;
            System::parse(Vec::leak(words[start..].to_vec())).ok()
        })
    })
}

impl Image {
    pub fn read(path: &Path) -> Image {
        let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let segments = segments(&file);
        let tables = tables(&segments).expect("a valid block of tables in the image");
        Image { segments, tables }
    }

    /// A word of the image; `None` where it has none.
    pub fn word(&self, address: u32) -> Option<u32> {
        let (base, bytes) = self.segments.range(..=address).next_back()?;
        let at = (address - base) as usize;
        (at + 4 <= bytes.len()).then(|| word_at(bytes, at))
    }

    pub fn bytes(&self, address: u32, count: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
        (address..address + count).map(|at| (at, self.word(at & !3).unwrap_or(0).to_le_bytes()[at as usize & 3]))
    }

    fn info(&self, domain: usize, index: usize) -> u32 {
        let entry: system::Domain = self.tables.get(domain);
        self.word(entry.info + 4 * index as u32).expect("an information block")
    }

    pub fn board(&self) -> u32 {
        self.info(0, word::BOARD)
    }

    /// Returns true if an entry of the block, which begins at a word, has this name.
    fn is_named(&self, domain: usize, entry: usize, name: &str) -> bool {
        let mut wanted = [0_u8; NAME_BYTES];
        wanted[..name.len()].copy_from_slice(name.as_bytes());
        (0..NAME_BYTES / 4).all(|index| self.info(domain, entry + index) == word_at(&wanted, 4 * index))
    }

    pub fn slot(&self, domain: usize, name: &str, kind: Kind) -> Option<u32> {
        let entries = (0..self.info(domain, word::CAPS) as usize).map(|index| HEADER_WORDS + index * CAP_BYTES / 4);
        let mut named = entries.filter(|entry| self.is_named(domain, *entry, name));
        let found = named.find(|entry| self.info(domain, entry + NAME_BYTES / 4 + 1) == kind as u32)?;
        Some(self.info(domain, found + NAME_BYTES / 4))
    }

    pub fn area(&self, domain: usize, name: &str) -> Option<u32> {
        let first = HEADER_WORDS + self.info(domain, word::CAPS) as usize * CAP_BYTES / 4;
        let mut entries = (0..self.info(domain, word::AREAS) as usize).map(|index| first + index * AREA_BYTES / 4);
        let found = entries.find(|entry| self.is_named(domain, *entry, name))?;
        Some(self.info(domain, found + NAME_BYTES / 4 + area::BASE))
    }
}
