//! Operations of a driver of a timer.

use crate::Registers;

/// A driver of a timer.
pub(crate) trait Interval {
    /// The timer, as it is.
    fn open(registers: Registers) -> Self
    where
        Self: Sized;
    /// As the function of `Timer` of that name.
    fn start(&self, microseconds: u32);
    /// As above.
    fn clear(&self);
    /// As above.
    fn stop(&self);
}
