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

    /// Whether the instruction in front of a return address is a call, by the half-words four and two bytes in front of it.
    pub fn is_behind_call(self, to: u32, first: Option<u16>, second: Option<u16>) -> bool {
        let word = first.zip(second).map(|(first, second)| u32::from(second) << 16 | u32::from(first));
        match self {
            Self::Rv32 => second.is_some_and(is_short_rv32_call) || word.is_some_and(is_rv32_call),
            _ if to & 1 == 0 => word.is_some_and(is_arm_call),
            _ => second.is_some_and(|half| half & 0xff87 == 0x4780) || first.zip(second).is_some_and(is_thumb_call),
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

/// BL, BLX, and BLX through a register (DDI 0406 A8.8.25, A8.8.26).
const fn is_arm_call(word: u32) -> bool {
    word & 0x0f00_0000 == 0x0b00_0000 || word & 0xfe00_0000 == 0xfa00_0000 || word & 0x0fff_fff0 == 0x012f_ff30
}

/// BL and BLX of two half-words.
const fn is_thumb_call((first, second): (u16, u16)) -> bool {
    first & 0xf800 == 0xf000 && second & 0xc000 == 0xc000
}

/// JAL and JALR that leave the return address in `ra` (RISC-V unprivileged architecture, 2.5.1).
const fn is_rv32_call(word: u32) -> bool {
    word & 0xfff == 0x0ef || word & 0x7fff == 0x00e7
}

/// C.JAL and C.JALR (the same, 27.4).
const fn is_short_rv32_call(half: u16) -> bool {
    half & 0xe003 == 0x2001 || (half & 0xf07f == 0x9002 && half & 0x0f80 != 0)
}

#[cfg(test)]
mod tests {
    use super::Architecture;

    #[test]
    fn calls_are_told_from_other_instructions() {
        let is = |architecture: Architecture, to, word: u32| {
            architecture.is_behind_call(to, Some(word as u16), Some((word >> 16) as u16))
        };
        // jal ra; jalr ra, a5; and behind a nop: c.jal, c.jalr a5
        let calls = [0x0100_00ef, 0x0007_80e7, 0x2001_0001, 0x9782_0001];
        // jal zero; jalr zero, ra; c.j; c.jr ra; c.ebreak
        let others = [0x0100_006f, 0x0000_8067, 0xa001_0001, 0x8082_0001, 0x9002_0001];
        assert!(calls.iter().all(|word| is(Architecture::Rv32, 0x100, *word)));
        assert!(!others.iter().any(|word| is(Architecture::Rv32, 0x100, *word)));
        // bl, and blx r3 behind a nop; in Arm state bl
        assert!(is(Architecture::Armv7M, 0x101, 0xf800_f000) && is(Architecture::Armv7M, 0x101, 0x4798_bf00));
        assert!(is(Architecture::Armv7A, 0x100, 0xeb00_0000) && !is(Architecture::Armv7A, 0x100, 0xea00_0000));
    }
}
