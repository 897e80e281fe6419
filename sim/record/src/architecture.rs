//! How each architecture numbers its exceptions.

use serde::{Deserialize, Serialize};

/// Number of the exception that the first interrupt line makes, on every architecture.
pub const FIRST_LINE: u16 = 16;

/// The architecture that numbers the exceptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// Armv7-M.
    #[default]
    Armv7M,
    /// Armv8-M.
    Armv8M,
    /// Armv7-A: places in the vector table.
    Armv7A,
    /// RV32 with machine and user mode: causes.
    Rv32,
}

/// Places of registers: their numbers in DWARF (*DWARF for the Arm Architecture*, 3; *RISC-V ABIs Specification*, DWARF register numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// All of them, with the program counter.
    pub count: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The register that holds the return address.
    pub link: usize,
    /// The program counter; on RV32 it has no number in DWARF, and comes behind x31.
    pub pc: usize,
}

/// The exceptions of an architecture.
struct Numbers {
    names: &'static [(u16, &'static str)],
    /// From here on none comes from what the running code did.
    asynchronous: u16,
}

/// An exception that only Armv8-M has (ARM DDI 0553 B3).
const SECURE_FAULT: (u16, &str) = (7, "SecureFault");

/// PendSV is asynchronous, too: it starts the first thread and is used for nothing else.
const MICROCONTROLLER: Numbers = Numbers {
    names: &[
        (0, "thread mode"),
        (2, "NMI"),
        (3, "HardFault"),
        (4, "MemManage"),
        (5, "BusFault"),
        (6, "UsageFault"),
        (11, "SVCall"),
        (12, "DebugMonitor"),
        (14, "PendSV"),
        (15, "SysTick"),
    ],
    asynchronous: 14,
};

const APPLICATION: Numbers = Numbers {
    names: &[
        (0, "start"),
        (1, "undefined instruction"),
        (2, "supervisor call"),
        (3, "prefetch abort"),
        (4, "data abort"),
        (6, "interrupt without a number"),
        (7, "fast interrupt"),
    ],
    asynchronous: 6,
};

/// RISC-V Privileged Architecture, 3.1.15.
const RISC_V: Numbers = Numbers {
    names: &[
        (0, "start"),
        (1, "instruction access fault"),
        (2, "illegal instruction"),
        (3, "breakpoint"),
        (4, "load address misaligned"),
        (5, "load access fault"),
        (6, "store address misaligned"),
        (7, "store access fault"),
        (8, "environment call"),
        (19, "software interrupt"),
        (23, "timer interrupt"),
    ],
    asynchronous: FIRST_LINE,
};

impl Architecture {
    /// The bit of the status register without which no code runs, where there is one: the processor knows one instruction set.
    pub const fn needed_status(self) -> Option<u32> {
        match self {
            Self::Armv7M | Self::Armv8M => Some(1 << 24),
            Self::Armv7A | Self::Rv32 => None,
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    const fn numbers(self) -> &'static Numbers {
        match self {
            Self::Armv7M | Self::Armv8M => &MICROCONTROLLER,
            Self::Armv7A => &APPLICATION,
            Self::Rv32 => &RISC_V,
        }
    }

    /// The places of registers in a [`crate::FaultContext`].
    pub const fn registers(self) -> Registers {
        match self {
            Self::Armv7M | Self::Armv8M | Self::Armv7A => Registers { count: 16, sp: 13, link: 14, pc: 15 },
            Self::Rv32 => Registers { count: 33, sp: 2, link: 1, pc: 32 },
        }
    }

    /// Whether an exception comes from what the running code did.
    pub const fn is_synchronous(self, number: u16) -> bool {
        number < self.numbers().asynchronous
    }

    /// Name of an exception.
    pub fn exception_name(self, number: u16) -> String {
        let own = (self == Self::Armv8M).then_some(&SECURE_FAULT);
        match self.numbers().names.iter().chain(own).find(|(known, _)| *known == number) {
            Some((_, name)) => (*name).to_owned(),
            None if number >= FIRST_LINE => format!("interrupt {}", number - FIRST_LINE),
            None => format!("exception {number}"),
        }
    }
}
