//! Registers and stack of a thread when its domain faulted. All of it is the domain's own making: whoever reads it believes none of it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Range;

/// Faults of one domain whose context is kept, the first ones.
pub const CONTEXTS_PER_DOMAIN: usize = 16;
/// Bytes of the stack that are kept at most, from the stack pointer on.
pub const STACK_BYTES: u32 = 1024;

/// The place of a domain's fault. It belongs to the kernel's record of a fault of the same cycle and domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultContext {
    /// When, in cycles.
    pub cycle: u64,
    /// The domain that faulted.
    pub domain: u8,
    /// Registers of the thread, by their numbers in DWARF, and the program counter ([`crate::Architecture::registers`]). The stack pointer is that
    /// before the exception. Absent: the processor could not store it, or nobody has seen it.
    pub registers: Vec<Option<u32>>,
    /// Its status register: xPSR or CPSR; absent on RV32, which has none.
    pub status: Option<u32>,
    /// The instructions of which one faulted: they ran last before the kernel was entered.
    pub ran: Range,
    /// The action of the instruction at the program counter, if it is one of those.
    pub instruction: Option<Deed>,
    /// Place in [`crate::MeterWatch::stacks`] of the stack that the thread was on.
    pub stack_of: Option<u16>,
    /// Address of the first byte of `stack`: the stack pointer, or the end of the stack that it has left.
    pub stack_at: u32,
    /// Memory from there on; at most [`STACK_BYTES`], and no more than the thread's stack holds.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub stack: Vec<u8>,
    /// Where a handler of the domain was that interrupts reach without the kernel, if one ran last before the kernel came above it. The rest is about the
    /// thread that it interrupted: whose fault it was, the kernel's record says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerPlace>,
}

/// Where a handler was, in the code that was placed for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlerPlace {
    /// The program counter that the processor stored, if it could, and if it lies in what ran last.
    pub pc: Option<u32>,
    /// The instructions that ran last.
    pub ran: Range,
}

/// The action of an instruction that can fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Divides.
    Divide,
    /// Asks for an exception (UDF, BKPT).
    Trap,
    /// Is privileged, or of a coprocessor.
    System,
    /// Is none of the architecture.
    Undefined,
    /// Anything else.
    Other,
}

fn to_hex<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn from_hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0 && digits.len() <= 2 * STACK_BYTES as usize);
    let digits =
        digits.ok_or_else(|| de::Error::custom("a stack is hexadecimal, two digits to a byte, 1 KiB at most"))?;
    Ok(digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}
