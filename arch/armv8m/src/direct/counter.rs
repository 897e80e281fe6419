//! The counter of cycles of Non-secure state: DWT, with CYCDISS (DDI 0553 D1.2). When it comes to what is left, it interrupts, above all handlers.
//!
//! The registers are where the board's file says, and so is the interrupt: a simulator may have them elsewhere. Handlers can write them: none is banked.
//! The looks find that ([`Counter::finds`]).

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use armv_m::regs::Reg;
use sched::sampling;

use super::instrument::Meter;
use super::registers::{enable_above_all, register};

/// How often handlers have come through the way into the kernel, which counts them.
#[unsafe(no_mangle)]
static COFFERDAM_CALLS: AtomicU32 = AtomicU32::new(0);

/// The counter. All zero: there is none, so that a board without one needs nothing set up.
pub(super) struct Counter {
    /// Address of the words that stand for registers from 0xE000_0000 on, and of the device by
    /// which its interrupt comes. A simulator has them elsewhere.
    registers: AtomicU32,
    device: AtomicU32,
    /// Its line.
    pub line: AtomicU32,
    /// In so many ticks pass so many cycles.
    cycles: AtomicU32,
    ticks: AtomicU32,
    /// Cycles of a call of the way into the kernel, which the counter does not count, and the calls for which handlers are charged.
    way_in: AtomicU32,
    called: AtomicU32,
    /// The count up to which handlers are charged, and the count at which it interrupts.
    charged: AtomicU32,
    compared: AtomicU32,
    /// The count at the last look, the cycles of a mean interval, and the doubt: cycles for which
    /// looks met handlers and nothing was counted.
    looked: AtomicU32,
    mean: AtomicU32,
    doubt: AtomicU32,
}

impl Counter {
    pub(super) const NEW: Counter = Counter {
        registers: AtomicU32::new(0),
        device: AtomicU32::new(0),
        line: AtomicU32::new(0),
        cycles: AtomicU32::new(0),
        ticks: AtomicU32::new(0),
        way_in: AtomicU32::new(0),
        called: AtomicU32::new(0),
        charged: AtomicU32::new(0),
        compared: AtomicU32::new(0),
        looked: AtomicU32::new(0),
        mean: AtomicU32::new(0),
        doubt: AtomicU32::new(0),
    };

    /// Returns true if it is the instrument that meters.
    pub(super) fn is_there(&self) -> bool {
        self.registers.load(Relaxed) != 0
    }

    /// Returns how many cycles pass in how many ticks, neither 0, because the caller divides.
    pub(super) fn rate(&self) -> (u32, u32) {
        (self.cycles.load(Relaxed).max(1), self.ticks.load(Relaxed).max(1))
    }

    /// Address of the count, if there is one.
    pub(super) fn count(&self) -> Option<u32> {
        self.is_there().then(|| self.registers.load(Relaxed) + CYCCNT)
    }

    pub(super) fn start(&self, [registers, device, line, way_in]: [u32; 4], (cycles, ticks): (u32, u32)) {
        self.registers.store(registers, Relaxed);
        self.device.store(device, Relaxed);
        self.line.store(line, Relaxed);
        self.way_in.store(way_in, Relaxed);
        self.cycles.store(cycles, Relaxed);
        self.ticks.store(ticks, Relaxed);
        self.mean.store(scaled(sampling::COUNTED_MEAN_TICKS, cycles, ticks), Relaxed);
        [&self.charged, &self.looked].iter().for_each(|count| count.store(self.at(CYCCNT).read(), Relaxed));
        self.set_up();
        register(device, UART_CONTROL).write(RECEIVE | RECEIVE_INTERRUPT);
        enable_above_all(line);
    }

    /// Sets the registers that say what it counts, but not the count and its comparator: those go
    /// on.
    pub(super) fn set_up(&self) {
        KEPT.iter().for_each(|(offset, value)| self.at(*offset).write(*value));
    }

    /// Keeps the doubt about the domain that leaves with that domain, and takes up the other's:
    /// nobody is blamed for another one's time.
    pub(super) fn exchange_doubt(&self, left: &AtomicU32, entered: &AtomicU32) {
        left.store(self.doubt.load(Relaxed), Relaxed);
        self.doubt.store(entered.load(Relaxed), Relaxed);
    }

    /// Returns true if it has interrupted, and takes that back, or its line would interrupt for
    /// ever.
    pub(super) fn take_match(&self) -> bool {
        if !self.is_there() {
            return false;
        }
        let device = self.device.load(Relaxed);
        let has = register(device, UART_STATE).read() & RECEIVED != 0;
        if has {
            register(device, UART_DATA).read();
            register(device, UART_CLEAR).write(RECEIVED);
        }
        has
    }

    /// Serves a look. Returns true if handlers have kept the counter from counting: it is not as
    /// the kernel has left it, or looks meet them far more often than the count says.
    pub(super) fn finds(&self, meets: bool) -> bool {
        let (now, compared) = (self.at(CYCCNT).read(), self.compared.load(Relaxed));
        let is_kept = self.is_kept(now, BEYOND + compared.wrapping_sub(self.charged.load(Relaxed)));
        let (mean, doubt) = (self.mean.load(Relaxed), self.weigh(now));
        let doubt = doubt + if meets { mean } else { 0 };
        self.doubt.store(doubt, Relaxed);
        let cheats = !is_kept || doubt > mean * sampling::DOUBTS;
        if cheats {
            self.set_up();
            self.charged.store(now, Relaxed);
            // In its next life the domain can hide nothing more in the same window: each look that
            // meets it charges its interval.
            self.doubt.store(doubt.min(mean * sampling::CHARGED_DOUBTS), Relaxed);
        }
        cheats
    }

    /// Serves a look that meets no handler. Returns true if the counter is as the kernel has left
    /// it and has not come to what it is compared with. Otherwise nothing is changed, because the
    /// full look judges it again.
    #[inline(always)]
    pub(super) fn finds_nothing(&self) -> bool {
        let now = self.at(CYCCNT).read();
        let is_kept = self.is_kept(now, self.compared.load(Relaxed).wrapping_sub(self.charged.load(Relaxed)));
        if is_kept {
            self.doubt.store(self.weigh(now), Relaxed);
        }
        is_kept
    }

    /// Returns true if the counter's registers are as they were set, and its count is possible: it
    /// has not gone back since the last look, and is at most `most` cycles beyond what was charged.
    /// Handlers can write all of these. It lies in memory without wait states, with the looks that
    /// find nothing, because nearly all looks do. It is not inlined, so that memory holds it once.
    #[inline(never)]
    #[unsafe(link_section = ".hot.counter")]
    fn is_kept(&self, now: u32, most: u32) -> bool {
        // No loop: its constants would be loaded from flash.
        let is_set = |place: usize| self.at(KEPT[place].0).read() == KEPT[place].1;
        now.wrapping_sub(self.looked.load(Relaxed)) as i32 >= 0
            && now.wrapping_sub(self.charged.load(Relaxed)) <= most
            && is_set(0)
            && is_set(1)
            && is_set(2)
            && self.at(COMP0).read() == self.compared.load(Relaxed)
    }

    /// The doubt that is left by what was counted since the last look, which is noted.
    #[inline(always)]
    fn weigh(&self, now: u32) -> u32 {
        let counted = now.wrapping_sub(self.looked.load(Relaxed));
        self.looked.store(now, Relaxed);
        self.doubt.load(Relaxed).saturating_sub(counted.saturating_mul(sampling::COUNTED_WEIGHS))
    }

    /// Cycles that were counted since handlers were charged. A count that is far beyond the comparison is none of its own.
    fn passed(&self) -> u32 {
        let charged = self.charged.load(Relaxed);
        let most = self.compared.load(Relaxed).wrapping_sub(charged).saturating_add(BEYOND);
        self.at(CYCCNT).read().wrapping_sub(charged).min(most)
    }

    /// Returns the calls of the way into the kernel so far, and the cycles of those for which
    /// handlers have not been charged.
    fn inside(&self) -> (u32, u32) {
        let calls = COFFERDAM_CALLS.load(Relaxed);
        (calls, calls.wrapping_sub(self.called.load(Relaxed)).saturating_mul(self.way_in.load(Relaxed)))
    }

    /// Returns true if the counter alone is not believed any more: looks have met handlers so much
    /// more often than the count says that each further one charges its interval, too.
    pub(super) fn is_doubted(&self) -> bool {
        self.doubt.load(Relaxed) > self.mean.load(Relaxed) * sampling::CHARGED_DOUBTS
    }

    /// Returns true if handlers have used up what was left, without a match: in the way into the
    /// kernel, where the counter stands still.
    pub(super) fn is_used_up(&self) -> bool {
        let left = self.compared.load(Relaxed).wrapping_sub(self.charged.load(Relaxed));
        left < FAR && self.passed().saturating_add(self.inside().1) > left
    }

    fn at(&self, offset: u32) -> Reg {
        register(self.registers.load(Relaxed), offset)
    }
}

impl Meter for Counter {
    fn used(&self, met: Option<bool>) -> u32 {
        let (cycles, ticks) = self.rate();
        let used = scaled(self.passed(), ticks, cycles);
        let doubted = if met == Some(true) && self.is_doubted() { sampling::COUNTED_MEAN_TICKS } else { 0 };
        // The rest of a tick is charged with the next, so that rounding never adds up.
        self.charged.store(self.charged.load(Relaxed).wrapping_add(scaled(used, cycles, ticks)), Relaxed);
        let (calls, inside) = self.inside();
        if inside == 0 {
            return used.saturating_add(doubted);
        }
        self.called.store(calls, Relaxed);
        let doubt = self.doubt.load(Relaxed).saturating_sub(inside.saturating_mul(sampling::COUNTED_WEIGHS));
        self.doubt.store(doubt, Relaxed);
        used.saturating_add(scaled(inside, ticks, cycles)).saturating_add(doubted)
    }

    fn pending(&self) -> u32 {
        let (cycles, ticks) = self.rate();
        scaled(self.passed().saturating_add(self.inside().1), ticks, cycles)
    }

    fn grant(&self, left: i32) {
        let (cycles, ticks) = self.rate();
        // With nothing left, all that runs in their state is the stub that silences their
        // exceptions. It must not be interrupted, so the match is put far ahead.
        let ahead = if left > 0 { scaled(left as u32, cycles, ticks) + 1 } else { FAR };
        // The counter stands still now, in Secure code, and matches only when it becomes equal: a
        // value that it has passed would not match.
        let now = self.at(CYCCNT).read();
        let first = now.wrapping_add(1);
        let compared = self.charged.load(Relaxed).wrapping_add(ahead);
        let compared = if (compared.wrapping_sub(first) as i32) < 0 { first } else { compared };
        self.compared.store(compared, Relaxed);
        self.at(COMP0).write(compared);
    }
}

/// Cycles that do not pass before the next boundary.
const FAR: u32 = 1 << 30;
/// More cycles than handlers have behind a match.
const BEYOND: u32 = 1 << 12;

/// `amount` times `by` over `over`, rounded down; at most 32 bits, which no capacity exceeds.
fn scaled(amount: u32, by: u32, over: u32) -> u32 {
    (u64::from(amount) * u64::from(by) / u64::from(over)).min(u64::from(u32::MAX >> 1)) as u32
}

// Offsets from 0xE000_0000, and bits (DDI 0553 D1.2).
const CTRL: u32 = 0x1000;
const CYCCNT: u32 = 0x1004;
const COMP0: u32 = 0x1020;
const FUNCTION0: u32 = 0x1028;
pub(super) const DEMCR: u32 = 0xedfc;
const CYCCNTENA: u32 = 1;
const CYCDISS: u32 = 1 << 23;
/// MATCH: the cycle counter; ACTION: a debug event.
const CYCLES_MATCH: u32 = 1 | 1 << 4;
const TRCENA: u32 = 1 << 24;
const MON_EN: u32 = 1 << 16;
/// The registers that say what it counts and when. Handlers can write them, so looks compare them.
const KEPT: [(u32, u32); 3] = [(DEMCR, TRCENA | MON_EN), (FUNCTION0, CYCLES_MATCH), (CTRL, CYCDISS | CYCCNTENA)];

// CMSDK UART, by whose receiver a simulator interrupts.
const UART_DATA: u32 = 0x00;
const UART_STATE: u32 = 0x04;
const UART_CONTROL: u32 = 0x08;
const UART_CLEAR: u32 = 0x0c;
const RECEIVE: u32 = 1 << 1;
const RECEIVE_INTERRUPT: u32 = 1 << 3;
const RECEIVED: u32 = 1 << 1;
