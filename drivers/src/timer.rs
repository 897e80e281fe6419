//! Timers.

use crate::{Registers, cadence_ttc, cmsdk_timer, drivers, imx_epit};

/// A driver of a timer.
pub(crate) trait Interval {
    /// The timer, as it is.
    fn open(registers: Registers) -> Self
    where
        Self: Sized;
    /// As the function of [`Timer`] of that name.
    fn start(&self, microseconds: u32);
    /// As above.
    fn clear(&self);
    /// As above.
    fn stop(&self);
}

drivers! {
    /// A timer that interrupts once in a period. Opening it changes nothing.
    Timer: Interval {
        "cadence-ttc" => Cadence(cadence_ttc::Driver),
        "cmsdk-timer" => Cmsdk(cmsdk_timer::Driver),
        "imx-epit" => Imx(imx_epit::Driver),
    }
}

impl Timer {
    /// Starts it: an interrupt every `microseconds`, 1 to 100 000.
    pub fn start(&self, microseconds: u32) {
        self.driver().start(microseconds);
    }

    /// Clears the interrupt.
    pub fn clear(&self) {
        self.driver().clear();
    }

    /// Stops it.
    pub fn stop(&self) {
        self.driver().stop();
    }
}
