//! Blocks for RTMMU.

use super::*;
use crate::build::SchemeTables;
use crate::rtmmu::{BASE, Hardware, Mmu, PAGE, Rtmmu, Space, pages_log2};

const RAM: u32 = 0x4000_0000;
const ROM: u32 = 0x4100_0000;
const TREES: u32 = 0x0004_0000;
const DEVICE: u32 = 0x1000_0000;
const HARDWARE: Hardware = Hardware { entries_log2: 5, mmu: Mmu::Rtmmu as u32, entries: 0x2200_0000 };

/// Two domains at the same addresses, each in a space of its own.
fn spaced() -> Builder {
    let mut builder = sample();
    let frames = |base: u32, bytes: u32, kind: u32| Frames { base, bytes, kind, marks: 0 };
    builder.frames = vec![
        frames(RAM, 0x10_0000, frames::USER),
        frames(ROM, 0x10_0000, frames::ROM),
        frames(TREES, 0x1000, frames::KERNEL),
        frames(DEVICE, PAGE, frames::DEVICE),
    ];
    let area = |domain: u32, page: u32, physical: u32, flags: u32| Area {
        domain,
        base: BASE + page * PAGE,
        bytes: 4 * PAGE,
        flags: area::READ | flags,
        physical,
        ..Area::default()
    };
    let code = |domain: u32| area(domain, 1, ROM + 0x1_0000 * domain, area::EXECUTE);
    let data = |domain: u32| area(domain, 8, RAM + 0x1_0000 * domain, area::WRITE | area::CLEAR);
    let device = Area { bytes: PAGE, memory: area::DEVICE, ..area(1, 14, DEVICE, area::WRITE) };
    builder.areas = vec![code(0), data(0), code(1), data(1), device];
    let (code, data) = (BASE + PAGE, BASE + 8 * PAGE);
    for (index, domain) in builder.domains.iter_mut().enumerate() {
        *domain = Domain {
            data_base: data + 0x800,
            data_source: ROM + 0x4_0000,
            info: code,
            gate_return: code + 0x100,
            first_area: 2 * index as u32,
            areas: 2 + index as u32,
            ..*domain
        };
    }
    let own = |index: u32| Space { first: 16 * index, pages_log2: 4, tree: TREES + 0x100 * index, ..Space::default() };
    builder.scheme = SchemeTables::Rtmmu { hardware: HARDWARE, domains: vec![own(0), own(1)] };
    builder.threads.iter_mut().for_each(|thread| (thread.entry, thread.stack_base) = (code + 0x102, data));
    builder.gates.iter_mut().for_each(|gate| (gate.entry, gate.stack_base) = (code + 0x104, data + 0x400));
    builder
}

fn space(builder: &mut Builder, index: usize) -> &mut Space {
    let SchemeTables::Rtmmu { domains, .. } = &mut builder.scheme else { panic!("another scheme") };
    &mut domains[index]
}

#[test]
fn a_block_of_spaces_is_read_back() {
    let words = spaced().encode().unwrap();
    let system = System::parse_of::<Rtmmu>(&words).unwrap();
    assert_eq!(system.own::<Rtmmu>(), HARDWARE);
    assert_eq!(
        system.own_domain::<Rtmmu>(1),
        Space { first: 16, pages_log2: 4, tree: TREES + 0x100, ..Space::default() }
    );
    assert_eq!(pages_log2(spaced().areas.into_iter()), 4);
    assert_eq!(spaced().scheme.space(1), Some(16));
    let own = Space { first: 4096, pages_log2: 10, ..Space::default() };
    assert_eq!([Mmu::Direct, Mmu::Sv32].map(|mmu| mmu.base(0x2200_0000, &own)), [4096, 0x0002_2000 + 4 + 2]);
    let mut builder = spaced();
    let SchemeTables::Rtmmu { hardware, .. } = &mut builder.scheme else { panic!("another scheme") };
    hardware.entries += 0x800;
    assert_eq!(builder.encode().map(|_| ()), Err(TableError::Scheme));
    assert!(System::parse_of::<crate::vmsav7::Vmsav7>(&words).is_err(), "a kernel has one scheme");
}

type Change = fn(&mut Builder);

/// The blocks are refused after each of these changes, for the field that it names.
fn are_refused(make: fn() -> Builder, cases: &[(&str, Change)]) {
    for (number, (wanted, change)) in cases.iter().enumerate() {
        let mut builder = make();
        change(&mut builder);
        match builder.encode() {
            Err(TableError::Entry { field, .. }) => assert_eq!(field, *wanted, "case {number}"),
            other => panic!("case {number} ({wanted}): {other:?}"),
        }
    }
}

#[test]
fn spaces_that_hardware_or_domains_do_not_have_are_refused() {
    let cases: [(&str, Change); 14] = [
        ("first", |b| space(b, 1).first = 8),
        ("first", |b| space(b, 1).first = 0),
        ("first", |b| space(b, 1).first = 32),
        ("pages_log2", |b| space(b, 1).pages_log2 = 20),
        ("tree", |b| space(b, 1).tree = TREES),
        ("tree", |b| space(b, 1).tree = RAM),
        ("tree", |b| space(b, 1).tree = TREES + 2),
        ("base", |b| b.areas[4].base = BASE + 9 * PAGE),
        ("base", |b| b.areas[4].base = 0x1000),
        ("base", |b| b.areas[4].base = BASE + 16 * PAGE),
        ("base", |b| b.areas[4].base += 32),
        ("physical", |b| b.areas[4].physical += 32),
        ("flags", |b| b.areas[4].flags |= area::PINNED),
        ("entry", |b| b.threads[0].entry |= 1),
    ];
    are_refused(spaced, &cases);
    let mut builder = spaced();
    let SchemeTables::Rtmmu { hardware, .. } = &mut builder.scheme else { panic!("another scheme") };
    hardware.entries_log2 = 21;
    assert_eq!(builder.encode().map(|_| ()), Err(TableError::Scheme));
}

/// The blocks above for another MMU, with so many entries in all and these spaces: first entry, logarithm of pages.
fn for_mmu(mmu: u32, entries_log2: u32, spaces: [(u32, u32); 2]) -> Result<(), TableError> {
    let mut builder = spaced();
    for (index, (first, pages_log2)) in spaces.into_iter().enumerate() {
        let own = space(&mut builder, index);
        (own.first, own.pages_log2) = (first, pages_log2);
    }
    let SchemeTables::Rtmmu { hardware, .. } = &mut builder.scheme else { panic!("another scheme") };
    *hardware = Hardware { entries_log2, mmu, ..*hardware };
    builder.encode().map(|_| ())
}

#[test]
fn spaces_have_the_entries_that_their_mmu_takes() {
    let field = |told: Result<(), TableError>| match told {
        Ok(()) => "",
        Err(TableError::Entry { field, .. }) => field,
        Err(error) => panic!("{error:?}"),
    };
    for number in [0, 4, 5, u32::MAX] {
        assert_eq!(for_mmu(number, 5, [(0, 4), (16, 4)]), Err(TableError::Scheme), "{number}");
    }
    // A word for the header of each page lies behind the entries.
    let direct = |entries_log2: u32, spaces: [(u32, u32); 2]| field(for_mmu(Mmu::Direct as u32, entries_log2, spaces));
    assert_eq!(direct(6, [(0, 4), (32, 4)]), "");
    assert_eq!(direct(6, [(32, 4), (0, 4)]), "");
    assert_eq!(direct(6, [(0, 4), (16, 4)]), "first");
    assert_eq!(direct(6, [(0, 4), (48, 4)]), "first");
    assert_eq!(direct(5, [(0, 4), (32, 4)]), "first");
    // So does the table of the first level, and no table of the second is smaller than a page.
    let sv32 = |entries_log2: u32, spaces: [(u32, u32); 2]| field(for_mmu(Mmu::Sv32 as u32, entries_log2, spaces));
    assert_eq!(sv32(14, [(0, 10), (4096, 11)]), "first");
    assert_eq!(sv32(14, [(0, 10), (8192, 11)]), "");
    assert_eq!(sv32(14, [(0, 10), (2048, 10)]), "first");
    assert_eq!(sv32(14, [(4096, 10), (4096, 10)]), "first");
    assert_eq!(sv32(12, [(0, 10), (4096, 10)]), "first");
    assert_eq!(sv32(14, [(0, 9), (4096, 10)]), "pages_log2");
}

/// The blocks above, where domain 1 has a demand area of 8 pages with two frames.
fn with_demand() -> Builder {
    let mut builder = spaced();
    let flags = area::READ | area::WRITE | area::DEMAND;
    let (base, physical) = (BASE + 24 * PAGE, RAM + 0x4_0000);
    builder.areas.push(Area { domain: 1, base, bytes: 2 * PAGE, flags, physical, ..Area::default() });
    builder.domains[1].areas += 1;
    let SchemeTables::Rtmmu { hardware, .. } = &mut builder.scheme else { panic!("another scheme") };
    hardware.entries_log2 = 6;
    let own = Space { first: 32, pages_log2: 5, demand_pages: 8, links: TREES + 0x800, ..*space(&mut builder, 1) };
    *space(&mut builder, 1) = own;
    builder
}

#[test]
fn a_demand_area_is_one_domains_data_with_links_of_its_own() {
    with_demand().encode().unwrap();
    let cases: [(&str, Change); 16] = [
        ("demand_pages", |b| space(b, 1).demand_pages = 0),
        ("demand_pages", |b| space(b, 1).demand_pages = 1),
        ("demand_pages", |b| space(b, 0).demand_pages = 8),
        ("base", |b| space(b, 1).demand_pages = 9),
        ("links", |b| space(b, 1).links = TREES + 0x100),
        ("links", |b| space(b, 1).links = TREES),
        ("links", |b| space(b, 1).links += 2),
        ("links", |b| space(b, 1).links = RAM),
        ("links", |b| space(b, 1).links = TREES + 0xffc),
        ("flags", |b| b.areas[5].flags |= area::SHARED),
        ("flags", |b| b.areas[5].flags = area::READ | area::DEMAND),
        ("flags", |b| b.areas[5].flags = area::READ | area::EXECUTE | area::DEMAND),
        ("flags", |b| b.areas[5].flags |= 2 * area::DEMAND),
        // Addresses behind its frames are its own, too.
        ("base", |b| b.areas[4].base = BASE + 31 * PAGE),
        ("stack_base", |b| b.gates[0].stack_base = BASE + 24 * PAGE),
        ("data_base", |b| b.domains[1].data_base = BASE + 24 * PAGE),
    ];
    are_refused(with_demand, &cases);
    let mut builder = sample();
    builder.areas[0].flags |= area::DEMAND;
    assert!(matches!(builder.encode(), Err(TableError::Entry { field: "flags", .. })), "only RTMMU has such areas");
}
