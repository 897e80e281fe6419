//! Stretches in which one domain or the kernel runs, for the meter and the witness.

use record::{Range, ViolationKind};

use super::{CoreObserver, Family, InsnOf};

impl<F: Family> CoreObserver<F> {
    /// Kernel text was entered or left for the instruction at `pc`.
    pub(super) fn meter_crossing(&mut self, pc: u32) {
        if !self.meter.enabled {
            return;
        }
        self.end_stretch(self.clock.now());
        if self.kernel != 0 {
            self.meter.enter_kernel();
        } else {
            let running = self.family.running(&mut *self.target);
            self.meter.leave_kernel(pc, running);
        }
    }

    /// The processor slept for so many cycles until now.
    pub(super) fn meter_sleep(&mut self, slept: u64) {
        // A handler that is not the kernel's sleeps: what it has interrupted does not go on. A domain sleeps: it goes on in its own time.
        if self.family.is_displaced() || self.meter.is_in_domain() {
            return;
        }
        let now = self.clock.now();
        self.end_stretch(now.saturating_sub(slept));
        self.meter.wake(now);
    }

    /// The stretch that goes on is over at a cycle.
    pub(crate) fn end_stretch(&mut self, cycle: u64) {
        self.meter.end_stretch(cycle).for_each(|record| self.record(record));
    }

    /// The current domain begins to run.
    pub(crate) fn enter_slice(&mut self) {
        self.witness.enter(self.domain, &mut *self.target);
    }

    /// The current domain stops running: the memory of others is compared if it is hostile.
    pub(crate) fn leave_slice(&mut self, pc: u32) {
        let changed = self.witness.leave(&mut *self.target);
        self.tell_changed(pc, changed);
    }

    /// The current domain calls the kernel, or, without a number, another exception is taken or the kernel is left.
    pub(super) fn witness_call(&mut self, pc: u32, call: Option<usize>) {
        if self.witness.is_watching {
            let changed = self.witness.calls(call, &mut *self.target);
            self.tell_changed(pc, changed);
        }
    }

    fn tell_changed(&mut self, pc: u32, changed: Vec<(u8, Range)>) {
        for (victim, range) in changed {
            self.violation(ViolationKind::MemoryChanged, pc, range.start, range.end - range.start, Some(victim));
        }
    }

    /// A hostile domain stored.
    #[cold]
    pub(crate) fn hostile_store(&mut self, insn: &InsnOf<F>, address: u32, len: u32) {
        if self.witness.stores_outside(address, len) {
            self.violation(ViolationKind::HostileStore, insn.pc(), address, len, None);
        }
    }
}
