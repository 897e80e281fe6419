//! The first counter of a Cadence triple timer counter (UG585, section 8.5 and appendix B.32).

use crate::Registers;
use crate::interval::Interval;

const CLOCK_CONTROL: usize = 0x00 / 4;
const COUNTER_CONTROL: usize = 0x0c / 4;
const INTERVAL: usize = 0x24 / 4;
const INTERRUPT_STATUS: usize = 0x54 / 4;
const INTERRUPT_ENABLE: usize = 0x60 / 4;

const PRESCALE: u32 = 1;
const COUNTER_OFF: u32 = 1;
const COUNTER_INTERVAL: u32 = 2;
const COUNTER_RESTART: u32 = 1 << 4;
const INTERRUPT_INTERVAL: u32 = 1;
/// Rate of CPU_1x as QEMU has it; a boot loader that sets another rate changes the periods with it.
const COUNTS_PER_MICROSECOND: u32 = 133;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Interval for Driver {
    fn open(registers: Registers) -> Driver {
        Driver(registers)
    }

    /// The counter has 16 bits; what is left over by the prescaler is cut.
    fn start(&self, microseconds: u32) {
        let counts = microseconds * COUNTS_PER_MICROSECOND;
        let prescale = (1..=15).find(|shift| counts >> shift <= 0xffff).unwrap_or(15);
        self.0.write(COUNTER_CONTROL, COUNTER_OFF);
        self.0.write(CLOCK_CONTROL, PRESCALE | (prescale - 1) << 1);
        self.0.write(INTERVAL, counts >> prescale);
        self.clear();
        self.0.write(INTERRUPT_ENABLE, INTERRUPT_INTERVAL);
        self.0.write(COUNTER_CONTROL, COUNTER_INTERVAL | COUNTER_RESTART);
    }

    /// Reading clears.
    fn clear(&self) {
        self.0.read(INTERRUPT_STATUS);
    }

    fn stop(&self) {
        self.0.write(INTERRUPT_ENABLE, 0);
        self.0.write(COUNTER_CONTROL, COUNTER_OFF);
        self.clear();
    }
}
