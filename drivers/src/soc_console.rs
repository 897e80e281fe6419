//! The console of the soft core's test bench (`rtl/periph/console.sv`): a register that takes a character at any time.

use crate::Registers;
use crate::transmit::Transmit;

const PUT: usize = 0;
const CTRL: usize = 1;

/// The interrupt is up, because there is always room.
const INTERRUPT: u32 = 1;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Transmit for Driver {
    fn open(registers: Registers) -> Driver {
        Driver(registers)
    }

    /// Never: the test bench reads each character in the cycle in which it is stored.
    fn full(&self) -> bool {
        false
    }

    fn send(&self, byte: u8) {
        self.0.write(PUT, u32::from(byte));
    }

    fn announce(&self) {
        self.0.write(CTRL, INTERRUPT);
    }

    fn silence(&self) {
        self.0.write(CTRL, 0);
    }
}
