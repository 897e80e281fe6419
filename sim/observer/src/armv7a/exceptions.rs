//! Exceptions of Armv7-A: entered where a block begins in the vector table, left by an instruction that restores the status.

use record::observed;
use timing::application::Exception;

use super::{Armv7a, Memory};
use crate::block::flag;
use crate::per_core::{BlockOf, CoreObserver};

/// Offsets in the vector table divided by four (ARM DDI 0406, B1.8.1).
mod vector {
    pub const UNDEFINED: u16 = 1;
    pub const SUPERVISOR_CALL: u16 = 2;
    pub const DATA_ABORT: u16 = 4;
    pub const INTERRUPT: u16 = 6;
}

const R12: usize = 12;
const LR: usize = 14;

impl CoreObserver<Armv7a> {
    fn core_register(&mut self, number: usize) -> u32 {
        self.target.register(self.family.registers.core[number])
    }

    /// A block of the vector table runs: an exception was taken.
    pub(super) fn take_exception(&mut self, tb: &BlockOf<Armv7a>) {
        let number = (tb.pc.wrapping_sub(self.family.table) / 4) as u16;
        let lr = self.core_register(LR);
        // How far the link register is behind the instruction; an undefined one of T32 is 2 before it.
        let from = match number {
            vector::SUPERVISOR_CALL => lr,
            vector::DATA_ABORT => lr.wrapping_sub(8),
            _ => lr.wrapping_sub(4),
        };
        match number {
            vector::DATA_ABORT => _ = self.take_back_from(from),
            vector::UNDEFINED if !self.take_back_from(from) => _ = self.take_back_from(lr.wrapping_sub(2)),
            _ => {}
        }
        if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, true);
        }
        self.spoil_at_entry();
        self.exceptions.follows(number == vector::INTERRUPT, self.instructions);
        let call = (number == vector::SUPERVISOR_CALL).then(|| self.core_register(R12) as usize);
        self.start_activation(tb.pc, number, call, false);
        self.pass_exception(Exception::Entry);
        if self.shared.watch.exception_events {
            self.note(observed::EXCEPTION_ENTRY, number, from);
        }
    }

    /// The interrupt controller was asked for the interrupt's number, and told it.
    pub(super) fn acknowledged(&mut self, answer: u32) {
        /// Numbers from here on are no interrupts (ARM IHI 0048, 3.2.5).
        const FIRST_SPECIAL: u32 = 1020;
        let line = answer & 0x3ff;
        if line < FIRST_SPECIAL {
            let number = record::FIRST_LINE + line as u16;
            let now = self.moment();
            self.exceptions.identify(vector::INTERRUPT, number, now);
            self.meter.identify(vector::INTERRUPT, number);
        }
    }

    /// The last block ended with a return from an exception.
    pub(super) fn return_from_exception(&mut self, memory: &Memory, pc: u32) {
        let left = self.end_innermost();
        self.pass_exception(Exception::Return);
        if let Some((number, true)) = left
            && self.shared.watch.exception_events
        {
            self.note(observed::EXCEPTION_RETURN, number, 0);
        }
        self.review_locked(memory, pc);
    }
}
