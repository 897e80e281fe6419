//! Translated blocks: what is known about each before it runs.

use std::cell::Cell;
use std::collections::HashMap;

use record::{Mode, Watch};
use timing::{Code, Core};

use crate::family::Family;

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
}

/// What the next block finds noticed.
pub(crate) mod noticed {
    use super::flag;

    /// The core slept.
    pub const SLEPT: u32 = 1;
    /// The last block changed which exceptions are masked.
    pub const MASK: u32 = 2;
    /// The last block ended with a branch that may have been an exception return.
    pub const RETURN: u32 = 4;

    /// What a block with these flags leaves to notice.
    pub const fn after(flags: u32) -> u32 {
        (if flags & flag::MASKS != 0 { MASK } else { 0 }) | if flags & flag::RETURNS != 0 { RETURN } else { 0 }
    }
}

/// A block, as a simulator hands it back. Lives as long as the process.
pub struct TbInfo {
    /// Address of the first instruction.
    pub(crate) pc: u32,
    /// First address behind the block.
    pub(crate) end: u32,
    /// [`flag`]s.
    pub(crate) flags: u32,
    /// Instructions.
    pub(crate) count: u32,
    /// The model's own description.
    pub(crate) code: Code,
    /// The generation of the permissions in which execution was last checked; no two cores have the same.
    pub(crate) checked: Cell<u32>,
    /// Attributes of the code in that generation, as the family writes them.
    pub(crate) attributes: Cell<u8>,
    insns: Box<[InsnInfo]>,
}

/// An instruction of a block.
pub struct InsnInfo {
    /// The block.
    pub(crate) block: *const TbInfo,
    /// What it is.
    pub(crate) raw: RawInsn,
    /// Instructions of the block behind it.
    pub(crate) after: u32,
    /// Whether [`crate::Observer::system`] is to be told before it executes.
    pub system: bool,
    /// For the simulator: how it described the last access, and its bytes. The next one's is mostly the same.
    pub access: Cell<(u32, u32)>,
}

impl InsnInfo {
    /// Its address.
    pub const fn pc(&self) -> u32 {
        self.raw.pc
    }
}

impl TbInfo {
    /// Its instructions, in order.
    pub fn insns(&self) -> &[InsnInfo] {
        &self.insns
    }

    /// The instruction at `pc`.
    pub(crate) fn insn_at(&self, pc: u32) -> Option<&InsnInfo> {
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
#[derive(Default)]
pub(crate) struct Blocks {
    known: HashMap<Vec<(u32, u32)>, &'static TbInfo>,
}

impl Blocks {
    /// The block of these instructions (at least one).
    pub fn get<F: Family>(&mut self, raw: &[RawInsn], watch: &Watch, model: &F::Core) -> &'static TbInfo {
        let key: Vec<_> = raw.iter().map(|insn| (insn.pc | u32::from(insn.thumb), insn.code)).collect();
        self.known.entry(key).or_insert_with(|| describe::<F>(raw, watch, model))
    }
}

fn describe<F: Family>(raw: &[RawInsn], watch: &Watch, model: &F::Core) -> &'static TbInfo {
    let (first, last) = (&raw[0], &raw[raw.len() - 1]);
    let is_kernel = watch.kernel_text.is_empty() || watch.kernel_text.iter().any(|range| range.holds(first.pc, 1));
    let mut flags = F::flags(raw);
    flags |= if is_kernel { flag::KERNEL } else { 0 };
    flags |= if watch.vectors.contains(&first.pc) { flag::VECTOR } else { 0 };
    let infos: Vec<_> = raw.iter().map(F::classify).collect();
    let info = Box::leak(Box::new(TbInfo {
        pc: first.pc,
        end: last.pc + last.size,
        flags,
        count: raw.len() as u32,
        code: model.describe(first.pc, &infos, watch.mode == Mode::Exact),
        checked: Cell::new(0),
        attributes: Cell::new(0),
        insns: Box::default(),
    }));
    let block: *const TbInfo = info;
    let insns = raw.iter().zip((0..raw.len() as u32).rev());
    info.insns = insns
        .map(|(raw, after)| InsnInfo { block, raw: *raw, after, system: F::is_system(raw), access: Cell::new((0, 0)) })
        .collect();
    info
}
