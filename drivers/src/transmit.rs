//! Operations of a driver of a transmitter.

use crate::Registers;

/// A driver of a transmitter.
pub(crate) trait Transmit {
    /// Switches the transmitter on.
    fn open(registers: Registers) -> Self
    where
        Self: Sized;
    /// As the function of `Uart` of that name.
    fn full(&self) -> bool;
    /// As above.
    fn send(&self, byte: u8);
    /// As above.
    fn announce(&self);
    /// As above.
    fn silence(&self);
}
