//! The meter: a record for every stretch of a domain's own code and of the kernel's, by the processor's state.
//!
//! The code's address or the address space in force identifies the domain, and the stack in use the thread. The kernel's own records are not
//! asked; the report holds them against these.

use record::{ContextWatch, Handled, IDLE, MeterWatch, Range, RunEvent, StackWatch, observed};

/// No stack that is known.
const NO_STACK: u16 = u16::MAX;

/// The stretch that goes on.
pub struct Meter {
    contexts: Vec<ContextWatch>,
    stacks: Vec<StackWatch>,
    clock: Vec<Range>,
    /// Cycles of the first and the last read of the clock in the kernel's stretch that goes on.
    reads: Option<(u64, u64)>,
    pub enabled: bool,
    /// Cycle at which it began.
    since: u64,
    /// The kernel runs, to handle this.
    in_kernel: bool,
    handled: Handled,
    /// Otherwise code of this domain runs, on this stack.
    domain: u8,
    stack: u16,
    /// Stretches that would have ended before they began.
    pub broken: u64,
}

impl Meter {
    /// Nothing seen; without a request nothing will be.
    pub fn new(watch: Option<&MeterWatch>) -> Self {
        let MeterWatch { contexts, stacks, clock } = watch.cloned().unwrap_or_default();
        Self {
            contexts,
            stacks,
            clock,
            reads: None,
            enabled: watch.is_some(),
            since: 0,
            in_kernel: true,
            handled: Handled::default(),
            domain: IDLE,
            stack: NO_STACK,
            broken: 0,
        }
    }

    /// The stack in use when a domain's code ran last, with its place in the request.
    pub fn last_stack(&self) -> Option<(u16, StackWatch)> {
        Some((self.stack, *self.stacks.get(usize::from(self.stack))?))
    }

    /// Ends the stretch at a cycle; the record of it, unless it was empty.
    fn end(&mut self, cycle: u64) -> Option<RunEvent> {
        if !self.enabled {
            return None;
        }
        let Some(length) = cycle.checked_sub(self.since) else {
            self.broken += 1;
            self.since = cycle;
            return None;
        };
        self.since = cycle;
        let payload = u32::try_from(length).unwrap_or(u32::MAX);
        let (event, domain, detail) = match self.in_kernel {
            true => (observed::HANDLED, IDLE, self.handled.to_detail()),
            false => (observed::RAN, self.domain, self.stack),
        };
        (length != 0).then_some(RunEvent { cycle, event, domain, detail, payload, ..RunEvent::default() })
    }

    /// Something was loaded from a device's register at a cycle.
    pub fn loaded(&mut self, at: u32, cycle: u64) {
        if self.in_kernel && self.clock.iter().any(|clock| clock.holds(at, 4)) {
            self.reads = Some((self.reads.map_or(cycle, |(first, _)| first), cycle));
        }
    }

    /// The record of reads of the clock in the stretch that has just begun at a cycle and ends now.
    fn reads(&mut self, now: u64) -> Option<RunEvent> {
        let (first, last) = self.reads.take()?;
        let detail = u16::try_from(first.checked_sub(self.since)?).unwrap_or(u16::MAX);
        let payload = u32::try_from(now.checked_sub(last)?).unwrap_or(u32::MAX);
        Some(RunEvent { cycle: now, event: observed::CLOCK, domain: IDLE, detail, payload, ..RunEvent::default() })
    }

    /// The exception `anonymous`, entered last, or what ended the processor's sleep, is `number`.
    pub fn identify(&mut self, anonymous: u16, number: u16) {
        if self.in_kernel && (self.handled.exception == anonymous || self.handled == Handled::default()) {
            self.handled = Handled { exception: number, call: None };
        }
    }

    /// The domain whose code is at `pc`, or whose address space is in force.
    fn domain(&self, pc: u32, space: Option<u32>) -> u8 {
        let is_it = |context: &&ContextWatch| match (context.space, space) {
            (Some(own), Some(now)) => own == now,
            _ => context.code.iter().any(|code| code.holds(pc, 1)),
        };
        self.contexts.iter().find(is_it).map_or(IDLE, |context| context.domain)
    }

    /// The stack that a stack pointer is on: of the domain's own first, because in address spaces of their own several may have one there.
    fn stack(&self, sp: u32) -> u16 {
        let holds = |stack: &StackWatch| sp > stack.range.start && sp <= stack.range.end;
        let own = self.stacks.iter().position(|stack| stack.domain == self.domain && holds(stack));
        own.or_else(|| self.stacks.iter().position(holds))
            .and_then(|place| u16::try_from(place).ok())
            .unwrap_or(NO_STACK)
    }

    /// The stretch that goes on is over at a cycle: its records.
    pub fn end_stretch(&mut self, cycle: u64) -> impl Iterator<Item = RunEvent> + use<> {
        [self.reads(cycle), self.end(cycle)].into_iter().flatten()
    }

    /// Whether code of a domain runs: if the processor sleeps now, the domain has told it to, and has the time.
    pub fn is_in_domain(&self) -> bool {
        !self.in_kernel && self.domain != IDLE
    }

    /// Kernel text is entered.
    pub fn enter_kernel(&mut self) {
        (self.in_kernel, self.handled) = (true, Handled::default());
    }

    /// Kernel text is left for the instruction at `pc`, with this stack pointer and address space.
    pub fn leave_kernel(&mut self, pc: u32, (sp, space): (u32, Option<u32>)) {
        (self.in_kernel, self.handled) = (false, Handled::default());
        self.domain = self.domain(pc, space);
        self.stack = self.stack(sp);
    }

    /// A handler of `domain` that interrupts reach without the kernel ran from a cycle until now, but for so many cycles of what was above it: the record of it.
    /// The stretch that it interrupted goes on.
    pub fn served(&mut self, (domain, exception): (u8, u16), (from, now): (u64, u64), above: u64) -> Option<RunEvent> {
        if !self.enabled {
            return None;
        }
        let Some((length, own)) = now.checked_sub(from).and_then(|length| Some((length, length.checked_sub(above)?)))
        else {
            self.broken += 1;
            return None;
        };
        self.since += length;
        self.reads = self.reads.map(|(first, last)| (first + length, last + length));
        let payload = u32::try_from(own).unwrap_or(u32::MAX);
        Some(RunEvent {
            cycle: now,
            event: observed::SERVED,
            domain,
            detail: exception,
            payload,
            ..RunEvent::default()
        })
    }

    /// An exception of the kernel ran above a handler of `domain` for so many cycles until now: the record of it.
    pub fn looked(&self, (domain, exception): (u8, u16), length: u64, now: u64) -> Option<RunEvent> {
        let payload = u32::try_from(length).unwrap_or(u32::MAX);
        let (event, detail) = (observed::LOOKED, exception);
        self.enabled.then(|| RunEvent { cycle: now, event, domain, detail, payload, ..RunEvent::default() })
    }

    /// An exception is taken.
    pub fn enter_exception(&mut self, exception: u16, call: Option<usize>) {
        let call = call.map(|call| u8::try_from(call).unwrap_or(u8::MAX));
        self.handled = Handled { exception, call };
    }

    /// The processor wakes at a cycle.
    pub fn wake(&mut self, cycle: u64) {
        (self.since, self.handled) = (cycle, Handled::default());
    }
}

#[cfg(test)]
mod tests;
