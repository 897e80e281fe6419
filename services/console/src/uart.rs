//! The board's first UART (Arm CMSDK APB UART, DDI 0479 section 4.3), transmitter only.

use core::ptr::{read_volatile, write_volatile};

use cofferdam::{Info, Interrupt, Notification};

const DATA: usize = 0;
const STATE: usize = 1;
const CTRL: usize = 2;
const INTERRUPT: usize = 3;
const BAUD_DIVIDER: usize = 4;

const STATE_FULL: u32 = 1;
const CTRL_TRANSMIT: u32 = 1;
const CTRL_TRANSMIT_INTERRUPT: u32 = 4;
const INTERRUPT_TRANSMIT: u32 = 1;
/// The smallest divider that the device accepts: the console should not slow the demonstration down.
const DIVIDER: u32 = 16;
/// Bit of the notification `events` that the transmit interrupt sets.
const SENT: u32 = 2;

/// The UART, its interrupt, and the notification that the interrupt signals.
pub struct Uart {
    registers: *mut u32,
    interrupt: Interrupt,
    events: Notification,
}

impl Uart {
    /// Sets the transmitter up; `None` when device, interrupt or notification are missing.
    pub fn open(info: Info) -> Option<Uart> {
        let registers = info.area("uart0")?.base as *mut u32;
        let uart =
            Uart { registers, interrupt: Interrupt::named(info, "tx")?, events: Notification::named(info, "events")? };
        uart.write(BAUD_DIVIDER, DIVIDER);
        uart.write(CTRL, CTRL_TRANSMIT);
        uart.interrupt.ack().ok()?; // a line is masked until its owner asks for the first time
        Some(uart)
    }

    fn write(&self, register: usize, value: u32) {
        // SAFETY: the area is the device's, which this domain owns.
        unsafe { write_volatile(self.registers.add(register), value) }
    }

    fn full(&self) -> bool {
        // SAFETY: as for `write`.
        unsafe { read_volatile(self.registers.add(STATE)) & STATE_FULL != 0 }
    }

    /// Sends one byte; while the transmitter is full the thread waits for its interrupt.
    pub fn byte(&mut self, byte: u8) {
        while self.full() {
            self.write(CTRL, CTRL_TRANSMIT | CTRL_TRANSMIT_INTERRUPT);
            if self.full() {
                let _ = self.events.wait(SENT);
            }
            self.write(CTRL, CTRL_TRANSMIT);
            self.write(INTERRUPT, INTERRUPT_TRANSMIT);
            let _ = self.interrupt.ack();
        }
        self.write(DATA, u32::from(byte));
    }

    /// Sends text.
    pub fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }
}
