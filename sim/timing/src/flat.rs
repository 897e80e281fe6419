//! No chip's model: every instruction costs the same, and every access.

use core::convert::Infallible;

use crate::attr::MemAttr;
use crate::core::{Charged, Core};
use crate::counters::Counters;
use crate::insn::InsnInfo;
use crate::machine::{Access, EntryKind, Exception, FpFrame, Maintenance};

/// Cycles of an exception's entry and return, of entering one behind another, and of moving the floating-point registers.
const ENTRY: u32 = 12;
const EXIT: u32 = 12;
const TAIL_CHAIN: u32 = 6;
const FP_WORDS: u32 = 17;

/// The same cost for every instruction and every access.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// Cycles of an instruction.
    pub instruction: u32,
    /// Cycles that an access adds.
    pub access: u32,
}

impl Core<MemAttr> for Flat {
    type Insn = InsnInfo;
    /// Number of instructions.
    type Code = u32;
    type Access = Access;
    type System = Maintenance;
    type Exception = Exception;
    type Violation = Infallible;

    fn describe(&self, _: u32, instructions: &[InsnInfo], _: bool) -> u32 {
        instructions.len() as u32
    }

    #[inline]
    fn fetch(&mut self, count: &u32, _: &MemAttr) -> Charged<Infallible> {
        Charged { cycles: self.instruction * count, violation: None }
    }

    fn behind(&self, _: &u32, count: u32) -> u32 {
        self.instruction * count
    }

    fn cut(&mut self) {}

    #[inline]
    fn data(&mut self, _: Access, _: &MemAttr) -> Charged<Infallible> {
        Charged { cycles: self.access, violation: None }
    }

    fn system(&mut self, _: Maintenance, _: &MemAttr) -> u32 {
        0
    }

    fn exception(&mut self, exception: Exception) -> u32 {
        match exception {
            Exception::Entry { kind: EntryKind::TailChained, .. } => TAIL_CHAIN,
            Exception::Entry { .. } => ENTRY,
            Exception::Return(frame) if frame.fp == FpFrame::Saved => EXIT + FP_WORDS,
            Exception::Return(_) => EXIT,
            Exception::LazySave { .. } => FP_WORDS,
        }
    }

    fn check(&self, _: &MemAttr) -> Option<Infallible> {
        None
    }

    fn sleep(&mut self, _: u64) {}

    fn spoil(&mut self) {}

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
