//! The transmitter with its interrupt: a thread that waits for room does not occupy the processor.

use cofferdam::{Info, Interrupt, Notification};
use devices::Uart as Device;

/// Bit of the notification `events` that the transmit interrupt sets.
const SENT: u32 = 2;

/// Exit code: the manifest does not give the service its device, interrupt or notification.
pub const MISSING: u32 = 1;
/// Exit code: there is no driver for the kind of device that the service was given.
pub const NO_DRIVER: u32 = 2;

/// The UART, its interrupt, and the notification that the interrupt signals.
pub struct Uart {
    device: Device,
    interrupt: Interrupt,
    events: Notification,
}

impl Uart {
    /// Sets the transmitter up.
    ///
    /// # Errors
    /// The service's exit code: [`MISSING`] or [`NO_DRIVER`].
    pub fn open(info: Info) -> Result<Uart, u32> {
        let named = (info.area("uart0"), Interrupt::named(info, "tx"), Notification::named(info, "events"));
        let (Some(area), Some(interrupt), Some(events)) = named else { return Err(MISSING) };
        // SAFETY: the area is the information block's, and the service has one transmitter.
        let device = unsafe { Device::open(area) }.ok_or(NO_DRIVER)?;
        interrupt.ack().map_err(|_| MISSING)?; // a line is masked until its owner asks for the first time
        Ok(Uart { device, interrupt, events })
    }

    /// Sends one byte; while the transmitter is full the thread waits for its interrupt.
    #[inline(never)] // it is called in many places, and has every driver in it
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
