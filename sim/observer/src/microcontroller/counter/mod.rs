//! The counter of cycles of Non-secure state, with one comparator that asks for an interrupt (ARM DDI 0553 B12.1, D1.2: DWT, DEMCR), for a
//! simulator that has none. The registers are words of memory: the kernel's stores are seen when Non-secure code runs next, since the counter stands
//! still in Secure state; those of Non-secure code at once. It stands still, too, while the processor sleeps.

use std::sync::atomic::Ordering::Relaxed;

use record::{Counted, CounterWatch, DEBUG_BYTES, DEBUG_REGISTERS};

use crate::Target;

// Offsets from [`DEBUG_REGISTERS`].
const CTRL: u32 = 0x1000;
const CYCCNT: u32 = 0x1004;
const COMP0: u32 = 0x1020;
const FUNCTION0: u32 = 0x1028;
const DEMCR: u32 = 0xedfc;
/// Registers that a store changes.
const KEPT: [u32; 5] = [CTRL, CYCCNT, COMP0, FUNCTION0, DEMCR];

/// Of CTRL: it counts; not in Secure state.
const CYCCNTENA: u32 = 1;
const CYCDISS: u32 = 1 << 23;
/// Of FUNCTION0: a match of CYCCNT is a debug event.
const CYCLES_MATCH: u32 = 0x11;
/// Of DEMCR: the unit is on; a debug event is an exception.
const TRCENA: u32 = 1 << 24;
const MON_EN: u32 = 1 << 16;

/// Such a counter.
#[derive(Debug, Default)]
pub struct Counter {
    is_there: bool,
    /// While Non-secure code runs: the cycle up to which it has counted.
    since: Option<u64>,
    /// The cycle of the last match, from which Non-secure code has not been left.
    matched: Option<u64>,
    /// There was a match for which the interrupt is yet to be asked.
    asks: bool,
    counted: Counted,
}

impl Counter {
    pub fn new(watch: Option<&CounterWatch>) -> Self {
        Self { is_there: watch.is_some(), ..Self::default() }
    }

    /// The counts, if there is one.
    pub fn counted(&self) -> Option<Counted> {
        self.is_there.then_some(self.counted)
    }

    /// Non-secure code runs from `now` on; the cycle at which it will match.
    pub fn begin(&mut self, target: &dyn Target, now: u64) -> Option<u64> {
        if !self.is_there {
            return None;
        }
        self.since.get_or_insert(now);
        self.due(target)
    }

    /// Secure code runs from `now` on. Whether the interrupt is yet to be asked for: the way out, too, is counted, and can match.
    #[must_use]
    pub fn end(&mut self, target: &dyn Target, now: u64) -> bool {
        self.count(target, now);
        self.since = None;
        if let Some(matched) = self.matched.take() {
            self.counted.beyond_cycles = self.counted.beyond_cycles.max(now.saturating_sub(matched));
        }
        self.asks
    }

    /// The processor has slept for so many cycles.
    pub fn slept(&mut self, cycles: u64) {
        if let Some(since) = &mut self.since {
            *since += cycles;
        }
    }

    /// Counts up to `now`; whether there was a match since the last look, and the cycle of the next.
    pub fn look(&mut self, target: &dyn Target, now: u64) -> (bool, Option<u64>) {
        self.count(target, now);
        (std::mem::take(&mut self.asks), self.due(target))
    }

    /// Non-secure code stores a word to the private bus.
    pub fn store(&mut self, target: &dyn Target, address: u32, value: u32, now: u64) {
        let offset = address.wrapping_sub(DEBUG_REGISTERS);
        if self.is_there && offset < DEBUG_BYTES && KEPT.contains(&offset) {
            self.count(target, now);
            if let Some(word) = target.counter_word(offset) {
                word.store(value, Relaxed);
            }
        }
    }

    fn count(&mut self, target: &dyn Target, now: u64) {
        let Some(since) = &mut self.since else { return };
        let passed = now.saturating_sub(*since);
        *since = (*since).max(now);
        if read(target, CTRL) & CYCCNTENA == 0 || read(target, DEMCR) & TRCENA == 0 {
            return;
        }
        self.counted.cycles += passed;
        let count = read(target, CYCCNT);
        if u64::from(to_match(target, count)) <= passed && is_armed(target) && passed > 0 {
            self.counted.matches += 1;
            self.asks = true;
            self.matched = Some(now - passed + u64::from(to_match(target, count)));
        }
        if let Some(word) = target.counter_word(CYCCNT) {
            word.store(count.wrapping_add(passed as u32), Relaxed);
        }
    }

    fn due(&self, target: &dyn Target) -> Option<u64> {
        let counts = read(target, CTRL) & CYCCNTENA != 0 && is_armed(target);
        let ahead = to_match(target, read(target, CYCCNT));
        self.since.filter(|_| counts).map(|since| since + u64::from(ahead))
    }
}

/// Cycles until the count is what it is compared with; 0 means that a whole turn is ahead, which is as good as never.
fn to_match(target: &dyn Target, count: u32) -> u32 {
    match read(target, COMP0).wrapping_sub(count) {
        0 => u32::MAX,
        ahead => ahead,
    }
}

/// The counter stands still in Secure state, and a match is an exception.
fn is_armed(target: &dyn Target) -> bool {
    read(target, CTRL) & CYCDISS != 0
        && read(target, FUNCTION0) & CYCLES_MATCH == CYCLES_MATCH
        && read(target, DEMCR) & (TRCENA | MON_EN) == TRCENA | MON_EN
}

fn read(target: &dyn Target, offset: u32) -> u32 {
    target.counter_word(offset).map_or(0, |word| word.load(Relaxed))
}

#[cfg(test)]
mod tests;
