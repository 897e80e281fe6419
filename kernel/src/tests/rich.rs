//! A system with every relation that the kernel knows: chains of gates, shared budgets, supervisors, interrupts, paged areas.

use system::build::{Builder, SchemeTables};
use system::regions::Shape;
use system::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, Thread, area, frames, policy};

/// Ticks of each gate, outermost first.
pub const BOUNDS: [u32; 4] = [2_000, 1_200, 700, 400];
pub const DOMAINS: u32 = 4;
pub const SLOTS: u32 = 24;

/// Threads by name. Two for each domain.
pub const CLIENT: u8 = 2;
pub const SERVER: u8 = 4;

/// Handles that every domain has.
pub fn gate(index: u32) -> u32 {
    index
}
pub fn word(index: u32) -> u32 {
    4 + index
}
pub fn domain(index: u32) -> u32 {
    8 + index
}
pub fn line(index: u32) -> u32 {
    12 + index
}
pub fn budget(index: u32) -> u32 {
    14 + index
}

/// Memory in which no domain has an area, so that it can be mapped: that of pool 0. The areas of
/// paged memory lie in that of pool 1.
pub const POOL_BASE: u32 = 0x6010_0000;
pub const POOL_BYTES: u32 = 0x8000;
pub fn pool(index: u32) -> u32 {
    22 + index
}

/// First address of the data of a domain that neither a stack nor anybody else uses.
pub fn data(index: u32) -> u32 {
    0x2002_0000 + index * 0x2000 + 0x1000
}

/// Domain 0 supervises the others. Gate `i` leads into domain `i`, except that gate 0 leads into domain 3 as well. Each budget
/// pays for two threads of different domains.
pub fn rich() -> Builder {
    let shapes = [Shape::default(), Shape::default(), Shape { page_log2: 10, disabled: 0 }];
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM, marks: 0 },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL, marks: 0 },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER, marks: 0 },
            Frames { base: 0x6000_0000, bytes: 0x10_0000, kind: frames::USER, marks: 0 },
            Frames { base: POOL_BASE, bytes: POOL_BYTES, kind: frames::USER, marks: 200 },
        ],
        domains: (0..DOMAINS).map(domain_entry).collect(),
        areas: (0..DOMAINS).flat_map(areas).collect(),
        scheme: SchemeTables::Pmsav7 { domains: Vec::new(), areas: shapes.repeat(DOMAINS as usize) },
        budgets: [(25_000, 6_000), (10_000, 3_000), (7_000, 2_500), (40_000, 1_000)]
            .map(|(period, capacity)| Budget { period, capacity, misses: 0 })
            .to_vec(),
        threads: (0..2 * DOMAINS).map(thread).collect(),
        gates: (0..4).map(gate_entry).collect(),
        notifications: (0..4).map(|index| Notification { initial: index }).collect(),
        interrupts: vec![
            Interrupt { line: 3, notification: 1, bits: 1, direct: 0 },
            Interrupt { line: 9, notification: 2, bits: 0x8000_0000, direct: 0 },
        ],
        caps: (0..DOMAINS).flat_map(caps).collect(),
        ..Builder::default()
    }
}

fn domain_entry(index: u32) -> Domain {
    Domain {
        data_base: data(index),
        data_source: 0x20_4000,
        data_bytes: 200,
        zero_bytes: 100,
        info: 0x20_0000 + index * 0x1000,
        gate_return: 0x20_0101 + index * 0x1000,
        policy: if index == 0 { policy::STOP } else { policy::RESTART },
        cap_slots: SLOTS,
        first_area: 3 * index,
        areas: 3,
        awaited: index & 1,
        fault_notification: if index == 0 { 0 } else { 1 },
    }
}

fn areas(domain: u32) -> [Area; 3] {
    let code = area::READ | area::EXECUTE | area::PINNED;
    let data = area::READ | area::WRITE | area::PINNED | area::CLEAR;
    let heap = area::READ | area::WRITE;
    [
        (0x20_0000 + domain * 0x1000, 0x1000, code, area::WRITE_THROUGH),
        (0x2002_0000 + domain * 0x2000, 0x2000, data, area::NORMAL),
        (0x6000_0000 + domain * 0x1000, 0x1000, heap, area::NORMAL),
    ]
    .map(|(base, bytes, flags, memory)| Area { domain, base, bytes, flags, memory, physical: 0 })
}

fn thread(index: u32) -> Thread {
    let domain = index / 2;
    let period = if index % 3 == 2 { 9_000 } else { 0 };
    Thread {
        domain,
        entry: 0x20_0201 + domain * 0x1000,
        argument: index,
        stack_base: 0x2002_0000 + domain * 0x2000 + (index & 1) * 0x400,
        stack_bytes: 0x400,
        priority: [6, 9, 7, 8, 5, 9, 6, 7][index as usize],
        budget: [0, 1, 1, 2, 2, 3, 3, 0][index as usize],
        period,
        deadline: period,
    }
}

fn gate_entry(index: u32) -> Gate {
    let domain = if index == 0 { 3 } else { index };
    Gate {
        domain,
        entry: 0x20_0301 + domain * 0x1000,
        stack_base: 0x2002_0800 + domain * 0x2000 + u32::from(index == 0) * 0x400,
        stack_bytes: 0x400,
        ceiling: [4, 3, 5, 2][index as usize],
        bound: BOUNDS[index as usize],
    }
}

fn caps(domain_index: u32) -> Vec<Cap> {
    let cap = |slot, kind, object, rights| Cap {
        domain: domain_index,
        slot,
        kind,
        object,
        rights,
        badge: 100 * domain_index + slot,
    };
    let supervises = if domain_index == 0 { 7 } else { 1 };
    let mut caps = Vec::new();
    for index in 0..4 {
        caps.push(cap(gate(index), 4, index, if domain_index == 3 { 6 } else { 2 }));
        caps.push(cap(word(index), 5, index, if domain_index == 1 { 7 } else { 3 }));
        caps.push(cap(domain(index), 1, index, supervises));
        caps.push(cap(budget(index), 3, index, 5));
    }
    for index in 0..2 {
        caps.push(cap(pool(index), 7, 4 - index, [7, 1, 3, 2][domain_index as usize]));
    }
    caps.push(cap(line(0), 6, 0, 2));
    caps.push(cap(line(1), 6, 1, 6));
    caps
}
