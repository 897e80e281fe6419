//! Exception entry, exit, tail-chaining and deferred floating-point state.

use super::Machine;
use crate::attr::MemAttr;

/// How an exception is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// From thread or handler code: the frame is pushed.
    Normal,
    /// Directly after another handler: no frame is moved.
    TailChained,
}

/// The place of the floating-point registers in an exception frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FpFrame {
    /// No floating-point context.
    None,
    /// Room is left, nothing is moved until it is needed.
    Lazy,
    /// They are moved at once.
    Saved,
}

/// The stack frame of an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Stack pointer with the frame on the stack: its lowest address.
    pub sp: u32,
    /// Attributes of the stack.
    pub attr: MemAttr,
    /// Floating-point part.
    pub fp: FpFrame,
}

/// Words of the basic frame (DDI 0403 B1.5.7).
const BASIC_WORDS: u32 = 8;
/// Offset of the floating-point part, and its words: S0 to S15 and FPSCR.
const FP_OFFSET: u32 = BASIC_WORDS * 4;
const FP_WORDS: u32 = 17;

impl Machine {
    /// Enters an exception whose vector is at address `vector` (with attributes `vector_attr`). Returns the cycles
    /// until the first instruction of the handler, its own fetch excluded.
    ///
    /// The branch before, if it was not settled, is forgotten; the pipeline is empty afterwards.
    pub fn exception_entry(&mut self, kind: EntryKind, frame: Frame, vector: u32, vector_attr: MemAttr) -> u32 {
        self.counters.exceptions += 1;
        self.front.empty();
        let base = match kind {
            EntryKind::Normal => self.params.entry,
            EntryKind::TailChained => {
                self.counters.tail_chains += 1;
                self.params.tail_chain
            }
        };
        let mut spent = self.spend(base);
        if kind == EntryKind::Normal {
            spent += self.move_frame(frame, true);
        }
        spent + self.data(vector, 4, false, vector_attr)
    }

    /// Returns from an exception to the code that `frame` belongs to. Not to be called when another handler follows
    /// directly ([`EntryKind::TailChained`]).
    pub fn exception_exit(&mut self, frame: Frame) -> u32 {
        self.counters.returns += 1;
        self.front.empty();
        self.spend(self.params.exit) + self.move_frame(frame, false)
    }

    /// Saves deferred floating-point registers at `address` (FPCAR), as their first use in a handler does.
    pub fn lazy_fp_save(&mut self, address: u32, attr: MemAttr) -> u32 {
        self.counters.lazy_saves += 1;
        self.spend(self.params.lazy_fp) + self.words(address, FP_WORDS, true, attr)
    }

    /// Cycles of the frame beyond those of memory without wait states.
    fn move_frame(&mut self, frame: Frame, push: bool) -> u32 {
        let mut spent = self.words(frame.sp, BASIC_WORDS, push, frame.attr);
        if frame.fp == FpFrame::Saved {
            spent += self.spend(self.params.fp_frame);
            spent += self.words(frame.sp.wrapping_add(FP_OFFSET), FP_WORDS, push, frame.attr);
        }
        spent
    }

    fn words(&mut self, base: u32, count: u32, store: bool, attr: MemAttr) -> u32 {
        (0..count).map(|word| self.data(base.wrapping_add(word * 4), 4, store, attr)).sum()
    }
}
