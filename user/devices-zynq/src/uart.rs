//! Cadence UART (UG585, chapter 19 and appendix B.33), transmitter only.

use crate::Registers;

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

/// A transmitter.
pub struct Uart(Registers);

impl Uart {
    /// Switches the transmitter on, at the rate to which the boot loader has set the device.
    ///
    /// # Safety
    /// `registers` are those of such a device, and this domain's.
    pub unsafe fn open(registers: *mut u32) -> Uart {
        let registers = Registers(registers);
        registers.write(INTERRUPT_DISABLE, ALL_INTERRUPTS);
        registers.write(MODE, MODE_8N1);
        registers.write(CONTROL, CONTROL_TRANSMIT);
        Uart(registers)
    }

    /// Whether no byte can be sent.
    pub fn full(&self) -> bool {
        self.0.read(STATUS) & STATUS_FULL != 0
    }

    /// Sends a byte; lost when the transmitter is full.
    pub fn send(&self, byte: u8) {
        self.0.write(FIFO, u32::from(byte));
    }

    /// Asks for an interrupt when all bytes have been sent.
    pub fn announce(&self) {
        self.0.write(INTERRUPT_STATUS, TRANSMIT_EMPTY);
        self.0.write(INTERRUPT_ENABLE, TRANSMIT_EMPTY);
    }

    /// Asks for no interrupt, and clears the one that may be there.
    pub fn silence(&self) {
        self.0.write(INTERRUPT_DISABLE, TRANSMIT_EMPTY);
        self.0.write(INTERRUPT_STATUS, TRANSMIT_EMPTY);
    }
}
