//! The context of a fault: registers as a kernel has saved them, and the action of an instruction.

use record::Deed;
use timing::insn::{Class, Flags, InsnInfo};

use crate::Target;

/// Registers of a thread.
#[derive(Clone, Copy, Default)]
pub struct Saved {
    /// r0 to r12, stack pointer, link register, program counter.
    pub registers: [Option<u32>; 16],
    /// xPSR or CPSR.
    pub status: Option<u32>,
}

/// Words of memory.
pub fn words<const COUNT: usize>(target: &mut dyn Target, address: u32) -> Option<[u32; COUNT]> {
    let bytes = target.memory(address, 4 * COUNT)?;
    let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let read: [u32; COUNT] = std::array::from_fn(|_| words.next().unwrap_or(0));
    Some(read)
}

/// The action of an instruction.
pub const fn deed(insn: &InsnInfo) -> Deed {
    match insn.class {
        Class::Divide => Deed::Divide,
        Class::Exception => Deed::Trap,
        Class::System => Deed::System,
        Class::Undefined => Deed::Undefined,
        _ if insn.flags.has(Flags::STORE) => Deed::Write,
        _ if insn.flags.has(Flags::LOAD) => Deed::Read,
        _ => Deed::Other,
    }
}
