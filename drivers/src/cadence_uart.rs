//! Cadence UART (UG585, chapter 19 and appendix B.33), transmitter only.

use crate::Registers;
use crate::transmit::Transmit;

const CONTROL: usize = 0x00 / 4;
const MODE: usize = 0x04 / 4;
const INTERRUPT_ENABLE: usize = 0x08 / 4;
const INTERRUPT_DISABLE: usize = 0x0c / 4;
const INTERRUPT_STATUS: usize = 0x14 / 4;
const STATUS: usize = 0x2c / 4;
const FIFO: usize = 0x30 / 4;

/// Transmitter on (bit 4); receiver off (bit 3); both queues emptied (bits 0 and 1).
const CONTROL_TRANSMIT: u32 = 1 << 4 | 1 << 3 | 0b11;
/// 8 bits, no parity, one stop bit.
const MODE_8N1: u32 = 0b100 << 3;
const ALL_INTERRUPTS: u32 = 0x1fff;
const STATUS_FULL: u32 = 1 << 4;
const TRANSMIT_EMPTY: u32 = 1 << 3;

/// Its registers.
pub(crate) struct Driver(Registers);

impl Transmit for Driver {
    fn open(registers: Registers) -> Driver {
        registers.write(INTERRUPT_DISABLE, ALL_INTERRUPTS);
        registers.write(MODE, MODE_8N1);
        registers.write(CONTROL, CONTROL_TRANSMIT);
        Driver(registers)
    }

    fn full(&self) -> bool {
        self.0.read(STATUS) & STATUS_FULL != 0
    }

    fn send(&self, byte: u8) {
        self.0.write(FIFO, u32::from(byte));
    }

    /// The device has no interrupt for a queue with room, only for one that is empty.
    fn announce(&self) {
        self.0.write(INTERRUPT_STATUS, TRANSMIT_EMPTY);
        self.0.write(INTERRUPT_ENABLE, TRANSMIT_EMPTY);
    }

    fn silence(&self) {
        self.0.write(INTERRUPT_DISABLE, TRANSMIT_EMPTY);
        self.0.write(INTERRUPT_STATUS, TRANSMIT_EMPTY);
    }
}
