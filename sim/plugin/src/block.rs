//! Translated blocks: what is known about each before it runs.

use std::cell::Cell;
use std::collections::HashMap;

use protect::pmsav7::Attr;
use record::Watch;

use crate::api::{MemInfo, api};
use crate::application::{self, System};
use crate::decode;
use crate::model::{BlockShape, Model};

/// Facts about a block.
pub mod flag {
    /// Its first instruction is an exception handler's first.
    pub const VECTOR: u32 = 1;
    /// It is kernel text.
    pub const KERNEL: u32 = 2;
    /// It holds floating-point instructions.
    pub const FP: u32 = 4;
    /// It ends with a branch that may be an exception return.
    pub const RETURNS: u32 = 8;
    /// It changes PRIMASK, BASEPRI or FAULTMASK.
    pub const MASKS: u32 = 16;
}

/// A block, as the callbacks find it. Lives as long as the process.
pub struct TbInfo {
    /// Address of the first instruction.
    pub pc: u32,
    /// First address behind the block.
    pub end: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// Instructions.
    pub count: u32,
    /// Cycles of each of its instructions, where all cost the same.
    pub each: u32,
    /// The model's own description.
    pub shape: BlockShape,
    /// The generation of the shadowed MPU in which execution was last checked.
    pub checked: Cell<u32>,
    /// Attributes of the code in that generation.
    pub attr: Cell<Attr>,
    /// Its instructions.
    pub insns: Box<[InsnInfo]>,
}

/// An instruction of a block.
pub struct InsnInfo {
    /// The block.
    pub block: *const TbInfo,
    /// Address.
    pub pc: u32,
    /// Instructions of the block behind it.
    pub after: u32,
    /// What it does to translation, on an application core.
    pub system: Option<System>,
    /// The last access's description, and its bytes: the next one's is the same.
    pub access: Cell<(MemInfo, u32)>,
}

impl InsnInfo {
    /// Bytes of an access of this instruction.
    ///
    /// # Safety
    /// `info` belongs to the callback that is running.
    #[inline]
    pub unsafe fn bytes_of(&self, info: MemInfo) -> u32 {
        let (known, bytes) = self.access.get();
        if known == info && bytes != 0 {
            return bytes;
        }
        // SAFETY: by the caller's promise.
        let bytes = 1 << unsafe { (api().qemu_plugin_mem_size_shift)(info) };
        self.access.set((info, bytes));
        bytes
    }
}

impl TbInfo {
    /// The instruction at `pc`.
    pub fn insn_at(&self, pc: u32) -> Option<&InsnInfo> {
        self.insns.iter().find(|insn| insn.pc == pc)
    }
}

/// An instruction as the translation callback sees it.
pub struct RawInsn {
    /// Address.
    pub pc: u32,
    /// 2 or 4.
    pub size: u32,
    /// The first halfword in the low half.
    pub code: u32,
    /// Whether it is T32.
    pub thumb: bool,
}

/// All blocks that were ever translated. QEMU translates again after it flushed its buffer: the same block is found here.
#[derive(Default)]
pub struct Blocks {
    known: HashMap<Vec<(u32, u32)>, &'static TbInfo>,
}

impl Blocks {
    /// The block of these instructions (at least one).
    pub fn get(&mut self, raw: &[RawInsn], watch: &Watch, model: &Model) -> &'static TbInfo {
        let key: Vec<_> = raw.iter().map(|insn| (insn.pc | u32::from(insn.thumb), insn.code)).collect();
        self.known.entry(key).or_insert_with(|| describe(raw, watch, model))
    }
}

fn describe(raw: &[RawInsn], watch: &Watch, model: &Model) -> &'static TbInfo {
    let (first, last) = (&raw[0], &raw[raw.len() - 1]);
    let mut flags = 0;
    let is_kernel = watch.kernel_text.is_empty() || watch.kernel_text.iter().any(|range| range.holds(first.pc, 1));
    flags |= if is_kernel { flag::KERNEL } else { 0 };
    flags |= if watch.vectors.contains(&first.pc) { flag::VECTOR } else { 0 };
    let on_application = matches!(model, Model::Application(_));
    if on_application {
        flags |= if application::is_return(last) { flag::RETURNS } else { 0 };
    } else {
        flags |= if raw.iter().any(|insn| decode::is_floating_point(insn.code)) { flag::FP } else { 0 };
        flags |= if decode::may_return(last.code) { flag::RETURNS } else { 0 };
        flags |= if raw.iter().any(|insn| decode::changes_mask(insn.code)) { flag::MASKS } else { 0 };
    }
    let (each, shape) = model.describe(raw);
    let info = Box::leak(Box::new(TbInfo {
        pc: first.pc,
        end: last.pc + last.size,
        flags,
        count: raw.len() as u32,
        each,
        shape,
        checked: Cell::new(0),
        attr: Cell::new(Attr { tex_s_c_b: 0, region: None }),
        insns: Box::default(),
    }));
    let block: *const TbInfo = info;
    info.insns = raw
        .iter()
        .enumerate()
        .map(|(index, insn)| {
            let after = (raw.len() - 1 - index) as u32;
            let system = if on_application { System::decode(insn) } else { None };
            InsnInfo { block, pc: insn.pc, after, system, access: Cell::new((0, 0)) }
        })
        .collect();
    info
}
