//! The kernel's clock: a CMSDK APB timer (ARM DDI 0479, section 4.2), which counts down and is reloaded from the largest value.

use port::regs::Reg;

use crate::board;

// SAFETY: registers of the timer that the board's file names.
const CONTROL: Reg = unsafe { Reg::new(board::CLOCK_DEVICE.start) };
// SAFETY: as above.
const VALUE: Reg = unsafe { Reg::new(board::CLOCK_REGISTER) };
// SAFETY: as above.
const RELOAD: Reg = unsafe { Reg::new(board::CLOCK_DEVICE.start + 8) };

/// Starts it at its largest value.
pub fn start() {
    RELOAD.write(u32::MAX);
    VALUE.write(u32::MAX);
    CONTROL.write(1);
}

/// Ticks since the start.
#[inline]
pub fn counter() -> u32 {
    !VALUE.read()
}
