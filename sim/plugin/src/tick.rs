//! What is looked at from time to time: limits, timers, interference.

use std::sync::atomic::Ordering;

use record::{EndReason, observed};

use crate::clock::{CLOCK, attention};
use crate::observer::{Observer, end_run};

/// Cycles between two looks at the limits.
const CHECK_CYCLES: u64 = 10_000;

impl Observer {
    /// The block before is over, unless the processor slept behind it.
    #[inline]
    pub(crate) fn end_block(&mut self, noticed: u32) {
        let cycles = CLOCK.now() - self.block_start;
        if cycles > self.longest_block && noticed & attention::SLEPT == 0 {
            self.longest_block = cycles;
        }
    }

    #[inline]
    pub(crate) fn tick_when_due(&mut self) {
        if CLOCK.now() >= self.next_tick {
            self.tick();
        }
    }

    /// A timer may have been armed.
    pub(crate) fn forget_deadline(&mut self) {
        if self.meets {
            (self.deadline, self.next_tick) = (0, 0);
        }
    }

    pub(crate) fn woke(&mut self) {
        self.forget_deadline();
        let length = CLOCK.streak.swap(0, Ordering::Relaxed);
        self.model.slept(length);
        self.exceptions.restart_windows(self.moment(), length);
        self.meter_sleep(length);
        if self.watch.adverse {
            self.model.spoil();
        }
        self.note(observed::SLEPT, 0, u32::try_from(length).unwrap_or(u32::MAX));
    }

    #[cold]
    fn tick(&mut self) {
        let now = CLOCK.now();
        self.log.progress(now, self.instructions);
        if self.watch.cycle_limit != 0 && now >= self.watch.cycle_limit {
            end_run(EndReason::CycleLimit);
        }
        if self.watch.instruction_limit != 0 && self.instructions >= self.watch.instruction_limit {
            end_run(EndReason::InstructionLimit);
        }
        self.disturb_when_due(now);
        if self.meets {
            if now >= self.deadline {
                self.deadline = CLOCK.meet_main_loop().unwrap_or_else(|| {
                    eprintln!("cofferdam: the emulator's main loop does not answer");
                    end_run(EndReason::ObserverFailed)
                });
            }
            self.next_tick = self.deadline.min(now + CHECK_CYCLES).min(self.disturbances.next);
        } else if CLOCK.advance() {
            self.next_tick = (now + self.quantum).min(self.disturbances.next);
        }
    }

    /// A block's end at or after this cycle is looked at.
    pub(crate) fn tick_by(&mut self, cycle: u64) {
        self.next_tick = self.next_tick.min(cycle);
    }
}
