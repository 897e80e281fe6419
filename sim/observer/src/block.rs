//! Translated blocks of instructions, described once before they run. `C` is a block's code as the core's model keeps it.

use std::cell::Cell;
use std::collections::HashMap;

/// Facts about a block.
pub(crate) mod flag {
    /// Its first instruction is an exception handler's first.
    pub const VECTOR: u32 = 1;
    /// It is kernel text.
    pub const KERNEL: u32 = 2;
    /// It holds floating-point instructions.
    pub const FP: u32 = 4;
    /// It ends with a branch that may be an exception return.
    pub const RETURNS: u32 = 8;
    /// It changes which exceptions are masked.
    pub const MASKS: u32 = 16;
    /// It ends with WFI or WFE.
    pub const SLEEPS: u32 = 32;
    /// The chip leaves its address to the state of handlers that are not the kernel's.
    pub const APART: u32 = 64;
}

/// Facts noticed between two blocks.
pub(crate) mod noticed {
    use super::flag;

    /// The core slept.
    pub const SLEPT: u32 = 1;
    /// The last block changed which exceptions are masked.
    pub const MASK: u32 = 2;
    /// The last block ended with a branch that may have been an exception return.
    pub const RETURN: u32 = 4;
    /// The last block ended with WFI or WFE, whether or not the core has slept.
    pub const WAIT: u32 = 8;

    /// The facts that a block with these flags leaves to notice.
    pub const fn after(flags: u32) -> u32 {
        let mask = if flags & flag::MASKS != 0 { MASK } else { 0 };
        let wait = if flags & flag::SLEEPS != 0 { WAIT } else { 0 };
        mask | wait | if flags & flag::RETURNS != 0 { RETURN } else { 0 }
    }
}

/// A block, as a simulator hands it back. Lives as long as the process.
pub struct Block<C> {
    /// Address of the first instruction.
    pub(crate) pc: u32,
    /// First address behind the block.
    pub(crate) end: u32,
    /// [`flag`]s.
    pub(crate) flags: u32,
    /// Instructions.
    pub(crate) count: u32,
    /// The model's own description.
    pub(crate) code: C,
    /// The generation of the permissions in which execution was last checked; no two cores have the same.
    pub(crate) checked: Cell<u32>,
    /// Attributes of the code in that generation, as the family writes them.
    pub(crate) attributes: Cell<u8>,
    insns: Box<[BlockInsn<C>]>,
}

/// An instruction of a block.
pub struct BlockInsn<C> {
    /// The block.
    pub(crate) block: *const Block<C>,
    /// The instruction itself.
    pub(crate) raw: RawInsn,
    /// Instructions of the block behind it.
    pub(crate) after: u32,
    /// Whether [`crate::Observer::system`] is to be told before it executes.
    pub system: bool,
    /// For the simulator: how it described the last access, and its bytes. The next one's is mostly the same.
    pub access: Cell<(u32, u32)>,
}

impl<C> BlockInsn<C> {
    /// Its address.
    pub const fn pc(&self) -> u32 {
        self.raw.pc
    }
}

impl<C> Block<C> {
    /// The block of these instructions (at least one), for as long as the process lives.
    pub(crate) fn leak(raw: &[RawInsn], flags: u32, code: C, is_system: fn(&RawInsn) -> bool) -> &'static Self {
        let (first, last) = (&raw[0], &raw[raw.len() - 1]);
        let info = Box::leak(Box::new(Self {
            pc: first.pc,
            end: last.pc + last.size,
            flags,
            count: raw.len() as u32,
            code,
            checked: Cell::new(0),
            attributes: Cell::new(0),
            insns: Box::default(),
        }));
        let block: *const Self = info;
        let insns = raw.iter().zip((0..raw.len() as u32).rev());
        info.insns = insns
            .map(|(raw, after)| {
                let access = Cell::new((0, 0));
                BlockInsn { block, raw: *raw, after, system: is_system(raw), access }
            })
            .collect();
        info
    }

    /// Its instructions, in order.
    pub fn insns(&self) -> &[BlockInsn<C>] {
        &self.insns
    }

    /// The instruction at `pc`.
    pub(crate) fn insn_at(&self, pc: u32) -> Option<&BlockInsn<C>> {
        self.insns.iter().find(|insn| insn.raw.pc == pc)
    }
}

/// An instruction as a simulator shows it.
#[derive(Clone, Copy, Debug)]
pub struct RawInsn {
    /// Address.
    pub pc: u32,
    /// Bytes, 2 or 4.
    pub size: u32,
    /// Its bytes, the first one lowest.
    pub code: u32,
    /// Whether it is T32; the observer finds that out.
    pub thumb: bool,
}

/// All blocks that were ever translated. A simulator translates again after it flushed its buffer: the same block is found here.
pub(crate) struct Blocks<C: 'static> {
    known: HashMap<Vec<(u32, u32)>, &'static Block<C>>,
}

impl<C> Blocks<C> {
    /// None.
    pub fn new() -> Self {
        Self { known: HashMap::new() }
    }

    /// The block of these instructions (at least one), which `describe` makes when it is new.
    pub fn get(
        &mut self,
        raw: &[RawInsn],
        describe: impl FnOnce(&[RawInsn]) -> &'static Block<C>,
    ) -> &'static Block<C> {
        let key: Vec<_> = raw.iter().map(|insn| (insn.pc | u32::from(insn.thumb), insn.code)).collect();
        self.known.entry(key).or_insert_with(|| describe(raw))
    }
}
