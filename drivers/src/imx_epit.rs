//! Enhanced periodic interrupt timer of the i.MX chips (i.MX 6Dual/6Quad reference manual, chapter 24).

use crate::Registers;
use crate::interval::Interval;

const CONTROL: usize = 0x00 / 4;
const STATUS: usize = 0x04 / 4;
const LOAD: usize = 0x08 / 4;
const COMPARE: usize = 0x0c / 4;

/// The counter runs (bit 0), begins at the load value when it is started (bit 1) and after each period (bit 3), interrupts where it equals the
/// compare value (bit 2), takes a new load value at once (bit 17), and counts the peripheral clock (bits 25..24).
const RUNNING: u32 = 1 << 24 | 1 << 17 | 0b1111;
/// Rate of the peripheral clock after reset (chapter 18); a boot loader that sets another rate changes the periods with it.
const COUNTS_PER_MICROSECOND: u32 = 66;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Interval for Driver {
    fn open(registers: Registers) -> Driver {
        Driver(registers)
    }

    fn start(&self, microseconds: u32) {
        self.0.write(CONTROL, 0);
        self.clear();
        self.0.write(COMPARE, 0);
        self.0.write(LOAD, microseconds * COUNTS_PER_MICROSECOND - 1);
        self.0.write(CONTROL, RUNNING);
    }

    /// Clears the interrupt: a bit that is written as 1 is cleared.
    fn clear(&self) {
        self.0.write(STATUS, 1);
    }

    fn stop(&self) {
        self.0.write(CONTROL, 0);
        self.clear();
    }
}
