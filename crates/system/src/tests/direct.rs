//! Handlers that interrupts reach without the kernel.

use alloc::vec;

use super::sample;
use crate::build::{Builder, SchemeTables};
use crate::direct::{Direct, lines, open, owners};
use crate::{Area, Cap, Interrupt, System, Table, TableError, area};

const ALIAS: u32 = 0x1000_0000;
/// Kind of a capability to a budget.
const BUDGET: u32 = 3;
const NONE: Direct = Direct {
    domain: 0,
    alias: 0,
    text_base: 0,
    text_bytes: 0,
    vectors: 0,
    quiet: 0,
    stack_top: 0,
    period: 0,
    capacity: 0,
    counted: 0,
};

/// The first domain of [`sample`] has two handlers, open data and an open device; the chip has everything with the bit set.
fn with_handlers() -> Builder {
    let mut builder = sample();
    for range in &mut builder.frames {
        range.base |= ALIAS;
    }
    for entry in &mut builder.areas {
        entry.base |= ALIAS;
    }
    for entry in &mut builder.domains {
        for address in [&mut entry.data_base, &mut entry.data_source, &mut entry.info, &mut entry.gate_return] {
            *address |= ALIAS;
        }
    }
    builder.threads[0].entry |= ALIAS;
    builder.threads[0].stack_base |= ALIAS;
    builder.gates[0].entry |= ALIAS;
    builder.gates[0].stack_base |= ALIAS;
    let open = area::READ | area::WRITE | area::PINNED | area::OPEN;
    let (bytes, memory) = (0x1000, area::NORMAL);
    let data = Area { domain: 0, base: 0x2002_4000, bytes, flags: open | area::CLEAR, memory, physical: 0x3002_4000 };
    let device = Area { base: 0x4000_4000, flags: open, memory: area::DEVICE, physical: 0x5000_4000, ..data };
    builder.areas.splice(2..2, [data, device]);
    builder.domains[0].areas = 4;
    builder.domains[1].first_area = 4;
    builder.domains[0].data_base = 0x2002_4800;
    builder.interrupts = vec![
        Interrupt { line: 8, notification: 0, bits: 1, direct: 1 },
        Interrupt { line: 9, notification: 0, bits: 2, direct: 3 },
    ];
    let direct = Direct {
        domain: 1,
        alias: ALIAS,
        text_base: 0x0020_8000,
        text_bytes: 0x400,
        vectors: 0x0020_8000,
        quiet: 0x0020_8080,
        stack_top: 0x2002_4200,
        period: 1000,
        capacity: 100,
        counted: 15 << 16 | 2,
    };
    builder.scheme = SchemeTables::Pmsav8 { direct: [direct, NONE, NONE, NONE], domains: vec![], areas: vec![] };
    builder
}

#[test]
fn handlers_and_what_is_open_to_them() {
    let words = with_handlers().encode().unwrap();
    let system = System::parse(&words).unwrap();
    assert!(lines(&system).eq([(8, 1, 0), (9, 3, 0)]));
    let all = [(0x0020_8000, 0x400, false), (0x2002_4000, 0x1000, false), (0x4000_4000, 0x1000, true)];
    assert!(open(&system, &owners(&system).next().unwrap()).eq(all));
}

fn refused(change: impl FnOnce(&mut Builder, &mut Direct)) -> TableError {
    let mut builder = with_handlers();
    let SchemeTables::Pmsav8 { mut direct, domains, areas } = builder.scheme.clone() else { unreachable!() };
    change(&mut builder, &mut direct[0]);
    builder.scheme = SchemeTables::Pmsav8 { direct, domains, areas };
    builder.encode().expect_err("the block must be refused")
}

#[test]
fn each_rule_of_handlers_refuses_what_breaks_it() {
    let cases: &[fn(&mut Builder, &mut Direct)] = &[
        |_, d| d.domain = 3,
        |_, d| d.domain = 0,
        |b, d| {
            *d = Direct::default();
            b.interrupts[0].direct = 0;
        },
        |_, d| d.alias = 0,
        |_, d| d.alias = 3 << 28,
        |_, d| d.text_base = 0x0020_8010,
        |_, d| d.text_base = 0x0020_0000,
        |_, d| d.text_base = 0x2002_5000,
        |_, d| d.text_bytes = 0,
        |_, d| d.text_bytes = 0xffff_ffe0,
        |_, d| d.vectors += 64,
        |_, d| d.vectors = 0x0020_8400,
        |_, d| d.quiet += 64,
        |_, d| d.quiet = 0x0020_8400,
        |_, d| d.stack_top = 0x2002_4004,
        |_, d| d.stack_top = 0x2002_5008,
        |_, d| d.stack_top = 0x3002_0800,
        |_, d| d.period = 0,
        |_, d| d.capacity = 0,
        |_, d| d.capacity = 1001,
        |_, d| d.counted = 15 << 16,
        |_, d| d.counted = 2 << 16 | 15,
        |b, _| b.interrupts[1].direct = 4,
        |b, _| b.interrupts.clear(),
        |b, _| b.areas[2].physical = 0x3002_5000,
        |b, _| b.areas[3].base |= ALIAS,
        |b, _| b.areas[2].flags &= !area::PINNED,
        |b, _| b.areas[2].flags |= area::SHARED,
        |b, _| b.areas[5].flags |= area::OPEN,
        |b, _| b.areas[2].flags &= !area::OPEN,
        |b, _| b.threads[0].stack_base = 0x2002_4400,
    ];
    for (case, change) in cases.iter().enumerate() {
        let error = refused(change);
        let expected = matches!(
            error,
            TableError::Scheme | TableError::Entry { field: "flags" | "physical" | "base" | "stack_base", .. }
        );
        assert!(expected, "case {case}: {error:?}");
    }
    let mut other = with_handlers();
    other.scheme = SchemeTables::default();
    other.areas.truncate(2);
    assert!(other.encode().is_err());
}

/// The sample has one budget, and handlers of one domain.
#[test]
fn servers_are_numbered_behind_budgets() {
    let held = |object: u32| {
        let mut builder = with_handlers();
        builder.caps[0] = Cap { kind: BUDGET, object, rights: 1, ..builder.caps[0] };
        builder.encode().err()
    };
    assert_eq!((held(0), held(1)), (None, None));
    assert!(matches!(held(2), Some(TableError::Entry { table: Table::Caps, index: 0, field: "object" })));
    let mut other = sample();
    other.caps[0] = Cap { kind: BUDGET, object: 1, rights: 1, ..other.caps[0] };
    assert!(matches!(other.encode(), Err(TableError::Entry { table: Table::Caps, index: 0, field: "object" })));
}

#[test]
fn no_more_lines_and_ranges_than_the_kernel_looks_at() {
    let many = |builder: &mut Builder, lines: u32| {
        let line = |line| Interrupt { line, notification: 0, bits: 1, direct: 2 };
        builder.interrupts = (8..8 + lines).map(line).collect();
    };
    let mut most = with_handlers();
    many(&mut most, 8);
    assert!(most.encode().is_ok());
    assert_eq!(refused(|builder, _| many(builder, 9)), TableError::Scheme);
}
