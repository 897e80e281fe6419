//! Who runs, as the processor's state says it: a record for every stretch of a domain's own code and of the kernel's.
//!
//! Whose code it is comes from where the code lies or from the address space in force, and which thread's from the stack in use. The kernel's own
//! records are not asked; the report holds them against these.

use record::{ContextWatch, Handled, IDLE, MeterWatch, Range, RunEvent, StackWatch, observed};

use crate::family::Family;
use crate::observer::CoreObserver;

/// No stack that is known.
const NO_STACK: u16 = u16::MAX;

/// The stretch that goes on.
pub struct Meter {
    contexts: Vec<ContextWatch>,
    stacks: Vec<StackWatch>,
    clock: Vec<Range>,
    /// Cycles of the first and the last read of the clock in the kernel's stretch that goes on.
    reads: Option<(u64, u64)>,
    enabled: bool,
    /// Cycle at which it began.
    since: u64,
    /// The kernel runs, and for what.
    in_kernel: bool,
    handled: Handled,
    /// A domain's code runs: whose, and on which stack.
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

    /// The stack in use when a domain's code ran last: its place in the request, and what it is.
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
    fn domain(&self, pc: u32, space: Option<u8>) -> u8 {
        let is_it = |context: &&ContextWatch| match (context.space, space) {
            (Some(own), Some(now)) => own == now,
            _ => context.code.iter().any(|code| code.holds(pc, 1)),
        };
        self.contexts.iter().find(is_it).map_or(IDLE, |context| context.domain)
    }

    /// The stack that a stack pointer is on.
    fn stack(&self, sp: u32) -> u16 {
        let holds = |stack: &StackWatch| sp > stack.range.start && sp <= stack.range.end;
        self.stacks.iter().position(holds).and_then(|place| u16::try_from(place).ok()).unwrap_or(NO_STACK)
    }
}

impl<F: Family> CoreObserver<F> {
    /// Kernel text was entered or left for the instruction at `pc`.
    pub(crate) fn meter_crossing(&mut self, pc: u32) {
        if !self.meter.enabled {
            return;
        }
        self.end_stretch(self.clock.now());
        self.meter.in_kernel = self.kernel != 0;
        self.meter.handled = Handled::default();
        if self.kernel == 0 {
            let (sp, space) = self.family.running(&mut *self.target);
            (self.meter.domain, self.meter.stack) = (self.meter.domain(pc, space), self.meter.stack(sp));
        }
    }

    /// An exception is taken.
    pub(crate) fn meter_exception(&mut self, exception: u16, call: Option<usize>) {
        self.end_stretch(self.clock.now());
        let call = call.map(|call| u8::try_from(call).unwrap_or(u8::MAX));
        self.meter.handled = Handled { exception, call };
    }

    /// The processor slept for so many cycles until now.
    pub(crate) fn meter_sleep(&mut self, slept: u64) {
        let now = self.clock.now();
        self.end_stretch(now.saturating_sub(slept));
        self.meter.since = now;
        self.meter.handled = Handled::default();
    }

    /// The run is over.
    pub(crate) fn end_stretch(&mut self, cycle: u64) {
        if let Some(record) = self.meter.reads(cycle) {
            self.record(record);
        }
        if let Some(record) = self.meter.end(cycle) {
            self.record(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Range;

    use super::*;

    fn meter() -> Meter {
        let context =
            |domain, space, start| ContextWatch { domain, space, code: vec![Range { start, end: start + 16 }] };
        let stack = |thread, start| StackWatch { domain: 0, thread, range: Range { start, end: start + 64 } };
        let watch = MeterWatch {
            clock: vec![Range { start: 0x4000, end: 0x4004 }],
            contexts: vec![context(0, Some(1), 0x100), context(1, Some(2), 0x200)],
            stacks: vec![stack(Some(0), 0x1000), stack(None, 0x1040)],
        };
        Meter::new(Some(&watch))
    }

    #[test]
    fn an_address_space_decides_where_there_are_some_and_code_elsewhere() {
        let meter = meter();
        assert_eq!([meter.domain(0x200, Some(1)), meter.domain(0x200, None)], [0, 1]);
        assert_eq!([meter.domain(0x200, Some(9)), meter.domain(0x210, None)], [IDLE, IDLE]);
    }

    #[test]
    fn an_empty_stack_is_at_its_end() {
        let meter = meter();
        assert_eq!(
            [0x1000, 0x1001, 0x1040, 0x1041, 0x1080, 0x1081].map(|sp| meter.stack(sp)),
            [NO_STACK, 0, 0, 1, 1, NO_STACK]
        );
    }

    #[test]
    fn first_and_last_read_of_the_clock_in_a_stretch_of_the_kernel_are_told() {
        let mut meter = meter();
        meter.since = 10;
        for (at, cycle) in [(0x4004, 11), (0x4000, 25), (0x4000, 40), (0x3ffc, 41)] {
            meter.loaded(at, cycle);
        }
        let record = meter.reads(100).expect("it was read twice");
        assert_eq!((record.cycle, record.event, record.detail, record.payload), (100, observed::CLOCK, 15, 60));
        assert_eq!(meter.reads(100), None);
        meter.in_kernel = false;
        meter.loaded(0x4000, 110);
        assert_eq!(meter.reads(120), None);
    }

    #[test]
    fn a_stretch_is_recorded_at_its_end_and_one_below_zero_is_broken() {
        let mut meter = meter();
        meter.handled = Handled { exception: 6, call: None };
        meter.identify(6, 45);
        let record = meter.end(30).expect("a stretch of 30");
        assert_eq!((record.cycle, record.event, record.payload), (30, observed::HANDLED, 30));
        assert_eq!(Handled::from_detail(record.detail).exception, 45);
        assert_eq!(meter.end(30), None);
        assert_eq!((meter.end(29), meter.broken), (None, 1));
        (meter.in_kernel, meter.domain, meter.stack) = (false, 1, 7);
        let record = meter.end(40).expect("a stretch of 11");
        assert_eq!((record.event, record.domain, record.detail, record.payload), (observed::RAN, 1, 7, 11));
    }
}
