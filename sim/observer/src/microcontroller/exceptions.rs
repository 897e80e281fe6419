//! Exceptions of the M profile: frames on the stack, tail-chaining, deferred floating-point registers (ARM DDI 0403, B1.5; DDI 0553, B3).

use record::observed;
use timing::machine::Exception;
use timing::{EntryKind, FpFrame, Frame};

use super::frame::{BASIC_BYTES, BASIC_FRAME, FPCA, SECURE_STACK, SPSEL, TO_THREAD};
use super::{Microcontroller, Modelled, Protects};
use crate::block::flag;
use crate::per_core::{BlockOf, CoreObserver, Family};

const STACKED_R12: u32 = 16;
const STACKED_PC: u32 = 24;
/// Exception of a system call, whose number is in r12.
const SV_CALL: u16 = 11;
/// The first fault.
const HARD_FAULT: u16 = 3;

impl<C: Modelled, P: Protects> CoreObserver<Microcontroller<C, P>> {
    pub(super) fn ipsr(&mut self) -> u16 {
        (self.target.register(self.family.xpsr) & 0x1ff) as u16
    }

    /// A handler's first block runs: an exception was taken, unless code branched there. `returned`: the block before
    /// ended with a branch that may have been an exception return.
    pub(super) fn enter_exception(&mut self, tb: &BlockOf<Microcontroller<C, P>>, returned: bool) -> bool {
        let number = self.ipsr();
        let lr = self.target.register(self.family.lr);
        let again = !returned && self.exceptions.innermost() == Some(number);
        // The simulator keeps reserved bits of the EXC_RETURN behind whose exception this one is taken.
        if number == 0 || lr >> 24 != 0xff || again {
            return false;
        }
        let sp = self.family.protection.frame(&mut *self.target, lr);
        let from = self.target.word(sp.wrapping_add(STACKED_PC)).unwrap_or(0);
        if (HARD_FAULT..=P::LAST_FAULT).contains(&number) {
            self.take_back_from(from);
        }
        if self.family.protection.is_apart() {
            self.end_what_is_above();
        }
        // Behind handlers that have ended, and not above them, nor above what they have called.
        if !self.family.protection.is_apart() && lr & SECURE_STACK != 0 && !self.is_way_in(from) {
            self.replace(tb);
        }
        if (tb.flags ^ self.kernel) & flag::KERNEL != 0 && !self.family.is_displaced() {
            self.cross(tb, true);
        }
        let tail_chained = self.exceptions.innermost().is_some() && lr & TO_THREAD != 0;
        // The exception was just unmasked and taken at once: the masked stretch ended before the entry.
        self.check_masks(tb.pc);
        let call = (number == SV_CALL).then(|| self.target.word(sp.wrapping_add(STACKED_R12))).flatten();
        self.spoil_at_entry();
        self.start_activation(tb.pc, number, call.map(|call| call as usize), tail_chained);
        if self.family.protection.is_apart() {
            self.exceptions.set_apart();
            let others = self.exceptions.depth() - 1;
            if let Some(displaced) = &mut self.family.displaced {
                displaced.depth = displaced.depth.min(others);
            }
        } else {
            self.begin_above(number);
        }
        let fp = if lr & BASIC_FRAME == 0 { FpFrame::Lazy } else { FpFrame::None };
        let frame = Frame { sp, attr: self.family.attr(sp), fp };
        let vector = self.family.protection.table().wrapping_add(u32::from(number) * 4);
        let vector_attr = self.family.attr(vector);
        let kind = if tail_chained { EntryKind::TailChained } else { EntryKind::Normal };
        self.pass_exception(Exception::Entry { kind, frame, vector, vector_attr });
        if self.family.protection.is_apart() {
            self.note_entry(number);
        } else {
            self.family.pending.forget(number);
        }
        if fp == FpFrame::Lazy && !tail_chained {
            self.family.lazy_frame = frame;
            self.watched |= flag::FP;
        }
        if self.shared.watch.exception_events {
            self.note(observed::EXCEPTION_ENTRY, number, from);
        }
        true
    }

    /// A branch inside a handler may have been its return.
    pub(super) fn leave_exception(&mut self) {
        let number = self.ipsr();
        let now = self.moment();
        let exceptions = &mut self.exceptions;
        let Some(left) = exceptions.innermost() else {
            if number == 0 {
                self.watched_after &= !flag::RETURNS;
            }
            return;
        };
        if left == number {
            return;
        }
        // One that goes on and is not known has begun with an instruction that failed, or at a vector of handlers' own. What is below it stays active: it may be the
        // kernel's. Only the one that has returned is over for certain.
        let is_known = number == 0 || exceptions.is_active(number);
        exceptions.end_activation(now);
        while is_known && exceptions.innermost().is_some_and(|innermost| innermost != number) {
            exceptions.end_activation(now);
        }
        let to_thread = number == 0;
        if to_thread {
            exceptions.end_chain(now);
            // An exception whose vector is a handler's own is not known as one, and returns, too.
            if number == 0 {
                self.watched_after &= !flag::RETURNS;
            }
        }
        let frame = self.unstacked(to_thread);
        self.pass_exception(Exception::Return(frame));
        if to_thread {
            self.watched &= !flag::FP;
        }
        if to_thread && self.shared.watch.exception_events {
            self.note(observed::EXCEPTION_RETURN, left, 0);
        }
    }

    /// The frame that a return has just taken from the stack.
    fn unstacked(&mut self, to_thread: bool) -> Frame {
        let protection = &self.family.protection;
        let (registers, extended) = (*protection.banked(), protection.extended_bytes());
        let control = self.target.register(registers.control);
        let stack = if to_thread && control & SPSEL != 0 { registers.psp } else { registers.msp };
        let (fp, len) = match control & FPCA != 0 {
            false => (FpFrame::None, BASIC_BYTES),
            true if self.watched & flag::FP != 0 => (FpFrame::Lazy, extended),
            true => (FpFrame::Saved, extended),
        };
        let sp = self.target.register(stack).wrapping_sub(len);
        Frame { sp, attr: self.family.attr(sp), fp }
    }

    /// Floating-point registers that were left behind are stored now.
    pub(super) fn save_lazily(&mut self) {
        let frame = self.family.lazy_frame;
        self.watched &= !flag::FP;
        self.pass_exception(Exception::LazySave { address: frame.sp.wrapping_add(BASIC_BYTES), attr: frame.attr });
    }

    /// PRIMASK, BASEPRI or FAULTMASK may have changed.
    pub(super) fn check_masks(&mut self, pc: u32) {
        if self.exceptions.innermost().is_some() {
            return;
        }
        let is_masked = self.family.protection.masks(&mut *self.target);
        let now = self.moment();
        self.exceptions.mask(is_masked, pc, now);
    }
}
