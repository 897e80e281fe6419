//! Arm CMSDK APB timer (DDI 0479, section 4.1).

use crate::Registers;

const CTRL: usize = 0;
const RELOAD: usize = 2;
const INTERRUPT: usize = 3;

const ENABLE: u32 = 1;
const INTERRUPT_ENABLE: u32 = 8;
/// It counts the board's 25 MHz.
const COUNTS_PER_MICROSECOND: u32 = 25;

/// A timer that interrupts once in a period.
pub struct Timer(Registers);

impl Timer {
    /// The timer, as it is.
    ///
    /// # Safety
    /// `registers` are those of such a device, and this domain's.
    pub unsafe fn open(registers: *mut u32) -> Timer {
        Timer(Registers(registers))
    }

    /// Starts it: an interrupt every `microseconds`, 1 to 100 000.
    pub fn start(&self, microseconds: u32) {
        self.0.write(RELOAD, microseconds * COUNTS_PER_MICROSECOND - 1);
        self.0.write(CTRL, ENABLE | INTERRUPT_ENABLE);
    }

    /// Clears the interrupt.
    pub fn clear(&self) {
        self.0.write(INTERRUPT, 1);
    }

    /// Stops it.
    pub fn stop(&self) {
        self.0.write(CTRL, 0);
    }
}
