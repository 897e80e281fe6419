//! The global timer of the Cortex-A9 MPCore (ARM DDI 0407, 4.4): a 64-bit counter that all CPUs share, and a comparator of this CPU.

use crate::block::Block;

/// The comparator's interrupt (DDI 0407, 3.1.1).
pub const LINE: u32 = 27;

const COUNTER_LOW: u32 = 0x00;
const COUNTER_HIGH: u32 = 0x04;
const CONTROL: u32 = 0x08;
const STATUS: u32 = 0x0c;
const COMPARATOR_LOW: u32 = 0x10;
const COMPARATOR_HIGH: u32 = 0x14;

const ENABLE: u32 = 1 << 0;
const COMPARE: u32 = 1 << 1;
const INTERRUPT: u32 = 1 << 2;

/// The timer; counts ticks from its start on.
#[derive(Clone, Copy, Debug)]
pub struct GlobalTimer {
    registers: Block,
    /// Control word with the comparator off.
    counting: u32,
}

impl GlobalTimer {
    /// Starts the counter at 0; a tick is `divider` cycles (1 to 256) of the peripheral clock.
    pub fn new(registers: Block, divider: u32) -> GlobalTimer {
        let counting = (divider - 1 & 0xff) << 8 | ENABLE;
        registers.write(CONTROL, 0);
        registers.write(COUNTER_LOW, 0);
        registers.write(COUNTER_HIGH, 0);
        registers.write(STATUS, 1);
        registers.write(CONTROL, counting);
        GlobalTimer { registers, counting }
    }

    /// Ticks since the start.
    #[inline]
    pub fn now(&self) -> u64 {
        let before = self.registers.read(COUNTER_HIGH);
        let low = self.registers.read(COUNTER_LOW);
        let high = self.registers.read(COUNTER_HIGH);
        // If the low word has wrapped in between, it will not do so again for 2^32 ticks.
        let low = if before == high { low } else { self.registers.read(COUNTER_LOW) };
        u64::from(high) << 32 | u64::from(low)
    }

    /// The low word of the ticks since the start.
    #[inline]
    pub fn ticks(&self) -> u32 {
        self.registers.read(COUNTER_LOW)
    }

    /// Asks for an interrupt when the counter has reached `at`; at once if it has. An earlier request is replaced.
    ///
    /// The comparator is off while its halves are written, and its event is cleared only then: otherwise the old time, which is
    /// past, would set it again (from r2p0 on it compares with "at least": DDI 0407, 4.4.4).
    pub fn arm(&self, at: u64) {
        self.disarm();
        self.registers.write(COMPARATOR_LOW, at as u32);
        self.registers.write(COMPARATOR_HIGH, (at >> 32) as u32);
        self.registers.write(CONTROL, self.counting | COMPARE | INTERRUPT);
    }

    /// Takes the request back, and the interrupt if it is there.
    pub fn disarm(&self) {
        self.registers.write(CONTROL, self.counting);
        self.registers.write(STATUS, 1);
    }
}
