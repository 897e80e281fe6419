//! Text on UART 0 (Cadence; UG585 chapter 19 and appendix B.33), in polling mode.

use core::fmt;

use armv7a::Block;

const CONTROL: u32 = 0x00;
const STATUS: u32 = 0x2c;
const FIFO: u32 = 0x30;

/// The UART's registers.
pub const UART: u32 = image::board::device::UART0.start;

/// The UART.
pub struct Uart(Block);

impl Uart {
    /// Turns the transmitter on.
    pub fn new() -> Uart {
        const TRANSMIT: u32 = 1 << 4;
        // SAFETY: the board has it there.
        let block = unsafe { Block::new(UART) };
        block.write(CONTROL, TRANSMIT);
        Uart(block)
    }
}

impl fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const FULL: u32 = 1 << 4;
        // One character takes 10 bits at 9600 baud at the slowest.
        const POLLS: u32 = 10_000_000;
        for byte in text.bytes() {
            if !(0..POLLS).any(|_| self.0.read(STATUS) & FULL == 0) {
                return Err(fmt::Error);
            }
            self.0.write(FIFO, u32::from(byte));
        }
        Ok(())
    }
}
