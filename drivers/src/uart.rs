//! Transmitters.

use crate::transmit::Transmit;
use crate::{cadence_uart, cmsdk_uart, drivers, imx_uart, soc_console};

drivers! {
    /// A transmitter, which is switched on when it is opened.
    Uart: Transmit {
        "cadence-uart" => Cadence(cadence_uart::Driver),
        "cmsdk-uart" => Cmsdk(cmsdk_uart::Driver),
        "imx-uart" => Imx(imx_uart::Driver),
        "soc-console" => Soc(soc_console::Driver),
    }
}

impl Uart {
    /// Whether no byte can be sent.
    pub fn full(&self) -> bool {
        self.driver().full()
    }

    /// Sends a byte; lost when the transmitter is full.
    pub fn send(&self, byte: u8) {
        self.driver().send(byte);
    }

    /// Asks for an interrupt when there is room, at the latest when all that was sent has left.
    pub fn announce(&self) {
        self.driver().announce();
    }

    /// Asks for no interrupt, and clears the one that may be there.
    pub fn silence(&self) {
        self.driver().silence();
    }
}
