//! Exceptions, and how long interrupts were held off.
//!
//! No length is computed by subtracting: [`Moment::since`] is the only difference of two moments, and it has no value when their order is
//! wrong. A stretch without a length is in no figure and counts as broken, which fails the run.

use protect::pmsav7::Attr;
use record::{CallTime, ExceptionCount, Masked, VectorTime, Waits, Window, observed};

use crate::block::{TbInfo, flag};
use crate::clock::CLOCK;
use crate::histogram::Histogram;
use crate::model::{Fp, Stacked};
use crate::observer::Observer;

const NUMBERS: usize = 512;
/// EXC_RETURN: thread mode, process stack, no floating-point frame (ARM DDI 0403 B1.5.8).
const TO_THREAD: u32 = 1 << 3;
const ON_PROCESS_STACK: u32 = 1 << 2;
const BASIC_FRAME: u32 = 1 << 4;
const STACKED_R12: u32 = 16;
const STACKED_PC: u32 = 24;
/// Exception of a system call, whose number is in r12, and how many numbers are told apart.
const SV_CALL: u16 = 11;
const CALLS: usize = 64;
const FPCA: u32 = 1 << 2;
const SPSEL: u32 = 1 << 1;
const BASIC_BYTES: u32 = 0x20;
const EXTENDED_BYTES: u32 = 0x68;
const NOTHING_STACKED: Stacked = Stacked { sp: 0, attr: Attr { tex_s_c_b: 0, region: None }, fp: Fp::None };

/// A point of the run: cycles, instructions and waiting since reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub cycle: u64,
    pub instructions: u64,
    pub waits: Waits,
}

impl Moment {
    /// Cycles and instructions from an earlier moment to this one; nothing when the other one is the later.
    fn since(self, earlier: Moment) -> Option<(u64, u64)> {
        self.cycle.checked_sub(earlier.cycle).zip(self.instructions.checked_sub(earlier.instructions))
    }
}

/// A stretch that has begun.
#[derive(Clone, Copy)]
struct Open {
    pc: u32,
    exception: u16,
    call: Option<usize>,
    start: Moment,
}

#[derive(Default)]
struct Times {
    cycles: Histogram,
    instructions: Histogram,
    longest: Option<Window>,
}

impl Times {
    fn add(&mut self, window: Window) {
        self.cycles.add(window.cycles);
        self.instructions.add(window.instructions);
        keep_longest(&mut self.longest, window);
    }

    fn waits(&self) -> Waits {
        self.longest.map_or_else(Waits::default, |window| window.waits)
    }
}

/// What is known about exceptions.
pub struct Exceptions {
    active: Vec<Open>,
    chain: Option<Open>,
    /// When a thread was to go on, where the next interrupt may come before its first instruction.
    left: Option<Moment>,
    masked: Option<Open>,
    taken: Box<[ExceptionCount; NUMBERS]>,
    times: Vec<Option<Box<Times>>>,
    calls: Vec<Option<Box<Times>>>,
    longest: Option<Window>,
    longest_to_thread: Option<Window>,
    counting_from: Option<u64>,
    /// Stretches that ended before they began.
    pub broken: u64,
    /// The guest has slept since an exception was last identified.
    slept: bool,
    /// The frame that still waits for its floating-point registers.
    pub lazy_frame: Stacked,
    /// Address of the vector table.
    pub table: u32,
    /// Cycle of the last entry, before its cost.
    pub entry_cycle: u64,
}

impl Exceptions {
    /// Nothing seen; `count_at_once`: stretches count from reset on.
    pub fn new(count_at_once: bool) -> Self {
        let taken = std::array::from_fn(|number| ExceptionCount { number: number as u16, taken: 0, tail_chained: 0 });
        Self {
            active: Vec::with_capacity(16),
            chain: None,
            left: None,
            masked: None,
            taken: Box::new(taken),
            times: (0..NUMBERS).map(|_| None).collect(),
            calls: (0..CALLS).map(|_| None).collect(),
            longest: None,
            longest_to_thread: None,
            counting_from: count_at_once.then_some(0),
            broken: 0,
            slept: false,
            lazy_frame: NOTHING_STACKED,
            table: 0,
            entry_cycle: 0,
        }
    }

    /// Start-up is over: stretches that begin from here on count.
    pub fn start_counting(&mut self, cycle: u64) {
        self.counting_from.get_or_insert(cycle);
    }

    /// The guest slept for some cycles until now: every stretch ended when it fell asleep, because nothing was held off meanwhile, and
    /// begins anew. What was to end at the first instruction of a thread that then slept ends there.
    pub fn restart_windows(&mut self, now: Moment, slept: u64) {
        let Some(asleep) = now.cycle.checked_sub(slept).map(|cycle| Moment { cycle, ..now }) else {
            self.broken += 1;
            return;
        };
        self.follows(false, now.instructions);
        if let Some(open) = self.active.last().copied() {
            self.count_activation(open, asleep);
        }
        if let Some(window) = self.masked.and_then(|open| self.end(open, asleep)) {
            keep_longest(&mut self.longest, window);
        }
        if let Some(window) = self.chain.and_then(|open| self.end(open, asleep)) {
            keep_longest(&mut self.longest_to_thread, window);
        }
        self.slept = true;
        let stretches = self.active.iter_mut().chain(&mut self.chain).chain(&mut self.masked);
        for open in stretches {
            open.start = now;
        }
    }

    /// The exception `anonymous`, entered last, turns out to be `number`. One that ended the processor's sleep was not entered: its
    /// handling began when the guest woke, in whatever was going on.
    pub fn identify(&mut self, anonymous: u16, number: u16, now: Moment) {
        let slept = std::mem::take(&mut self.slept);
        if usize::from(number) >= NUMBERS {
            return;
        }
        match self.active.last_mut() {
            Some(open) if open.exception == anonymous => {
                open.exception = number;
                self.taken[usize::from(anonymous)].taken -= 1;
            }
            Some(open) if slept => (open.exception, open.call) = (number, None),
            Some(_) => return,
            None => {
                let open = self.begin(0, number, now);
                self.active.push(open);
                self.chain.get_or_insert(open);
            }
        }
        self.taken[usize::from(number)].taken += 1;
    }

    fn begin(&self, pc: u32, exception: u16, start: Moment) -> Open {
        Open { pc, exception, call: None, start }
    }

    fn end(&mut self, open: Open, now: Moment) -> Option<Window> {
        self.counting_from.filter(|from| open.start.cycle >= *from)?;
        let Some((cycles, instructions)) = now.since(open.start) else {
            self.broken += 1;
            return None;
        };
        let waits = now.waits.since(open.start.waits);
        Some(Window {
            pc: open.pc,
            exception: open.exception,
            start_cycle: open.start.cycle,
            cycles,
            instructions,
            waits,
        })
    }

    fn end_activation(&mut self, now: Moment) {
        let Some(open) = self.active.pop() else { return };
        self.count_activation(open, now);
    }

    fn count_activation(&mut self, open: Open, now: Moment) {
        let Some(window) = self.end(open, now) else { return };
        keep_longest(&mut self.longest, window);
        self.times[usize::from(window.exception)].get_or_insert_default().add(window);
        if let Some(times) = open.call.and_then(|call| self.calls.get_mut(call)) {
            times.get_or_insert_default().add(window);
        }
    }

    fn end_chain(&mut self, now: Moment) {
        if let Some(window) = self.chain.take().and_then(|open| self.end(open, now)) {
            keep_longest(&mut self.longest_to_thread, window);
        }
    }

    /// Whether no handler runs, and something else has run since the last one.
    fn is_outside(&self, instructions: u64) -> bool {
        self.active.is_empty() && self.left.is_none_or(|left| left.instructions != instructions)
    }

    /// Another exception is taken: an interrupt that comes before any instruction of the thread makes the stretch until one longer.
    pub fn follows(&mut self, interrupt: bool, instructions: u64) {
        let Some(left) = self.left.take() else { return };
        if !interrupt || left.instructions != instructions {
            self.end_chain(left);
        }
    }

    /// For the summary.
    pub fn counts(&self) -> Vec<ExceptionCount> {
        self.taken.iter().filter(|count| count.taken != 0).copied().collect()
    }

    /// For the summary.
    pub fn masked(&mut self) -> Masked {
        self.follows(false, 0);
        let spread = |number: usize, times: &Times| VectorTime {
            exception: number as u16,
            cycles: times.cycles.spread(),
            instructions: times.instructions.spread(),
            waits: times.waits(),
        };
        let call = |number: usize, times: &Times| CallTime {
            call: number as u32,
            cycles: times.cycles.spread(),
            instructions: times.instructions.spread(),
            waits: times.waits(),
        };
        let (vectors, calls) = (self.times.iter().enumerate(), self.calls.iter().enumerate());
        Masked {
            longest: self.longest,
            longest_to_thread: self.longest_to_thread,
            vectors: vectors.filter_map(|(number, times)| Some(spread(number, times.as_deref()?))).collect(),
            calls: calls.filter_map(|(number, times)| Some(call(number, times.as_deref()?))).collect(),
        }
    }
}

fn keep_longest(place: &mut Option<Window>, window: Window) {
    if place.is_none_or(|longest| longest.cycles < window.cycles) {
        *place = Some(window);
    }
}

impl Observer {
    /// Now.
    pub(crate) fn moment(&self) -> Moment {
        Moment { cycle: CLOCK.now(), instructions: self.instructions, waits: self.model.waits() }
    }

    fn ipsr(&mut self) -> u16 {
        let handle = self.registers.as_ref().map_or(std::ptr::null_mut(), |registers| registers.xpsr);
        (self.bytes.register(handle) & 0x1ff) as u16
    }

    /// A handler's first block runs: an exception was taken, unless code branched there. `returned`: the block before
    /// ended with a branch that may have been an exception return.
    pub(crate) fn enter_exception(&mut self, tb: &TbInfo, returned: bool) -> bool {
        let number = self.ipsr();
        let Some(registers) = &self.registers else { return false };
        let (lr_handle, psp, msp) = (registers.lr, registers.psp, registers.msp);
        let lr = self.bytes.register(lr_handle);
        let again = !returned && self.exceptions.active.last().is_some_and(|open| open.exception == number);
        if number == 0 || lr >> 8 != 0x00ff_ffff || again {
            return false;
        }
        let stack = if lr & ON_PROCESS_STACK != 0 { psp } else { msp };
        let frame = self.bytes.register(stack);
        let from = self.bytes.memory(frame.wrapping_add(STACKED_PC), 4);
        let from = from.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
        if (3..=6).contains(&number) {
            self.take_back_from(from);
        }
        if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, true);
        }
        let tail_chained = !self.exceptions.active.is_empty() && lr & TO_THREAD != 0;
        // What was just unmasked was taken at once: the masked stretch ended before the entry.
        self.check_masks(tb.pc);
        let call = (number == SV_CALL).then(|| self.bytes.memory(frame.wrapping_add(STACKED_R12), 4)).flatten();
        let call = call.and_then(|bytes| bytes.try_into().ok()).map(|bytes| u32::from_le_bytes(bytes) as usize);
        self.spoil_at_entry();
        self.start_activation(tb.pc, number, call, tail_chained);
        let fp = if lr & BASIC_FRAME == 0 { Fp::Lazy } else { Fp::None };
        let stacked = Stacked { sp: frame, attr: self.attr(frame), fp };
        let vector = self.exceptions.table.wrapping_add(u32::from(number) * 4);
        let vector_attr = self.attr(vector);
        let cycles = self.model.enter(tail_chained, stacked, vector, vector_attr);
        CLOCK.pass(cycles);
        if fp == Fp::Lazy && !tail_chained {
            self.exceptions.lazy_frame = stacked;
            self.watched |= flag::FP;
        }
        if self.watch.exception_events {
            self.note(observed::EXCEPTION_ENTRY, number, from);
        }
        true
    }

    /// The kernel is entered: in adverse runs, others have left everything as bad as they can. Behind another handler nobody else has run.
    pub(crate) fn spoil_at_entry(&mut self) {
        if self.watch.adverse && self.exceptions.is_outside(self.instructions) {
            self.model.spoil();
        }
    }

    pub(crate) fn start_activation(&mut self, pc: u32, number: u16, call: Option<usize>, tail_chained: bool) {
        let now = self.moment();
        self.meter_exception(number, call);
        let exceptions = &mut self.exceptions;
        if tail_chained {
            while !exceptions.active.is_empty() {
                exceptions.end_activation(now);
            }
        }
        exceptions.entry_cycle = now.cycle;
        let open = Open { call, ..exceptions.begin(pc, number, now) };
        exceptions.chain.get_or_insert(open);
        exceptions.active.push(open);
        let count = &mut exceptions.taken[usize::from(number)];
        count.taken += 1;
        count.tail_chained += u64::from(tail_chained);
        self.watched_after |= flag::RETURNS;
    }

    /// A fault stopped the last block at `pc`: what was charged from there on did not happen. `false`: the block has no
    /// instruction there.
    pub(crate) fn take_back_from(&mut self, pc: u32) -> bool {
        // SAFETY: blocks live as long as the process.
        let Some(insn) = unsafe { self.last.as_ref() }.and_then(|block| block.insn_at(pc)) else { return false };
        CLOCK.refund(self.charged_from(insn));
        self.instructions -= u64::from(insn.after + 1);
        true
    }

    /// The handler that was entered last returns. Its exception, and whether a thread goes on.
    pub(crate) fn end_innermost(&mut self) -> Option<(u16, bool)> {
        let now = self.moment();
        let exceptions = &mut self.exceptions;
        let left = exceptions.active.last()?.exception;
        exceptions.end_activation(now);
        let to_thread = exceptions.active.is_empty();
        if to_thread {
            exceptions.left = Some(now);
        }
        Some((left, to_thread))
    }

    /// A branch inside a handler may have been its return.
    pub(crate) fn leave_exception(&mut self) {
        let number = self.ipsr();
        let now = self.moment();
        let exceptions = &mut self.exceptions;
        let Some(left) = exceptions.active.last().map(|open| open.exception) else { return };
        if left == number {
            return;
        }
        while exceptions.active.last().is_some_and(|open| open.exception != number) {
            exceptions.end_activation(now);
        }
        let to_thread = exceptions.active.is_empty();
        if to_thread {
            exceptions.end_chain(now);
            self.watched_after &= !flag::RETURNS;
        }
        let stacked = self.unstacked(to_thread);
        let cycles = self.model.leave(stacked);
        CLOCK.pass(cycles);
        if to_thread {
            self.watched &= !flag::FP;
        }
        if to_thread && self.watch.exception_events {
            self.note(observed::EXCEPTION_RETURN, left, 0);
        }
    }

    /// The frame that a return has just taken from the stack.
    fn unstacked(&mut self, to_thread: bool) -> Stacked {
        let Some(registers) = &self.registers else { return NOTHING_STACKED };
        let (control, msp, psp) = (registers.control, registers.msp, registers.psp);
        let control = self.bytes.register(control);
        let sp = self.bytes.register(if to_thread && control & SPSEL != 0 { psp } else { msp });
        let (fp, len) = match control & FPCA != 0 {
            false => (Fp::None, BASIC_BYTES),
            true if self.watched & flag::FP != 0 => (Fp::Lazy, EXTENDED_BYTES),
            true => (Fp::Saved, EXTENDED_BYTES),
        };
        let sp = sp.wrapping_sub(len);
        Stacked { sp, attr: self.attr(sp), fp }
    }

    /// PRIMASK, BASEPRI or FAULTMASK may have changed.
    pub(crate) fn check_masks(&mut self, pc: u32) {
        if !self.exceptions.active.is_empty() {
            return;
        }
        let Some(handles) = self.registers.as_ref().map(|registers| registers.masks) else { return };
        let is_masked = handles.into_iter().any(|handle| self.bytes.register(handle) != 0);
        let now = self.moment();
        let exceptions = &mut self.exceptions;
        match (is_masked, exceptions.masked) {
            (true, None) => exceptions.masked = Some(exceptions.begin(pc, 0, now)),
            (false, Some(open)) => {
                exceptions.masked = None;
                if let Some(window) = exceptions.end(open, now) {
                    keep_longest(&mut exceptions.longest, window);
                    keep_longest(&mut exceptions.longest_to_thread, window);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
