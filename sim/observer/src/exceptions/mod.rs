//! Exceptions, and how long interrupts were held off.
//!
//! No length is computed by subtracting: [`Moment::since`] is the only difference of two moments, and it has no value when their order is
//! wrong. A stretch without a length is in no figure and counts as broken, which fails the run.

use record::{CallTime, CoreId, ExceptionCount, Masked, VectorTime, Waits, Window};

use crate::histogram::Histogram;

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
    /// A handler that is not the kernel's: it holds nothing off that the kernel answers for.
    apart: bool,
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

/// Exceptions of one core.
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
    /// begins anew. A stretch up to the first instruction of a thread that then slept ends there.
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
        Open { pc, exception, call: None, start, apart: false }
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

    /// An exception is taken now.
    pub fn start_activation(&mut self, pc: u32, number: u16, call: Option<usize>, tail_chained: bool, now: Moment) {
        if tail_chained {
            // What a handler returns with may say that a thread was to go on, over an exception of the kernel that stays active.
            let is_apart = self.active.last().is_some_and(|open| open.apart);
            while self.active.last().is_some_and(|open| !is_apart || open.apart) {
                self.end_activation(now);
            }
        }
        self.entry_cycle = now.cycle;
        let open = Open { call, ..self.begin(pc, number, now) };
        self.chain.get_or_insert(open);
        self.active.push(open);
        let count = &mut self.taken[usize::from(number)];
        count.taken += 1;
        count.tail_chained += u64::from(tail_chained);
    }

    /// The handler that was entered last is not the kernel's.
    pub fn set_apart(&mut self) {
        let Some(open) = self.active.last_mut() else { return };
        open.apart = true;
        if self.chain.is_some_and(|chain| chain.start == open.start) {
            self.chain = None;
        }
    }

    /// The time from a moment until now belongs to nothing that had begun before.
    pub fn exclude(&mut self, from: Moment, now: Moment) {
        let Some((cycles, instructions)) = now.since(from) else {
            self.broken += 1;
            return;
        };
        let waits = now.waits.since(from.waits);
        for open in self.active.iter_mut().chain(&mut self.chain).chain(&mut self.masked) {
            if open.start.cycle <= from.cycle && !open.apart {
                open.start.cycle += cycles;
                open.start.instructions += instructions;
                open.start.waits = open.start.waits.plus(waits);
            }
        }
    }

    /// The handler that was entered last returns. Its exception, and whether a thread goes on.
    pub fn end_innermost(&mut self, now: Moment) -> Option<(u16, bool)> {
        let left = self.innermost()?;
        self.end_activation(now);
        let to_thread = self.active.is_empty();
        if to_thread {
            self.left = Some(now);
        }
        Some((left, to_thread))
    }

    /// The handler that was entered last returns.
    pub fn end_activation(&mut self, now: Moment) {
        let Some(open) = self.active.pop() else { return };
        self.count_activation(open, now);
    }

    fn count_activation(&mut self, open: Open, now: Moment) {
        let Some(window) = self.end(open, now) else { return };
        if !open.apart {
            keep_longest(&mut self.longest, window);
        }
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

    /// Whether this one is active.
    pub fn is_active(&self, number: u16) -> bool {
        self.active.iter().any(|open| open.exception == number)
    }

    /// How many handlers are active.
    pub fn depth(&self) -> usize {
        self.active.len()
    }

    /// The handler that runs, if one does.
    pub fn innermost(&self) -> Option<u16> {
        self.active.last().map(|open| open.exception)
    }

    /// Outside of handlers, the mask of exceptions may have changed at `pc`.
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
    pub fn is_outside(&self, instructions: u64) -> bool {
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

#[cfg(test)]
mod tests;
