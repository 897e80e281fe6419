//! Time: the global timer of the Cortex-A9 MPCore counts it, the private timer of this CPU interrupts (ARM DDI 0407, chapter 4).

use crate::block::Block;

/// The global timer's registers (DDI 0407, 4.4).
mod global {
    pub const COUNTER_LOW: u32 = 0x00;
    pub const COUNTER_HIGH: u32 = 0x04;
    pub const CONTROL: u32 = 0x08;
}

/// The private timer's registers (DDI 0407, 4.2).
mod private {
    pub const LOAD: u32 = 0x00;
    pub const CONTROL: u32 = 0x08;
    pub const STATUS: u32 = 0x0c;
}

const ENABLE: u32 = 1 << 0;
const INTERRUPT: u32 = 1 << 2;

#[derive(Clone, Copy, Debug)]
pub struct Timers {
    global: Block,
    private: Block,
}

impl Timers {
    /// Starts the counter at 0; a tick is `divider` cycles (1 to 256) of the peripheral clock, which both timers count. Nothing is
    /// asked for.
    pub fn new(global: Block, private: Block, divider: u32) -> Timers {
        let prescaler = (divider - 1 & 0xff) << 8;
        global.write(global::CONTROL, 0);
        global.write(global::COUNTER_LOW, 0);
        global.write(global::COUNTER_HIGH, 0);
        global.write(global::CONTROL, prescaler | ENABLE);
        // One-shot: it interrupts once for each load. No interrupt was asked for yet, so the first
        // is as far away as the counter allows.
        private.write(private::CONTROL, 0);
        private.write(private::LOAD, u32::MAX);
        private.write(private::STATUS, 1);
        private.write(private::CONTROL, prescaler | INTERRUPT | ENABLE);
        Timers { global, private }
    }

    #[inline]
    pub fn now(&self) -> u64 {
        let before = self.global.read(global::COUNTER_HIGH);
        let low = self.global.read(global::COUNTER_LOW);
        let high = self.global.read(global::COUNTER_HIGH);
        // If the low word has wrapped in between, it is read again: it will not wrap again for 2^32
        // ticks.
        let low = if before == high { low } else { self.global.read(global::COUNTER_LOW) };
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline(always)]
    pub fn ticks(&self) -> u32 {
        self.global.read(global::COUNTER_LOW)
    }

    /// Asks for an interrupt after so many ticks of the private timer (not 0), in place of the one
    /// asked for before. If that one is pending already, it still comes, in vain.
    #[inline(always)]
    pub fn arm(&self, ticks: u32) {
        // This store also sets the counter (DDI 0407, 4.2.1), so none to the counter is needed.
        self.private.write(private::LOAD, ticks);
    }

    /// Takes the interrupt back, or it would come again at once.
    #[inline(always)]
    pub fn settle(&self) {
        self.private.write(private::STATUS, 1);
    }
}
