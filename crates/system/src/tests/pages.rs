//! Blocks for page tables.

use super::*;
use crate::block::SCHEME;
use crate::build::SchemeTables;
use crate::vmsav7::{Caches, Need, Tables, Vmsav7, tables};
use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;

const MIB: u32 = 1 << 20;
const RAM: u32 = 0x10_0000;
const CHIP: u32 = 0xfffe_0000;

/// Two domains, whose memory is off the chip, with tables on it and off it.
fn paged() -> Builder {
    let mut builder = sample();
    builder.frames = vec![
        Frames { base: RAM, bytes: 16 * MIB, kind: frames::USER, marks: 0 },
        Frames { base: RAM + 16 * MIB, bytes: MIB, kind: frames::ROM, marks: 0 },
        Frames { base: RAM + 17 * MIB, bytes: MIB, kind: frames::KERNEL, marks: 0 },
        Frames { base: CHIP, bytes: 0x1_0000, kind: frames::KERNEL, marks: 0 },
        Frames { base: 0xe000_0000, bytes: 0x1000, kind: frames::DEVICE, marks: 0 },
    ];
    let area = |domain: u32, base: u32, bytes: u32, flags: u32| Area {
        domain,
        base,
        bytes,
        flags: area::READ | flags,
        physical: base,
        ..Area::default()
    };
    let code = |domain: u32| area(domain, RAM + 16 * MIB + 0x1_0000 * domain, 0x1_0000, area::EXECUTE);
    let data = |domain: u32| area(domain, RAM + 4 * MIB * domain, 3 * MIB, area::WRITE | area::CLEAR);
    let device = Area { physical: 0xe000_0000, memory: area::DEVICE, ..area(1, 0x6000_0000, 0x1000, area::WRITE) };
    let lock = area(1, 0x5000_0000, 0x1_0000, area::WRITE | area::PINNED | area::NEAR);
    let lock = Area { physical: RAM + 12 * MIB, ..lock };
    builder.areas = vec![code(0), data(0), code(1), data(1), device, lock];
    for (index, domain) in builder.domains.iter_mut().enumerate() {
        let index = index as u32;
        let code = RAM + 16 * MIB + 0x1_0000 * index;
        *domain = Domain {
            data_base: RAM + 4 * MIB * index + 0x800,
            data_source: RAM + 16 * MIB + 0x4_0000,
            info: code,
            gate_return: code + 0x101,
            first_area: 2 * index,
            areas: 2 + 2 * index,
            ..*domain
        };
    }
    let own = |index: u32| Tables {
        root: CHIP + 0x2000 * index,
        near_base: CHIP + 0x8000 + 0x1000 * index,
        near_bytes: 0x1000,
        far_base: RAM + 17 * MIB + 0x1000 * index,
        far_bytes: 0x1000,
    };
    builder.scheme = SchemeTables::Vmsav7 { caches: Caches::default(), domains: vec![own(0), own(1)] };
    builder.threads[0].entry = RAM + 16 * MIB + 0x101;
    builder.threads[0].stack_base = RAM;
    builder.gates[0].entry = RAM + 16 * MIB + 0x1_0200;
    builder.gates[0].stack_base = RAM + 4 * MIB;
    builder
}

#[test]
fn a_block_of_pages_round_trips() {
    let builder = paged();
    let words = builder.encode().unwrap();
    let system = System::parse(&words).unwrap();
    assert_eq!(system.scheme(), Scheme::Vmsav7);
    assert_eq!(system.own_domain::<Vmsav7>(1).near_base, CHIP + 0x9000);
    assert_eq!(system.all::<Area>().collect::<Vec<_>>(), builder.areas);
    assert_eq!(system.all::<Domain>().collect::<Vec<_>>(), builder.domains);
}

#[test]
fn each_rule_of_pages_refuses_what_breaks_it() {
    type Case = (fn(&mut Builder), Table, &'static str);
    let cases: &[Case] = &[
        (|b| b.tables(1).root = 0, Table::Domains, "root"),
        (|b| b.tables(1).root += 0x1000, Table::Domains, "root"),
        (|b| b.tables(1).root = CHIP, Table::Domains, "root"),
        (|b| b.tables(1).root = CHIP + 0x1_0000, Table::Domains, "root"),
        (|b| b.tables(1).root = RAM + 8 * MIB, Table::Domains, "root"),
        (|b| b.tables(1).near_base += 0x200, Table::Domains, "near_base"),
        (|b| b.tables(1).near_base = CHIP + 0x8000, Table::Domains, "near_base"),
        (|b| b.tables(1).near_base = CHIP + 0x2000, Table::Domains, "near_base"),
        (|b| b.tables(0).near_bytes = 0x200, Table::Domains, "near_base"),
        (|b| b.tables(0).far_bytes = 0x200, Table::Domains, "far_base"),
        (|b| b.tables(0).far_base = RAM, Table::Domains, "far_base"),
        (|b| b.tables(1).far_base = CHIP + 0x8000, Table::Domains, "far_base"),
        (|b| b.areas[1].base += 0x800, Table::Areas, "base"),
        (|b| b.areas[1].bytes -= 0x400, Table::Areas, "bytes"),
        (|b| b.areas[1].physical += 0x800, Table::Areas, "physical"),
        (|b| b.areas[5].base = 0x8000_0000, Table::Areas, "bytes"),
        (|b| b.areas[5].base = 0x7fff_8000, Table::Areas, "bytes"),
        (|b| b.areas[5].physical = u32::MAX - 0xfff, Table::Areas, "physical"),
        (|b| b.areas[1].flags |= 128, Table::Areas, "flags"),
        (|b| b.areas[1].flags |= area::WOVEN, Table::Areas, "flags"),
        (|b| b.areas[1].flags |= area::PINNED, Table::Areas, "flags"),
        (|b| b.areas[1].memory = area::UNCACHED, Table::Areas, "memory"),
        (|b| b.areas[5].bytes = 0x2000, Table::Areas, "flags"),
        (|b| b.areas[5].base += 0x1000, Table::Areas, "flags"),
        (|b| b.areas[5].physical += 0x1000, Table::Areas, "flags"),
        (|b| b.areas[4].flags |= area::PINNED, Table::Areas, "flags"),
        (|b| b.areas[5].physical = 0x2000_0000, Table::Areas, "base"),
        (|b| b.areas[5].physical = RAM + MIB, Table::Areas, "base"),
        (|b| b.areas[5].physical = RAM + 17 * MIB + 0x8_0000, Table::Areas, "base"),
        (|b| b.threads[0].entry += 1, Table::Threads, "entry"),
        (|b| b.gates[0].entry += 2, Table::Gates, "entry"),
    ];
    for (index, (change, table, field)) in cases.iter().enumerate() {
        let mut builder = paged();
        change(&mut builder);
        match builder.encode() {
            Err(TableError::Entry { table: at, field: name, .. }) => {
                assert_eq!((at, name), (*table, *field), "case {index}");
            }
            other => panic!("case {index}: {:?}", other.map(|words| words.len())),
        }
    }
}

#[test]
fn domains_use_the_same_addresses_for_different_memory_but_one_domain_does_not() {
    let mut builder = paged();
    let other = Area { domain: 0, physical: RAM + 13 * MIB, flags: area::READ, ..builder.areas[5] };
    builder.areas.insert(2, other);
    (builder.domains[0].areas, builder.domains[1].first_area) = (3, 3);
    assert!(builder.encode().is_ok(), "another domain uses that address for other memory");
    builder.areas[2].base = RAM + MIB;
    let wrong = TableError::Entry { table: Table::Areas, index: 2, field: "base" };
    assert_eq!(builder.encode().err(), Some(wrong));
}

#[test]
fn more_locked_entries_than_the_chip_has_are_refused() {
    let mut builder = paged();
    for index in 1..=4 {
        let last = builder.areas[5];
        assert!(builder.encode().is_ok(), "{index}");
        let (base, physical) = (last.base + index * 0x1_0000, last.physical + index * 0x1_0000);
        builder.areas.push(Area { base, physical, ..last });
        builder.domains[1].areas += 1;
    }
    assert_eq!(builder.encode().err(), Some(TableError::Entry { table: Table::Areas, index: 9, field: "flags" }));
}

#[test]
fn one_table_is_near_or_far() {
    let mut builder = paged();
    let beside = Area { base: 0x5008_0000, physical: RAM + 13 * MIB, flags: area::READ, ..builder.areas[5] };
    builder.areas.push(beside);
    builder.domains[1].areas += 1;
    assert_eq!(builder.encode().err(), Some(TableError::Entry { table: Table::Areas, index: 6, field: "flags" }));
    builder.areas[6].flags |= area::NEAR;
    assert!(builder.encode().is_ok());
    builder.areas[6] = Area { base: 0x5010_0000, bytes: MIB, ..beside };
    assert!(builder.encode().is_ok(), "a section has no table");
}

#[test]
fn tables_are_counted_as_the_kernel_takes_them() {
    let builder = paged();
    let need = |range: core::ops::Range<usize>| tables(builder.areas[range].iter().copied());
    assert_eq!(need(0..2), Need { near: 0, far: 1 }, "three sections, and 64 KiB");
    assert_eq!(need(2..6), Need { near: 1, far: 2 });
    let split = |base: u32, physical: u32, bytes: u32| Area { base, physical, bytes, ..Area::default() };
    let need = |areas: &[Area]| tables(areas.iter().copied()).far;
    assert_eq!(need(&[split(0, 0x1000, 3 * MIB)]), 3, "nothing fits a section");
    assert_eq!(need(&[split(0x1000, 0x1000, 3 * MIB)]), 2, "two sections between the ends");
    assert_eq!(need(&[split(0x1000, 0x1000, 0x1000), split(0x3000, 0x2000, 0x1000)]), 1);
    assert_eq!(need(&[split(0xf_f000, 0, 0x2000), split(0x10_3000, 0x2000, 0x1000)]), 2);
}

#[test]
fn ways_are_locked_with_memory_of_the_kernel_or_with_nothing() {
    let ways = |ways, base, bytes| {
        let mut builder = paged();
        let SchemeTables::Vmsav7 { caches, .. } = &mut builder.scheme else { unreachable!() };
        *caches = Caches { ways, base, bytes, prefetch: 1 };
        builder.encode().map(|words| System::parse(&words).unwrap().own::<Vmsav7>())
    };
    let kernel = RAM + 17 * MIB;
    for right in [(0, 0, 0), (8, 0, 0), (2, kernel + 0x8_0400, 0x1_fc00), (16, kernel, 0xf_fc00)] {
        let (count, base, bytes) = right;
        assert_eq!(ways(count, base, bytes), Ok(Caches { ways: count, base, bytes, prefetch: 1 }));
    }
    for (count, base, bytes) in [
        (17, 0, 0),
        (0, kernel, 0x400),
        (1, kernel, 0x1_0000),
        (1, kernel + 0x200, 0x400),
        (1, kernel, 0x200),
        (1, RAM, 0x400),
        (1, kernel + MIB - 0x400, 0x800),
    ] {
        assert_eq!(ways(count, base, bytes).err(), Some(TableError::Scheme), "{count} {base:#x} {bytes:#x}");
    }
}

#[test]
fn a_section_of_another_scheme_or_size_is_refused() {
    for builder in [sample(), paged()] {
        let words = builder.encode().unwrap();
        let section = words[SCHEME] as usize;
        let with = |index: usize, value: u32| {
            let mut words = words.clone();
            words[index] = value;
            words[3] = checksum(&words[HEADER_WORDS..]);
            System::parse(&words).err()
        };
        assert_eq!(with(section, words[section]), None);
        for wrong in [0, 4, 3 - words[section]] {
            assert_eq!(with(section, wrong), Some(TableError::Scheme));
        }
        for (index, wrong) in [(SCHEME, 0), (SCHEME, words.len() as u32), (SCHEME + 1, words[SCHEME + 1] - 1)] {
            assert_eq!(with(index, wrong), Some(TableError::Scheme));
        }
        // A kernel takes the tables of its own scheme.
        let taken = [
            System::parse_of::<Pmsav7>(&words).err(),
            System::parse_of::<Vmsav7>(&words).err(),
            System::parse_of::<Pmsav8>(&words).err(),
        ];
        assert_eq!(taken.iter().filter(|error| error.is_none()).count(), 1);
        assert_eq!(taken[words[section] as usize - 1], None);
    }
    let mut words = paged().encode().unwrap();
    let prefetch = words[SCHEME] as usize + 4;
    words[prefetch] = 2;
    words[3] = checksum(&words[HEADER_WORDS..]);
    assert_eq!(System::parse(&words).err(), Some(TableError::Scheme));
}
