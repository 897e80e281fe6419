//! Probes of one core.

use record::observed;

use super::{CoreObserver, Family, InsnOf};

impl<F: Family> CoreObserver<F> {
    /// An instruction at which a probe starts or ends is about to run.
    pub(crate) fn probed(&mut self, insn: &InsnOf<F>) {
        let pc = insn.pc();
        // SAFETY: blocks live as long as the process.
        let is_first = pc == unsafe { (*insn.block).pc };
        let cycle = if is_first { self.block_start } else { self.clock.now() - self.charged_from(insn) };
        let instruction = self.instructions - u64::from(insn.after + 1);
        let watch = &self.shared.watch;
        let handlers = watch.handlers.as_ref().is_some_and(|handlers| handlers.begins(pc));
        let is_handler = handlers || watch.vectors.contains(&pc) || self.family.is_vector(pc);
        let start = if is_handler { self.exceptions.entry_cycle } else { cycle };
        let mut ended = Vec::new();
        let at = (start, cycle, instruction);
        self.probes.reach((pc, self.domain), at, |index, cycles| ended.push((index, cycles)));
        for (index, cycles) in ended {
            self.note(observed::PROBE, index, u32::try_from(cycles).unwrap_or(u32::MAX));
        }
    }
}
