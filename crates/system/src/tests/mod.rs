extern crate alloc;
use alloc::vec;
use alloc::vec::Vec;

use crate::build::Builder;
use crate::*;

mod direct;
mod nodes;
mod pages;
mod spaces;

/// Two domains, one calling the other through a gate: the smallest system with an entry in every table.
fn sample() -> Builder {
    let code = |domain: u32, base: u32| Area {
        domain,
        base,
        bytes: 0x1000,
        flags: area::READ | area::EXECUTE | area::PINNED,
        memory: area::WRITE_THROUGH,
        physical: 0,
    };
    let data = |domain: u32, base: u32| Area {
        domain,
        base,
        bytes: 0x1000,
        flags: area::READ | area::WRITE | area::PINNED | area::CLEAR,
        memory: area::NORMAL,
        physical: 0,
    };
    let domain = |first_area: u32, base: u32| Domain {
        data_base: base + 0x800,
        data_source: 0x20_4000,
        data_bytes: 64,
        zero_bytes: 64,
        info: 0x20_0000 + first_area * 0x800,
        gate_return: 0x20_0101 + first_area * 0x800,
        policy: policy::STOP,
        cap_slots: 4,
        first_area,
        areas: 2,
        awaited: 1,
        fault_notification: 1,
    };
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM, marks: 0 },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL, marks: 0 },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER, marks: 0 },
            Frames { base: 0x4000_4000, bytes: 0x1000, kind: frames::DEVICE, marks: 0 },
        ],
        domains: vec![domain(0, 0x2002_0000), domain(2, 0x2002_1000)],
        areas: vec![code(0, 0x20_0000), data(0, 0x2002_0000), code(1, 0x20_1000), data(1, 0x2002_1000)],
        budgets: vec![Budget { period: 25_000, capacity: 2_500, misses: 0 }],
        threads: vec![Thread {
            domain: 0,
            entry: 0x20_0101,
            argument: 0,
            stack_base: 0x2002_0000,
            stack_bytes: 0x400,
            priority: 3,
            budget: 0,
            period: 25_000,
            deadline: 25_000,
        }],
        gates: vec![Gate {
            domain: 1,
            entry: 0x20_1201,
            stack_base: 0x2002_1000,
            stack_bytes: 0x400,
            ceiling: 2,
            bound: 250,
        }],
        notifications: vec![Notification { initial: 0 }],
        interrupts: vec![Interrupt { line: 8, notification: 0, bits: 1, direct: 0 }],
        caps: vec![Cap { domain: 0, slot: 1, kind: 4, object: 0, rights: 2, badge: 7 }],
        ..Builder::default()
    }
}

fn refused(change: impl FnOnce(&mut Builder)) -> TableError {
    let mut builder = sample();
    change(&mut builder);
    builder.encode().expect_err("the block must be refused")
}

fn refused_field(change: impl FnOnce(&mut Builder)) -> (Table, &'static str) {
    match refused(change) {
        TableError::Entry { table, field, .. } => (table, field),
        other => panic!("expected a field, got {other:?}"),
    }
}

#[test]
fn a_block_round_trips() {
    let builder = sample();
    let words = builder.encode().unwrap();
    let system = System::parse(&words).unwrap();
    assert_eq!(system.ticks_per_second(), 25_000_000);
    assert_eq!(system.all::<Area>().collect::<Vec<_>>(), builder.placed());
    assert_eq!(system.all::<Domain>().collect::<Vec<_>>(), builder.domains);
    assert_eq!(system.get::<Cap>(0), builder.caps[0]);
}

#[test]
fn damaged_blocks_are_refused() {
    let words = sample().encode().unwrap();
    for index in 0..words.len() {
        let mut damaged = words.clone();
        damaged[index] ^= 0x8000_0000;
        let parsed = System::parse(&damaged);
        let clock = (4..6).contains(&index);
        assert!(clock || parsed.is_err(), "a flip in word {index} went unnoticed");
    }
    for length in 0..words.len() {
        assert!(System::parse(&words[..length]).is_err());
    }
}

#[test]
fn clocks_that_stand_still_are_refused() {
    assert_eq!(refused(|b| b.ticks_per_second = 0), TableError::Header);
    assert_eq!(refused(|b| b.cpu_hz = 0), TableError::Header);
}

#[test]
fn kernel_memory_cannot_become_an_area() {
    let (table, field) = refused_field(|b| b.areas[1].base = 0x2000_0000);
    assert_eq!((table, field), (Table::Domains, "data_base"));
    let (table, field) = refused_field(|b| {
        b.areas[1].base = 0x2000_0000;
        b.domains[0].data_bytes = 0;
        b.domains[0].zero_bytes = 0;
    });
    assert_eq!((table, field), (Table::Areas, "base"));
}

#[test]
fn areas_may_overlap_only_when_both_say_shared_and_have_all_of_it() {
    let overlap = |b: &mut Builder| {
        b.areas[3].base = b.areas[1].base;
        b.domains[1].data_base = b.domains[0].data_base;
        b.gates[0].stack_base = 0x2002_0400;
    };
    assert_eq!(refused_field(overlap), (Table::Areas, "base"));
    let shared = |b: &mut Builder| {
        overlap(b);
        b.areas[1].flags |= area::SHARED;
        b.areas[3].flags |= area::SHARED;
    };
    // Then only the stack is refused, because it may not be shared.
    assert_eq!(refused_field(shared), (Table::Threads, "stack_base"));
    let part = |b: &mut Builder| {
        shared(b);
        b.areas[3].bytes += 0x20;
    };
    assert_eq!(refused_field(part), (Table::Areas, "base"));
}

/// Memory for a domain's table.
fn table(builder: &mut Builder, domain: usize, base: u32) {
    let own = builder.paging(domain);
    (own.table_base, own.table_bytes) = (base, 288);
}

#[test]
fn each_rule_has_its_refusal() {
    type Change = fn(&mut Builder);
    let cases: &[(Change, Table, &str)] = &[
        (|b| b.frames[0].base += 4, Table::Frames, "base"),
        (|b| b.frames[0].bytes = 0, Table::Frames, "bytes"),
        (|b| b.frames[1].kind = 9, Table::Frames, "kind"),
        (|b| b.frames[2].base = 0x2000_0800, Table::Frames, "base"),
        (|b| b.domains[0].data_bytes = 63, Table::Domains, "data_bytes"),
        (|b| b.areas[1].flags &= !area::CLEAR, Table::Domains, "data_base"),
        (|b| b.domains[0].policy = 3, Table::Domains, "policy"),
        (|b| b.domains[0].data_source = 0x2002_0000, Table::Domains, "data_source"),
        (|b| b.domains[0].data_source = 0x40_0000 - 32, Table::Domains, "data_source"),
        (|b| b.domains[0].data_source += 1, Table::Domains, "data_source"),
        (|b| b.domains[0].info = 0x20_1000, Table::Domains, "info"),
        (|b| b.domains[0].areas = 3, Table::Domains, "first_area"),
        (|b| b.domains[0].fault_notification = 2, Table::Domains, "fault_notification"),
        (|b| b.areas[0].flags |= area::WRITE, Table::Areas, "flags"),
        (|b| b.areas[1].memory = area::DEVICE, Table::Areas, "memory"),
        (|b| b.shape(1).page_log2 = 16, Table::Areas, "page_log2"),
        (|b| b.shape(1).disabled = 0x55, Table::Areas, "disabled"),
        (|b| b.areas[1].physical = 0x2002_0020, Table::Areas, "physical"),
        (|b| b.areas[1].flags |= area::NEAR, Table::Areas, "flags"),
        (|b| b.areas[1].flags |= 128, Table::Areas, "flags"),
        (|b| b.areas[1].flags |= area::WOVEN, Table::Areas, "flags"),
        (|b| b.paging(0).paged_slots = 9, Table::Domains, "paged_slots"),
        (|b| b.paging(0).replacement = 3, Table::Domains, "replacement"),
        (|b| b.paging(0).nodes = 2, Table::Domains, "nodes"),
        (|b| table(b, 0, 0x2002_8000), Table::Domains, "table_base"),
        (|b| table(b, 0, 0x2000_0010), Table::Domains, "table_base"),
        (|b| (0..2).for_each(|domain| table(b, domain, 0x2000_0000)), Table::Domains, "table_base"),
        (|b| b.budgets[0].capacity = 25_001, Table::Budgets, "capacity"),
        (|b| b.budgets[0].period = 0, Table::Budgets, "period"),
        (|b| b.threads[0].entry &= !1, Table::Threads, "entry"),
        (|b| b.threads[0].stack_base = 0x2002_1000, Table::Threads, "stack_base"),
        (|b| b.threads[0].stack_base += 4, Table::Threads, "stack_base"),
        (|b| b.threads[0].priority = 32, Table::Threads, "priority"),
        (|b| b.threads[0].deadline = 25_001, Table::Threads, "deadline"),
        (|b| b.gates[0].bound = 0, Table::Gates, "bound"),
        (|b| b.domains[1].gate_return = 0, Table::Gates, "domain"),
        (|b| b.interrupts[0].bits = 0, Table::Interrupts, "bits"),
        (|b| b.interrupts.push(b.interrupts[0]), Table::Interrupts, "line"),
        (|b| b.caps[0].slot = 4, Table::Caps, "slot"),
        (|b| b.caps[0].kind = 8, Table::Caps, "kind"),
        (|b| b.caps[0].object = 1, Table::Caps, "object"),
        (|b| (b.caps[0].kind, b.caps[0].object) = (7, 3), Table::Caps, "object"),
        (|b| (b.caps[0].kind, b.caps[0].object) = (7, 0), Table::Caps, "object"),
        (|b| b.caps[0].rights = 0, Table::Caps, "rights"),
        (|b| b.caps.push(b.caps[0]), Table::Caps, "slot"),
    ];
    for (index, (change, table, field)) in cases.iter().enumerate() {
        assert_eq!(refused_field(*change), (*table, *field), "case {index}");
    }
}

/// Two heaps that alternate in the eighths of the same regions.
fn interleaved(disabled: [u32; 2], page_log2: u32, base: u32) -> Builder {
    let mut builder = sample();
    let heap = |domain: u32| Area {
        domain,
        base,
        bytes: 0x1000,
        flags: area::READ | area::WRITE | if disabled[domain as usize] == 0 { 0 } else { area::WOVEN },
        memory: area::NORMAL,
        physical: 0,
    };
    builder.areas = vec![builder.areas[0], builder.areas[1], heap(0), builder.areas[2], builder.areas[3], heap(1)];
    builder.domains[0].areas = 3;
    builder.domains[1].first_area = 3;
    builder.domains[1].areas = 3;
    for (area, disabled) in [2, 5].into_iter().zip(disabled) {
        *builder.shape(area) = regions::Shape { page_log2, disabled };
    }
    builder
}

#[test]
fn interleaved_areas_have_no_byte_in_common() {
    assert!(interleaved([0x55, 0xaa], 10, 0x2002_4000).encode().is_ok());
    let refused = |disabled, page_log2, base| interleaved(disabled, page_log2, base).encode().unwrap_err();
    let entry = |index, field| TableError::Entry { table: Table::Areas, index, field };
    assert_eq!(refused([0x55, 0x2a], 10, 0x2002_4000), entry(5, "base"));
    assert_eq!(refused([0x55, 0xff], 10, 0x2002_4000), entry(5, "disabled"));
    assert_eq!(refused([0x55, 0xaa], 13, 0x2002_4000), entry(2, "disabled"));
    assert_eq!(refused([0x55, 0xaa], 10, 0x2002_4100), entry(2, "disabled"));
    assert_eq!(refused([0x55, 0xaa], 7, 0x2002_4000), entry(2, "page_log2"));
}

#[test]
fn paged_memory_smaller_than_the_smallest_region_of_a_table_is_refused() {
    let mut builder = interleaved([0, 0], 0, 0x2002_4000);
    builder.areas[5].base += 0x1000;
    let with = |bytes: u32, page_log2: u32, pinned: u32| {
        let mut builder = builder.clone();
        let area = &mut builder.areas[2];
        (area.bytes, area.flags) = (bytes, area.flags | pinned);
        builder.shape(2).page_log2 = page_log2;
        builder.encode().err()
    };
    let refused = |field| Some(TableError::Entry { table: Table::Areas, index: 2, field });
    assert_eq!((with(256, 0, 0), with(0x1000, 8, 0), with(32, 0, area::PINNED)), (None, None, None));
    assert_eq!((with(224, 0, 0), with(128, 0, 0)), (refused("bytes"), refused("bytes")));
    assert_eq!(with(0x1000, 7, 0), refused("page_log2"));
}

#[test]
fn a_paged_stack_is_refused() {
    let (table, field) = refused_field(|b| b.areas[1].flags &= !area::PINNED);
    assert_eq!((table, field), (Table::Threads, "stack_base"));
}
