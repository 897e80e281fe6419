//! What is measured: for each row the labels between which it is measured.

use core::ops::RangeInclusive;

use crate::Peer;

/// A row of the table that a pair of labels yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Id of the row, for peers without their suffix.
    pub id: &'static str,
    /// What happens, in a few words.
    pub about: &'static str,
    /// The stretch starts before the instruction at this label; for a handler's first instruction before the exception is
    /// entered.
    pub start: &'static str,
    /// The stretch ends before the instruction at this label.
    pub end: &'static str,
    /// What others have published about the same operation.
    pub paper: Option<&'static str>,
    /// Whether the row's instructions are the largest count of all rounds; otherwise that of the middle one, because the
    /// kernel's timer, which hits few rounds, is not part of the path.
    pub worst: bool,
}

const fn op(id: &'static str, about: &'static str, start: &'static str, end: &'static str) -> Operation {
    Operation { id, about, start, end, paper: None, worst: false }
}

/// Row of the longest stretch with interrupts masked, which no label pair yields.
pub const MASKED: (&str, &str) = ("m7.masked.longest", "longest stretch with interrupts masked");

/// Rows of the longest activation of each of Cofferdam's handlers, from its first instruction to the return: id, what it is, and the
/// exceptions (DDI 0403 B1.5.2) that it serves.
pub const HANDLERS: &[(&str, &str, RangeInclusive<u32>)] = &[
    ("m7.masked.miss", "longest handling of a memory-protection fault", 4..=4),
    ("m7.masked.call", "longest handling of a system call", 11..=11),
    ("m7.masked.timer", "longest handling of the timer's interrupt", 15..=15),
    ("m7.masked.interrupt", "longest handling of another interrupt", 16..=255),
];

/// As [`MASKED`] and [`HANDLERS`], on the Cortex-A9: numbers of the vector table, and of interrupts behind 16 (29: the private timer).
pub const MASKED_A9: (&str, &str) = ("a9.masked.longest", "longest stretch with interrupts masked");
/// As [`MASKED_A9`].
pub const HANDLERS_A9: &[(&str, &str, RangeInclusive<u32>)] = &[
    ("a9.masked.call", "longest handling of a system call", 2..=2),
    ("a9.masked.timer", "longest handling of the timer's interrupt", 45..=45),
    ("a9.masked.interrupt", "longest handling of another interrupt", 46..=255),
];

/// What is measured on the Cortex-A9: `examples/bench/a9.toml`.
pub const COFFERDAM_A9: &[Operation] = &[
    Operation {
        paper: Some("seL4, silicon at 1 GHz: call 367, reply 352 cycles"),
        ..op("a9.gate.call_return", "gate call and return", "probe_gate_start", "probe_gate_end")
    },
    op("a9.notify.thread", "notification to thread of another domain", "probe_notify_start", "probe_notify_end"),
    Operation {
        paper: Some("seL4, silicon at 1 GHz: interrupt to user 775 cycles"),
        ..op("a9.irq.thread", "interrupt to thread of another domain", "cofferdam_interrupt_entry", "probe_irq_end")
    },
    op("a9.switch.within", "yield, one way, same domain", "probe_within_start", "probe_within_end"),
    op("a9.switch.within.round_trip", "yield there and back, same domain", "probe_within_start", "probe_within_round"),
    op("a9.switch.across", "yield, one way, other domain", "probe_across_start", "probe_across_end"),
    op("a9.switch.across.round_trip", "yield there and back, other domain", "probe_across_start", "probe_across_round"),
];

/// Operations of Cofferdam; the labels are those of `examples/bench` and the kernel's exception entries.
pub const COFFERDAM: &[Operation] = &[
    op("m7.gate.call_return", "gate call and return", "probe_gate_start", "probe_gate_end"),
    op("m7.notify.thread", "notification to thread of another domain", "probe_notify_start", "probe_notify_end"),
    op("m7.irq.thread", "interrupt to thread of another domain", "cofferdam_interrupt_entry", "probe_irq_end"),
    op("m7.switch.within", "yield, one way, same domain", "probe_within_start", "probe_within_end"),
    op("m7.switch.within.round_trip", "yield there and back, same domain", "probe_within_start", "probe_within_round"),
    op("m7.switch.across", "yield, one way, other domain", "probe_across_start", "probe_across_end"),
    op("m7.switch.across.round_trip", "yield there and back, other domain", "probe_across_start", "probe_across_round"),
    Operation {
        worst: true,
        ..op("m7.miss.paged", "paged-region miss to restarted load", "cofferdam_memory_entry", "probe_miss_load")
    },
    op("m7.miss.deepest", "load with a miss, deepest table, FP frame", "probe_dtcm_start", "probe_dtcm_end"),
    op("m7.miss.deepest.sdram", "the same, stack in SDRAM", "probe_sdram_start", "probe_sdram_end"),
    op("m7.miss.deepest.l2", "the same, table in on-chip SRAM", "probe_sram_start", "probe_sram_end"),
];

const QUEUES: Operation =
    op("m7.gate.call_return", "request and reply through queues", "probe_queue_start", "probe_queue_end");
const MESSAGE: Operation = op("m7.message.thread", "message to task", "probe_queue_start", "probe_message_end");
const SEMAPHORE: Operation =
    op("m7.notify.thread", "semaphore to task", "probe_semaphore_start", "probe_semaphore_end");
const UNCONTENDED: Operation =
    op("m7.semaphore.uncontended", "semaphore take and give", "probe_uncontended_start", "probe_uncontended_end");
const INTERRUPT: Operation = op("m7.irq.thread", "interrupt to task", "probe_irq_start", "probe_irq_end");

/// FreeRTOS has one protection domain, so that its switch is one within a domain.
const FREERTOS: &[Operation] = &[
    QUEUES,
    MESSAGE,
    SEMAPHORE,
    UNCONTENDED,
    INTERRUPT,
    op("m7.switch.within", "yield, one way", "probe_yield_start", "probe_switch_end"),
    op("m7.switch.within.round_trip", "yield there and back", "probe_yield_start", "probe_yield_end"),
];

/// Each task of FreeRTOS-MPU is a protection domain.
const FREERTOS_MPU: &[Operation] = &[
    QUEUES,
    MESSAGE,
    SEMAPHORE,
    UNCONTENDED,
    INTERRUPT,
    op("m7.switch.across", "yield, one way", "probe_yield_start", "probe_switch_end"),
    op("m7.switch.across.round_trip", "yield there and back", "probe_yield_start", "probe_yield_end"),
];

/// The load with its miss in MxU 5.1, on silicon: 99th percentile, without the cost of a policy.
const MISS: Option<&str> = Some("MxU, silicon: 360 cycles");

/// The handler of a miss in C has no thread and no interrupt. Its worst case has the memory of its code to reckon with, as ours in
/// tightly coupled memory has not.
const C_HANDLER: &[Operation] = &[
    Operation {
        worst: true,
        paper: MISS,
        ..op("m7.miss.paged", "the same, handler in C in flash", "memory_fault", "probe_miss_load")
    },
    Operation {
        paper: MISS,
        ..op("m7.miss.deepest", "the same, handler in C in flash", "probe_dtcm_start", "probe_dtcm_end")
    },
    Operation {
        paper: MISS,
        ..op("m7.miss.deepest.cold", "the same, its code not in the accelerator", "probe_cold_start", "probe_cold_end")
    },
    Operation {
        paper: MISS,
        ..op("m7.miss.deepest.l2", "the same as the first, table in SRAM", "probe_sram_start", "probe_sram_end")
    },
];

/// Operations of a peer; the labels are those of `guests/common`.
pub const fn of_peer(peer: Peer) -> &'static [Operation] {
    match peer {
        Peer::FreeRtos => FREERTOS,
        Peer::FreeRtosMpu => FREERTOS_MPU,
        Peer::CHandler => C_HANDLER,
    }
}
