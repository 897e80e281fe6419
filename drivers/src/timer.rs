//! Timers.

use crate::interval::Interval;
use crate::{cadence_ttc, cmsdk_timer, drivers, imx_epit};

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
