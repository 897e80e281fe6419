//! Arm CMSDK APB UART (DDI 0479, section 4.3), transmitter only.

use crate::Registers;

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

/// A transmitter.
pub struct Uart(Registers);

impl Uart {
    /// Switches the transmitter on.
    ///
    /// # Safety
    /// `registers` are those of such a device, and this domain's.
    pub unsafe fn open(registers: *mut u32) -> Uart {
        let registers = Registers(registers);
        registers.write(BAUD_DIVIDER, DIVIDER);
        registers.write(CTRL, CTRL_TRANSMIT);
        Uart(registers)
    }

    /// Whether no byte can be sent.
    pub fn full(&self) -> bool {
        self.0.read(STATE) & STATE_FULL != 0
    }

    /// Sends a byte; lost when the transmitter is full.
    pub fn send(&self, byte: u8) {
        self.0.write(DATA, u32::from(byte));
    }

    /// Asks for an interrupt when there is room.
    pub fn announce(&self) {
        self.0.write(CTRL, CTRL_TRANSMIT | CTRL_TRANSMIT_INTERRUPT);
    }

    /// Asks for no interrupt, and clears the one that may be there.
    pub fn silence(&self) {
        self.0.write(CTRL, CTRL_TRANSMIT);
        self.0.write(INTERRUPT, INTERRUPT_TRANSMIT);
    }
}
