//! Exceptions of one core: their time, and the blocks that they interrupt.

use record::Waits;
use timing::Core;

use super::{CoreObserver, Family};
use crate::block::flag;
use crate::exceptions::Moment;

impl<F: Family> CoreObserver<F> {
    /// Now.
    pub(crate) fn moment(&self) -> Moment {
        let counters = self.family.core().counters();
        let waits = Waits { fetch: counters.fetch_stalls, data: counters.data_stalls, barriers: counters.drain_stalls };
        Moment { cycle: self.clock.now(), instructions: self.instructions, waits }
    }

    /// An exception's entry or return passes.
    pub(crate) fn pass_exception(&mut self, exception: <F::Core as Core<F::Context>>::Exception) {
        let cycles = self.family.core_mut().exception(exception);
        self.clock.pass(u64::from(cycles));
    }

    /// The kernel is entered: in adverse runs, others have left everything as bad as they can. Behind another handler nobody else has run.
    pub(crate) fn spoil_at_entry(&mut self) {
        if self.shared.watch.adverse && self.exceptions.is_outside(self.instructions) {
            self.family.core_mut().spoil();
        }
    }

    pub(crate) fn start_activation(&mut self, pc: u32, number: u16, call: Option<usize>, tail_chained: bool) {
        let now = self.moment();
        if !self.family.is_displaced() {
            self.end_stretch(now.cycle);
            self.meter.enter_exception(number, call);
        }
        self.witness_call(pc, call);
        self.exceptions.start_activation(pc, number, call, tail_chained, now);
        self.watched_after |= flag::RETURNS;
    }

    /// A fault stopped the last block at `pc`: the instructions from there on, charged already, did not execute. `false`: the block has no
    /// instruction there.
    pub(crate) fn take_back_from(&mut self, pc: u32) -> bool {
        // SAFETY: blocks live as long as the process.
        let Some(insn) = unsafe { self.last.as_ref() }.and_then(|block| block.insn_at(pc)) else { return false };
        self.clock.refund(self.charged_from(insn));
        self.instructions -= u64::from(insn.after + 1);
        true
    }

    /// The handler that was entered last returns. Its exception, and whether a thread goes on.
    pub(crate) fn end_innermost(&mut self) -> Option<(u16, bool)> {
        let now = self.moment();
        self.exceptions.end_innermost(now)
    }
}
