//! Rules for the kernel itself on a processor with region registers: it looks for stores that failed late before it switches, and
//! accesses no device but its own, and nothing below its stack.

use record::ViolationKind;

use super::{Microcontroller, Modelled, Protects, SCR};
use crate::block::BlockInsn;
use crate::per_core::{CoreObserver, InsnOf};

/// System handler control and state: whether a bus fault that came late is pending (DDI 0403 B3.2.13).
const SHCSR: u32 = 0xe000_ed24;

impl<C: Modelled, P: Protects> CoreObserver<Microcontroller<C, P>> {
    /// Kernel text was entered or left.
    pub(super) fn look_for_late_faults(&mut self) {
        self.family.late_unseen =
            !self.shared.watch.kernel_devices.is_empty() && self.kernel != 0 && self.domain != record::IDLE;
    }

    /// Somebody else goes on, says the instruction at `pc`.
    pub(super) fn without_having_looked(&mut self, pc: u32) {
        if std::mem::take(&mut self.family.late_unseen) {
            self.violation(ViolationKind::LateFault, pc, 0, 0, None);
        }
    }

    /// An access right below the kernel's stack.
    #[cold]
    pub(super) fn below_stack(&mut self, insn: &InsnOf<Microcontroller<C, P>>, address: u32, len: u32) {
        if self.kernel != 0 && self.shared.watch.kernel_stack.is_some() {
            self.violation(ViolationKind::KernelStack, insn.pc(), address, len, None);
        }
    }

    /// The core waits for an interrupt, or has waited.
    #[cold]
    pub(super) fn waited(&mut self) {
        // SAFETY: blocks live as long as the process.
        let end = unsafe { self.last.as_ref() }.and_then(|block| block.insns().last());
        if let Some(pc) = end.map(BlockInsn::pc).filter(|_| self.family.protection.sleeps_deep()) {
            self.violation(ViolationKind::DeepSleep, pc, SCR, 4, None);
        }
    }

    /// The kernel accessed a register of a device or of the system.
    pub(super) fn kernel_device(&mut self, insn: &InsnOf<Microcontroller<C, P>>, address: u32, len: u32, store: bool) {
        self.family.late_unseen &= store || address != SHCSR;
        let shared = self.shared.clone();
        let own = &shared.watch.kernel_devices;
        if !own.is_empty() && !own.iter().any(|range| range.holds(address, len)) {
            self.violation(ViolationKind::KernelDevice, insn.pc(), address, len, None);
        }
    }
}
