//! Collects the kernel's paths from a run's events. A stretch of the kernel begins with an
//! exception and ends with the next thread's first instruction; a `HANDLED` record ends it, and
//! says how long it took.

use std::collections::BTreeMap;

use abi::trace::Event;
use record::{Handled, IDLE, RunEvent, observed};

/// Index of the probe that is reached when something was due at a timer interrupt.
pub const DUE: u16 = 0;

/// The longest of one kind of stretch, by what the kernel had to handle.
pub type Longest = BTreeMap<(u16, Option<u8>), u64>;

/// The longest stretches of a run, in cycles.
#[derive(Debug, Default)]
pub struct Stretches {
    /// From the exception to the first read of the kernel's clock.
    pub to_clock: Longest,
    /// From the exception to the first instruction of a thread that was switched to.
    pub switched: Longest,
    /// From the exception to the next instruction of the thread that was interrupted and goes on, while nothing was due at a timer.
    pub in_vain: Longest,
    /// The same, when a region was loaded that was missed.
    pub missed: Longest,
    running: Option<u16>,
    before: Option<u16>,
    was_idle: bool,
    was_due: bool,
    was_miss: bool,
    clock: Option<u64>,
}

impl Stretches {
    /// Takes the next record.
    pub fn feed(&mut self, event: &RunEvent) {
        match event.event {
            number if number == Event::Switch as u8 => {
                self.running = (event.domain != IDLE).then_some(event.detail);
                self.was_idle |= self.running.is_none();
            }
            number if number == Event::Miss as u8 => self.was_miss = true,
            observed::PROBE => self.was_due |= event.detail == DUE,
            observed::CLOCK => self.clock = Some(u64::from(event.detail)),
            observed::HANDLED => self.handled(Handled::from_detail(event.detail), u64::from(event.payload)),
            _ => {}
        }
    }

    fn handled(&mut self, handled: Handled, cycles: u64) {
        let before = std::mem::replace(&mut self.before, self.running);
        let clock = self.clock.take();
        let (was_due, was_miss) = (std::mem::take(&mut self.was_due), std::mem::take(&mut self.was_miss));
        // Through the idle loop, which asks for interrupts itself, it may be several paths. Exception 0: the start.
        let was_idle = std::mem::replace(&mut self.was_idle, self.running.is_none());
        if handled.exception == 0 || was_idle || before.is_none() {
            return;
        }
        let key = (handled.exception, handled.call);
        let keep = |longest: &mut Longest, cycles: u64| {
            let place = longest.entry(key).or_default();
            *place = (*place).max(cycles);
        };
        if let Some(cycles) = clock {
            keep(&mut self.to_clock, cycles);
        }
        match (before == self.running, self.running) {
            (_, None) => {}
            (true, _) => {
                if was_miss {
                    keep(&mut self.missed, cycles);
                }
                if !was_due {
                    keep(&mut self.in_vain, cycles);
                }
            }
            (false, _) => keep(&mut self.switched, cycles),
        }
    }
}
