//! Arm CMSDK APB timer (DDI 0479, section 4.1).

use crate::Registers;
use crate::interval::Interval;

const CTRL: usize = 0;
const RELOAD: usize = 2;
const INTERRUPT: usize = 3;

const ENABLE: u32 = 1;
const INTERRUPT_ENABLE: u32 = 8;
/// Its rate is that of the kernel's clock, which is such a timer on the boards that have them.
fn counts_per_microsecond() -> u32 {
    cofferdam::info().map_or(1, |info| info.ticks_per_second() / 1_000_000)
}

/// Its registers.
pub(crate) struct Driver(Registers);

impl Interval for Driver {
    fn open(registers: Registers) -> Driver {
        Driver(registers)
    }

    fn start(&self, microseconds: u32) {
        self.0.write(RELOAD, microseconds * counts_per_microsecond() - 1);
        self.0.write(CTRL, ENABLE | INTERRUPT_ENABLE);
    }

    fn clear(&self) {
        self.0.write(INTERRUPT, 1);
    }

    fn stop(&self) {
        self.0.write(CTRL, 0);
    }
}
