//! The smallest system in which something happens.

use system::build::Builder;
use system::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, Thread, area, frames, policy};

pub const PERIOD: u32 = 25_000;
pub const CAPACITY: u32 = 5_000;
pub const BOUND: u32 = 500;

/// Handles in the caller's and the callee's tables.
pub const GATE: u32 = 0;
pub const WORD: u32 = 1;
pub const PEER: u32 = 2;
pub const LINE: u32 = 3;

pub const CALLER: u8 = 0;
pub const OTHER: u8 = 1;
pub const SERVANT: u8 = 2;

/// Two domains. Domain 0: CALLER (priority 3) and OTHER (priority 5). Domain 1: SERVANT (priority 4, periodic) and a gate with
/// ceiling 2.
pub fn sample() -> Builder {
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
        data_base: base + 0xc00,
        data_source: 0x20_4000,
        data_bytes: 64,
        zero_bytes: 256,
        info: 0x20_0000 + first_area * 0x800,
        gate_return: 0x20_0101 + first_area * 0x800,
        policy: policy::RESTART,
        cap_slots: 6,
        first_area,
        areas: 2,
        awaited: 1,
        fault_notification: 0,
    };
    let thread = |domain: u32, offset: u32, priority: u32, budget: u32| Thread {
        domain,
        entry: 0x20_0101 + domain * 0x1000,
        stack_base: 0x2002_0000 + domain * 0x1000 + offset,
        stack_bytes: 0x400,
        priority,
        budget,
        ..Thread::default()
    };
    let cap = |domain, slot, kind, object| Cap { domain, slot, kind, object, rights: 7, badge: 40 + domain };
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM, marks: 0 },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL, marks: 0 },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER, marks: 0 },
        ],
        domains: vec![domain(0, 0x2002_0000), domain(2, 0x2002_1000)],
        areas: vec![code(0, 0x20_0000), data(0, 0x2002_0000), code(1, 0x20_1000), data(1, 0x2002_1000)],
        budgets: vec![
            Budget { period: PERIOD, capacity: CAPACITY, misses: 0 },
            Budget { period: PERIOD, capacity: CAPACITY, misses: 0 },
        ],
        threads: vec![
            thread(0, 0, 3, 0),
            thread(0, 0x400, 5, 1),
            Thread { period: PERIOD, deadline: PERIOD, ..thread(1, 0, 4, 1) },
        ],
        gates: vec![Gate {
            domain: 1,
            entry: 0x20_1201,
            stack_base: 0x2002_1400,
            stack_bytes: 0x400,
            ceiling: 2,
            bound: BOUND,
        }],
        notifications: vec![Notification { initial: 0 }],
        interrupts: vec![Interrupt { line: 9, notification: 0, bits: 4, direct: 0 }],
        caps: vec![
            cap(0, GATE, 4, 0),
            cap(0, WORD, 5, 0),
            cap(0, PEER, 1, 1),
            cap(0, LINE, 6, 0),
            cap(1, WORD, 5, 0),
            cap(1, PEER, 1, 0),
        ],
        ..Builder::default()
    }
}
