//! Time: machine timer and software interrupt, at the offsets of the usual core-local interruptor (`rtl/periph/timer.sv`).

use crate::registers::Registers;

const SOFTWARE: u32 = 0x0000;
const COMPARE_LOW: u32 = 0x4000;
const COMPARE_HIGH: u32 = 0x4004;
const TIME_LOW: u32 = 0xbff8;
const TIME_HIGH: u32 = 0xbffc;

/// The timer. A tick is two cycles of the clock (`TickCycles`); it counts from reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer(pub Registers);

impl Timer {
    #[inline]
    pub fn now(self) -> u64 {
        let before = self.0.read(TIME_HIGH);
        let low = self.0.read(TIME_LOW);
        let high = self.0.read(TIME_HIGH);
        // If the low word has wrapped in between, it is read again: it will not wrap again for 2^32
        // ticks.
        let low = if before == high { low } else { self.0.read(TIME_LOW) };
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline(always)]
    pub fn ticks(self) -> u32 {
        self.0.read(TIME_LOW)
    }

    /// Asks for an interrupt in so many ticks. An earlier request is replaced.
    #[inline]
    pub fn arm_in(self, delay: u32) {
        let at = self.now() + u64::from(delay);
        // In this order no mixture of old and new halves is ever a time in the past, which would
        // interrupt at once.
        self.0.write(COMPARE_LOW, u32::MAX);
        self.0.write(COMPARE_HIGH, (at >> 32) as u32);
        self.0.write(COMPARE_LOW, at as u32);
    }

    /// Takes every request back: the timer's and the software interrupt, which both stand for the
    /// timer.
    #[inline(always)]
    pub fn settle(self) {
        self.0.write(COMPARE_HIGH, u32::MAX);
        self.0.write(SOFTWARE, 0);
    }

    /// Interrupts as soon as interrupts are on, whatever was asked for.
    #[inline(always)]
    pub fn again(self) {
        self.0.write(SOFTWARE, 1);
    }
}
