//! Arm CMSDK APB UART (DDI 0479, section 4.3), transmitter only.

use crate::Registers;
use crate::transmit::Transmit;

const DATA: usize = 0;
const STATE: usize = 1;
const CTRL: usize = 2;
const INTERRUPT: usize = 3;
const BAUD_DIVIDER: usize = 4;

const STATE_FULL: u32 = 1;
const CTRL_TRANSMIT: u32 = 1;
const CTRL_TRANSMIT_INTERRUPT: u32 = 4;
const INTERRUPT_TRANSMIT: u32 = 1;
/// The smallest divider that the device accepts: the console should not slow a demonstration down.
const DIVIDER: u32 = 16;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Transmit for Driver {
    fn open(registers: Registers) -> Driver {
        registers.write(BAUD_DIVIDER, DIVIDER);
        registers.write(CTRL, CTRL_TRANSMIT);
        Driver(registers)
    }

    fn full(&self) -> bool {
        self.0.read(STATE) & STATE_FULL != 0
    }

    fn send(&self, byte: u8) {
        self.0.write(DATA, u32::from(byte));
    }

    fn announce(&self) {
        self.0.write(CTRL, CTRL_TRANSMIT | CTRL_TRANSMIT_INTERRUPT);
    }

    fn silence(&self) {
        self.0.write(CTRL, CTRL_TRANSMIT);
        self.0.write(INTERRUPT, INTERRUPT_TRANSMIT);
    }
}
