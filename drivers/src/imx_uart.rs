//! UART of the i.MX chips (i.MX 6Dual/6Quad reference manual, chapter 64), transmitter only.

use crate::Registers;
use crate::transmit::Transmit;

const TRANSMIT: usize = 0x40 / 4;
const CONTROL_1: usize = 0x80 / 4;
const CONTROL_2: usize = 0x84 / 4;
const TEST: usize = 0xb4 / 4;

/// The UART is on (bit 0).
const ENABLED: u32 = 1 << 0;
/// With an interrupt while the transmitter has room (bit 13).
const READY_INTERRUPT: u32 = 1 << 13;
/// 8 bits (bit 5), no parity, one stop bit; transmitter on (bit 2), whatever the other side signals (bit 14); not in reset (bit 0).
const TRANSMIT_8N1: u32 = 1 << 14 | 1 << 5 | 1 << 2 | 1 << 0;
const TEST_FULL: u32 = 1 << 4;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Transmit for Driver {
    fn open(registers: Registers) -> Driver {
        registers.write(CONTROL_1, ENABLED);
        registers.write(CONTROL_2, TRANSMIT_8N1);
        Driver(registers)
    }

    fn full(&self) -> bool {
        self.0.read(TEST) & TEST_FULL != 0
    }

    fn send(&self, byte: u8) {
        self.0.write(TRANSMIT, u32::from(byte));
    }

    fn announce(&self) {
        self.0.write(CONTROL_1, ENABLED | READY_INTERRUPT);
    }

    fn silence(&self) {
        self.0.write(CONTROL_1, ENABLED);
    }
}
