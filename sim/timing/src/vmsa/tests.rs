use std::collections::BTreeMap;

use super::{Fault, Registers, Tables, walk};
use crate::attr::{MemAttr, Outer};

/// A copy of translation tables, as an observer keeps it.
#[derive(Clone, Default)]
pub(crate) struct Shadow {
    words: BTreeMap<u32, u32>,
    generation: u64,
}

impl Shadow {
    pub(crate) fn set(&mut self, addr: u32, word: u32) {
        self.words.insert(addr, word);
        self.generation += 1;
    }
}

impl Tables for Shadow {
    fn descriptor(&self, addr: u32) -> Option<u32> {
        self.words.get(&addr).copied()
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}

const ROOT: u32 = 0x0100_0000;
const PAGES: u32 = 0x0200_0400;

fn registers() -> Registers {
    Registers { enabled: true, ttbr0: ROOT, ..Registers::RESET }
}

/// One descriptor of the first level for addresses from 0x4000_0000: entry 0x400, at ROOT + 0x1000.
fn first(word: u32) -> Shadow {
    let mut tables = Shadow::default();
    tables.set(ROOT + 0x1000, word);
    tables
}

/// A second-level table behind it, whose entry `n` is at PAGES + 4 n, in domain 5.
fn second(n: u32, word: u32) -> Shadow {
    let mut tables = first(PAGES | 5 << 5 | 1);
    tables.set(PAGES + n * 4, word);
    tables
}

/// A section: base 0x300, TEX 001 C B (write-back, write-allocate), AP 0b011, domain 3, nG, XN.
#[test]
fn a_section_is_one_descriptor() {
    let tables = first(0x3000_0000 | 1 << 17 | 1 << 12 | 3 << 10 | 3 << 5 | 1 << 4 | 0b1110);
    let walk = walk(&registers(), &tables, 0x4001_2345);
    assert_eq!((walk.levels, walk.reads[0], walk.root), (1, ROOT + 0x1000, ROOT));
    let m = walk.outcome.unwrap();
    assert_eq!((m.virt, m.phys, m.size_log2), (0x4000_0000, 0x3000_0000, 20));
    assert_eq!((m.global, m.domain, m.access, m.never), (false, 3, 3, true));
    assert_eq!((m.attr, m.outer), (MemAttr::WRITE_BACK_ALLOCATE.execute_never(), Outer::WriteBackAllocate));
    assert_eq!(m.translate(0x4001_2345), 0x3001_2345);
}

/// AP[2] of a section is bit 15.
#[test]
fn a_read_only_section_says_so() {
    let m = walk(&registers(), &first(0x3000_0000 | 1 << 15 | 2 << 10 | 2), 0x4000_0000).outcome.unwrap();
    assert_eq!((m.access, m.never, m.attr), (6, false, MemAttr::STRONGLY_ORDERED));
}

/// A supersection covers 16 MiB and has domain 0, whatever its domain bits (which are address bits) say.
#[test]
fn a_supersection_covers_sixteen_sections() {
    let mut tables = Shadow::default();
    tables.set(ROOT + 0x100C, 0x5100_0000 | 1 << 18 | 7 << 5 | 2);
    let m = walk(&registers(), &tables, 0x4034_5678).outcome.unwrap();
    assert_eq!((m.virt, m.phys, m.size_log2, m.domain), (0x4000_0000, 0x5100_0000, 24, 0));
    assert_eq!(m.translate(0x4034_5678), 0x5134_5678);
    assert_eq!((m.attr, m.global), (MemAttr::STRONGLY_ORDERED, true));
}

/// Small page 0x12 of the section: AP[2] in bit 9, AP[1:0] in 5 and 4, nG in 11, TEX in 8 to 6, XN in 0.
#[test]
fn a_small_page_has_two_descriptors() {
    let tables = second(0x12, 0x3456_7000 | 1 << 11 | 1 << 9 | 0b101 << 6 | 2 << 4 | 0b11);
    let walk = walk(&registers(), &tables, 0x4001_2FFC);
    assert_eq!((walk.levels, walk.reads), (2, [ROOT + 0x1000, PAGES + 0x48]));
    let m = walk.outcome.unwrap();
    assert_eq!((m.virt, m.phys, m.size_log2), (0x4001_2000, 0x3456_7000, 12));
    assert_eq!((m.global, m.domain, m.access, m.never), (false, 5, 6, true));
    // TEX 101, C and B clear: outer write-back allocate, inner not cacheable.
    assert_eq!((m.attr.cacheable, m.outer), (false, Outer::WriteBackAllocate));
}

/// Large page: base of 64 KiB, XN in bit 15, TEX in 14 to 12.
#[test]
fn a_large_page_covers_sixteen_entries() {
    let tables = second(0x13, 0x3456_0000 | 1 << 15 | 1 << 10 | 3 << 4 | 0b1001);
    let m = walk(&registers(), &tables, 0x4001_3004).outcome.unwrap();
    assert_eq!((m.virt, m.phys, m.size_log2), (0x4001_0000, 0x3456_0000, 16));
    assert_eq!((m.global, m.never, m.attr.shareable), (true, true, true));
    assert_eq!(m.outer, Outer::WriteThrough, "TEX 000, C, not B");
    // TEX 101 in its own place; bit 0 is part of the type, not XN.
    let m = walk(&registers(), &second(0x13, 0x3456_0000 | 5 << 12 | 1 << 4 | 1), 0x4001_3004).outcome.unwrap();
    assert_eq!((m.never, m.outer, m.attr.cacheable), (false, Outer::WriteBackAllocate, false));
}

#[test]
fn what_translates_nothing_says_why() {
    let fault = |tables: &Shadow| walk(&registers(), tables, 0x4000_0000).outcome.unwrap_err();
    assert_eq!(fault(&first(0)), Fault::FirstLevel);
    assert_eq!(fault(&first(3)), Fault::FirstLevel, "reserved");
    assert_eq!(fault(&second(0, 0)), Fault::SecondLevel);
    assert_eq!(fault(&Shadow::default()), Fault::Unknown(ROOT + 0x1000));
    assert_eq!(fault(&second(1, 2)), Fault::Unknown(PAGES));
    let flagged = Registers { access_flag: true, ..registers() };
    assert_eq!(walk(&flagged, &second(0, 2), 0x4000_0000).outcome, Err(Fault::AccessFlag));
    assert!(walk(&flagged, &second(0, 1 << 4 | 2), 0x4000_0000).outcome.is_ok());
}

/// N = 2: TTBR0's table translates the lowest GiB with 1024 entries (4 KiB), so bits 13 and 12 of its base count; TTBR1's
/// the rest with all 4096.
#[test]
fn the_two_base_registers_split_the_addresses() {
    let r = Registers { ttbr0: 0x0100_3048, ttbr1: 0x0200_4001, ttbcr: 2, ..registers() };
    let low = r.root(0x3FF0_0000);
    assert_eq!((low.base, low.index), (0x0100_3000, 0x3FF));
    assert!(low.memory.level1, "IRGN 01: write-back, write-allocate");
    assert_eq!(low.memory.outer, Outer::WriteBackAllocate);
    let high = r.root(0x4000_0000);
    assert_eq!((high.base, high.index), (0x0200_4000, 0x400));
    assert!(!high.memory.level1, "IRGN 10: write-through is not looked up in level 1");
    assert_eq!(high.memory.outer, Outer::NonCacheable);
    let off = |ttbcr, addr| Registers { ttbcr, ..r }.root(addr).disabled;
    assert!(off(0x12, 0) && !off(0x12, 0x4000_0000) && off(0x22, 0x4000_0000) && !off(0x22, 0));
    let disabled = Registers { ttbcr: 0x12, ..r };
    assert_eq!(walk(&disabled, &Shadow::default(), 0).outcome, Err(Fault::Disabled));
}

/// Remap: entry 1 (TEX[0] clear, B) is normal memory, inner write-through, outer write-back; NS1 makes S = 1 shareable.
#[test]
fn remapped_attributes_come_from_two_registers() {
    let r = Registers { remap: true, prrr: 2 << 2 | 1 << 19, nmrr: 2 << 2 | 3 << 18, ..registers() };
    assert_eq!(r.attributes(0b110, false, true, false, false), (MemAttr::WRITE_THROUGH, Outer::WriteBack));
    assert_eq!(r.attributes(0b110, false, true, true, false).0, MemAttr::WRITE_THROUGH.shared());
    assert_eq!(r.attributes(0, false, false, false, false).0, MemAttr::STRONGLY_ORDERED);
}
