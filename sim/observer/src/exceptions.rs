//! Exceptions, and how long interrupts were held off.
//!
//! No length is computed by subtracting: [`Moment::since`] is the only difference of two moments, and it has no value when their order is
//! wrong. A stretch without a length is in no figure and counts as broken, which fails the run.

use record::{CallTime, CoreId, ExceptionCount, Masked, VectorTime, Waits, Window};
use timing::Core;

use crate::block::flag;
use crate::family::Family;
use crate::histogram::Histogram;
use crate::observer::CoreObserver;

const NUMBERS: usize = 512;
/// How many numbers of system calls are told apart.
const CALLS: usize = 64;

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

/// What is known about exceptions of one core.
pub struct Exceptions {
    core: CoreId,
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
    /// Cycle of the last entry, before its cost.
    pub entry_cycle: u64,
}

impl Exceptions {
    /// Nothing seen; `count_at_once`: stretches count from reset on.
    pub fn new(core: CoreId, count_at_once: bool) -> Self {
        let unseen = |number| ExceptionCount { core, number: number as u16, taken: 0, tail_chained: 0 };
        let taken = std::array::from_fn(unseen);
        Self {
            core,
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
            core: self.core,
            pc: open.pc,
            exception: open.exception,
            start_cycle: open.start.cycle,
            cycles,
            instructions,
            waits,
        })
    }

    /// The handler that was entered last returns.
    pub fn end_activation(&mut self, now: Moment) {
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

    /// A thread goes on.
    pub fn end_chain(&mut self, now: Moment) {
        if let Some(window) = self.chain.take().and_then(|open| self.end(open, now)) {
            keep_longest(&mut self.longest_to_thread, window);
        }
    }

    /// The handler that runs, if one does.
    pub fn innermost(&self) -> Option<u16> {
        self.active.last().map(|open| open.exception)
    }

    /// Outside of handlers, which exceptions are masked may have changed at `pc`.
    pub fn mask(&mut self, is_masked: bool, pc: u32, now: Moment) {
        match (is_masked, self.masked) {
            (true, None) => self.masked = Some(self.begin(pc, 0, now)),
            (false, Some(open)) => {
                self.masked = None;
                if let Some(window) = self.end(open, now) {
                    keep_longest(&mut self.longest, window);
                    keep_longest(&mut self.longest_to_thread, window);
                }
            }
            _ => {}
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
        let core = self.core;
        let spread = |number: usize, times: &Times| VectorTime {
            core,
            exception: number as u16,
            cycles: times.cycles.spread(),
            instructions: times.instructions.spread(),
            waits: times.waits(),
        };
        let call = |number: usize, times: &Times| CallTime {
            core,
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
        self.clock.refund(self.charged_from(insn));
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
}

#[cfg(test)]
mod tests;
