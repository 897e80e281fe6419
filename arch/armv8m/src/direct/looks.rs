//! The timer that looks at random times whether handlers run. It is above all of them, and whatever they do, it comes.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use armv_m::regs::{self, Reg};
use sched::sampling;

use super::meter::Meter;

/// The timer's state.
pub(super) struct Looks {
    /// Its line, and the address of its timer's registers.
    pub line: AtomicU32,
    pub timer: AtomicU32,
    /// The interval that runs, and the state of the generator, not 0.
    interval: AtomicU32,
    seed: AtomicU32,
}

impl Looks {
    pub(super) const NEW: Looks = Looks {
        line: AtomicU32::new(0),
        timer: AtomicU32::new(0),
        interval: AtomicU32::new(0),
        seed: AtomicU32::new(0),
    };

    /// Begins to look.
    pub(super) fn start(&self, seed: u32) {
        self.seed.store(seed | 1, Relaxed);
        self.arm(u32::MAX);
        enable_above_all(self.line.load(Relaxed));
    }

    /// Ticks of the interval that has ended, if one has.
    pub(super) fn ended(&self) -> Option<u32> {
        let is_over = register(self.timer.load(Relaxed), MASKED_STATUS).read() & 1 != 0;
        is_over.then(|| self.interval.load(Relaxed))
    }

    /// Draws the next interval, which is about `most` ticks at most, and starts it.
    pub(super) fn arm(&self, most: u32) {
        let (seed, ticks) = sampling::draw(self.seed.load(Relaxed));
        let ticks = ticks.min(most.max(sampling::SHORTEST_TICKS));
        self.seed.store(seed, Relaxed);
        self.interval.store(ticks, Relaxed);
        let timer = self.timer.load(Relaxed);
        register(timer, CONTROL).write(0);
        register(timer, CLEAR).write(1);
        register(timer, LOAD).write(ticks);
        register(timer, CONTROL).write(ENABLE | INTERRUPT | WIDE | ONCE);
    }
}

/// Each look that meets a handler charges it one mean interval.
pub(super) struct Sampler;

impl Meter for Sampler {
    fn used(&self, met: Option<bool>) -> u32 {
        if met == Some(true) { sampling::MEAN_TICKS } else { 0 }
    }

    fn grant(&self, _left: i32) {}
}

/// A line of the meter: nothing but a fault is above it.
pub(super) fn enable_above_all(line: u32) {
    let priority = regs::nvic_ipr(line / 4);
    priority.write(priority.read() & !(0xff << (8 * (line % 4))));
    let (register, bit): (Reg, u32) = regs::nvic_iser(line);
    register.write(bit);
}

// CMSDK dual-input timer, its first half.
const LOAD: u32 = 0x00;
const CONTROL: u32 = 0x08;
const CLEAR: u32 = 0x0c;
const MASKED_STATUS: u32 = 0x14;
const ENABLE: u32 = 1 << 7;
const INTERRUPT: u32 = 1 << 5;
const WIDE: u32 = 1 << 1;
const ONCE: u32 = 1;

pub(super) fn register(base: u32, offset: u32) -> Reg {
    // SAFETY: a register of the board's file.
    unsafe { Reg::new(base + offset) }
}
