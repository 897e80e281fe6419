//! Limits, timers and interference, looked at from time to time.

use record::{EndReason, Mode, observed};
use timing::Core;

use super::{CoreObserver, Family};
use crate::block::noticed;

/// Cycles between two looks at the limits.
const CHECK_CYCLES: u64 = 10_000;

impl<F: Family> CoreObserver<F> {
    /// The block before is over, unless the processor slept behind it.
    #[inline]
    pub(crate) fn end_block(&mut self, noticed: u32) {
        let cycles = self.clock.now() - self.block_start;
        if cycles > self.longest_block && noticed & noticed::SLEPT == 0 {
            self.longest_block = cycles;
        }
    }

    #[inline]
    pub(crate) fn tick_when_due(&mut self) -> Option<EndReason> {
        if self.clock.now() >= self.next_tick { self.tick() } else { None }
    }

    /// A timer may have been armed.
    pub(crate) fn forget_deadline(&mut self) {
        if self.meets {
            (self.deadline, self.next_tick) = (0, 0);
        }
    }

    /// Cycles slept since the core last ran.
    pub(crate) fn asleep(&self) -> u64 {
        self.clock.slept() - self.slept
    }

    pub(crate) fn woke(&mut self) {
        self.forget_deadline();
        let length = self.asleep();
        (self.sleeps, self.slept) = (self.clock.sleeps(), self.clock.slept());
        self.clock.woken();
        self.family.core_mut().sleep(length);
        self.family.slept(length);
        self.exceptions.restart_windows(self.moment(), length);
        self.meter_sleep(length);
        if self.shared.watch.adverse {
            self.family.core_mut().spoil();
        }
        self.note(observed::SLEPT, 0, u32::try_from(length).unwrap_or(u32::MAX));
    }

    #[cold]
    fn tick(&mut self) -> Option<EndReason> {
        let now = self.clock.now();
        let limit = self.limit(now);
        if limit.is_some() {
            return limit;
        }
        self.disturb_when_due(now);
        let (interrupts, next) = F::interrupts(self, now);
        if interrupts {
            self.deadline = 0;
        }
        if self.meets {
            if now >= self.deadline {
                let Some(deadline) = self.target.meet_deadline() else {
                    eprintln!("cofferdam: the simulator does not answer");
                    return Some(EndReason::ObserverFailed);
                };
                // Without exact time they came when the simulator noticed.
                let due = if self.shared.watch.mode == Mode::Exact && self.deadline != 0 { self.deadline } else { now };
                self.deadline = deadline;
                F::expired(self, due);
            }
            self.next_tick = self.deadline.min(now + CHECK_CYCLES).min(self.disturbances.next).min(next);
        } else if self.target.advance() {
            self.next_tick = (now + self.shared.quantum).min(self.disturbances.next).min(next);
        }
        None
    }

    /// The reason for which the run is over now, if it is.
    fn limit(&self, now: u64) -> Option<EndReason> {
        let (mut log, watch) = (self.shared.log.borrow_mut(), &self.shared.watch);
        log.progress(now, self.instructions);
        let is_over = |limit: u64, passed: u64| limit != 0 && passed >= limit;
        match () {
            () if log.has_failed() => Some(EndReason::ObserverFailed),
            () if self.shared.ended.get().is_some() => Some(EndReason::Exit),
            () if is_over(watch.cycle_limit, now) => Some(EndReason::CycleLimit),
            () if is_over(watch.instruction_limit, self.instructions) => Some(EndReason::InstructionLimit),
            () => None,
        }
    }

    /// A block's end at or after this cycle is looked at.
    pub(crate) fn tick_by(&mut self, cycle: u64) {
        self.next_tick = self.next_tick.min(cycle);
    }

    /// `domain` becomes the current one at `cycle`.
    pub(crate) fn disturb_domain(&mut self, domain: u8, cycle: u64) {
        self.disturbances.enter(domain, cycle);
        let next = self.disturbances.next;
        self.tick_by(next);
    }

    /// Lets it come when it is due.
    pub(crate) fn disturb_when_due(&mut self, now: u64) {
        if self.disturbances.is_due(now) {
            self.disturb();
        }
    }

    /// A program has made a mark.
    pub(crate) fn disturb_when_marked(&mut self, number: u16, domain: u8) {
        if self.disturbances.is_marked(number, domain) {
            self.disturb();
        }
    }

    fn disturb(&mut self) {
        self.family.core_mut().disturb();
    }
}
