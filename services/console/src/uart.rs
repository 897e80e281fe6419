//! The transmitter with its interrupt: a thread that waits for room does not occupy the processor.

use cofferdam::{Info, Interrupt, Notification};
use devices::Uart as Device;

/// Bit of the notification `events` that the transmit interrupt sets.
const SENT: u32 = 2;

/// The UART, its interrupt, and the notification that the interrupt signals.
pub struct Uart {
    device: Device,
    interrupt: Interrupt,
    events: Notification,
}

impl Uart {
    /// Sets the transmitter up; `None` when device, interrupt or notification are missing.
    pub fn open(info: Info) -> Option<Uart> {
        let registers = info.area("uart0")?.base as *mut u32;
        let (interrupt, events) = (Interrupt::named(info, "tx")?, Notification::named(info, "events")?);
        // SAFETY: the area is the device's, which this domain owns.
        let device = unsafe { Device::open(registers) };
        interrupt.ack().ok()?; // a line is masked until its owner asks for the first time
        Some(Uart { device, interrupt, events })
    }

    /// Sends one byte; while the transmitter is full the thread waits for its interrupt.
    pub fn byte(&mut self, byte: u8) {
        while self.device.full() {
            self.device.announce();
            if self.device.full() {
                let _ = self.events.wait(SENT);
            }
            self.device.silence();
            let _ = self.interrupt.ack();
        }
        self.device.send(byte);
    }

    /// Sends text.
    pub fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }
}
