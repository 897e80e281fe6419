//! The boards on which Cofferdam is measured. A row's id begins with its board's prefix.

use core::ops::RangeInclusive;

use crate::Operation;
use crate::{operations, peers};

/// A board under its profile, and what its kernel's handlers are called there.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// Beginning of the ids of its rows.
    pub prefix: &'static str,
    /// Board that is emulated.
    pub board: &'static str,
    /// Chip that is modelled.
    pub profile: &'static str,
    /// Whether accesses are checked by page tables.
    pub tables: bool,
    /// The system of the allocators.
    pub heap: &'static str,
    /// The system of the pieces of code that have public figures.
    pub micro: &'static str,
    /// Number of the exception of a system call.
    pub system_call: u16,
    /// What is no call: last part of a row's id, what it is, and the exceptions that it serves.
    pub handlers: &'static [Handler],
    /// What is run for the longest activation of each path. Together the systems take every path: real work, hostile calls of every kind,
    /// deaths, and crowds.
    pub paths: &'static [&'static str],
    /// What is run beside these for what the kernel's paths cost at most: lives and deaths, many threads at once, floating-point state.
    pub costs: &'static [&'static str],
    /// Label of the first instruction of the timer's handler.
    pub timer_entry: &'static str,
    /// What `subject` measures on it: manifest, operations, longest masked stretch, handlers.
    pub(crate) basic: Basic,
}

/// Last part of an id, what the handler does, and the exceptions that it serves.
pub type Handler = (&'static str, &'static str, &'static [RangeInclusive<u16>]);

/// The rows of the benchmark system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basic {
    pub system: &'static str,
    pub operations: &'static [Operation],
    pub masked: (&'static str, &'static str),
    pub handlers: &'static [(&'static str, &'static str, RangeInclusive<u32>)],
}

impl Chip {
    /// Beginning of the ids of its rows of one kind.
    pub fn rows(&self, kind: &str) -> String {
        format!("{}.{kind}.", self.prefix)
    }
}

/// Every board, in the order of the table.
pub const ALL: [Chip; 2] = [M7, A9];

const HERD: &str = "tests/time/herd.toml";
const EMPTY_HERD: &str = "tests/time/herd-empty.toml";
const FLOAT: &str = "tests/time/float.toml";
const KILLED: &str = "tests/time/gate-killed.toml";
const CRUMBS: &str = "tests/time/crumbs-timer.toml";

/// The Cortex-M7. Exceptions: ARM DDI 0403, B1.5.2.
pub const M7: Chip = Chip {
    prefix: "m7",
    board: peers::BOARD,
    profile: "stm32f767",
    tables: false,
    heap: "examples/heap/system.toml",
    micro: "examples/bench/micro.toml",
    system_call: 11,
    handlers: &[
        ("fault", "fault or miss", &[3..=6]),
        ("timer", "timer, all that is due", &[15..=15]),
        ("interrupt", "another interrupt", &[16..=255]),
    ],
    paths: &[
        "tests/paths/system.toml",
        "examples/bench/system.toml",
        "tests/attacks/system.toml",
        "tests/attacks/random.toml",
        "tests/manager/hostile.toml",
        "examples/gateway/system.toml",
    ],
    costs: &["tests/attacks/restarts.toml", HERD, EMPTY_HERD, FLOAT, KILLED, CRUMBS],
    timer_entry: "cofferdam_timer_entry",
    basic: Basic {
        system: "examples/bench/system.toml",
        operations: operations::COFFERDAM,
        masked: operations::MASKED,
        handlers: operations::HANDLERS,
    },
};

/// The Cortex-A9. Exceptions: places in the vector table (ARM DDI 0406, B1.8.1), interrupts behind 16 (29: the private timer). An interrupt
/// that nobody has, or that went before it was taken, keeps number 6.
pub const A9: Chip = Chip {
    prefix: "a9",
    board: "xilinx-zynq-a9",
    profile: "xc7z020",
    tables: true,
    heap: "examples/heap/a9.toml",
    micro: "examples/bench/micro-a9.toml",
    system_call: 2,
    handlers: &[
        ("fault", "fault", &[1..=1, 3..=4]),
        ("timer", "timer, all that is due", &[45..=45]),
        ("interrupt", "another interrupt", &[46..=255]),
    ],
    paths: &[
        "tests/paths/system.toml",
        "examples/bench/a9.toml",
        "tests/attacks/a9.toml",
        "tests/attacks/random-a9.toml",
        "tests/manager/hostile.toml",
        "examples/memory/system.toml",
        "tests/manager/history.toml",
    ],
    costs: &["tests/attacks/restarts-a9.toml", HERD, EMPTY_HERD, FLOAT, KILLED, CRUMBS],
    timer_entry: "cofferdam_interrupt_entry",
    basic: Basic {
        system: "examples/bench/a9.toml",
        operations: operations::COFFERDAM_A9,
        masked: operations::MASKED_A9,
        handlers: operations::HANDLERS_A9,
    },
};
