//! The console of the soft core's test bench (`rtl/periph/console.sv`): a register that takes a character at any time.

use crate::Registers;
use crate::transmit::Transmit;

const PUT: usize = 0;

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

    /// Nothing: there is always room.
    fn announce(&self) {}

    fn silence(&self) {}
}
