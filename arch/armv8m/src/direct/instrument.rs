//! An instrument that says what handlers use.

pub(super) trait Meter {
    /// Returns the ticks that handlers have used since this was last asked. `met` says whether a
    /// look at the end of an interval has met one; `None`: it was asked at another time.
    fn used(&self, met: Option<bool>) -> u32;
    /// Returns the ticks that they have used since then, as far as the instrument can tell at any
    /// time. They stay to be charged.
    fn pending(&self) -> u32;
    /// Tells the instrument that so many ticks are left. It interrupts when they are used, if it
    /// can.
    fn grant(&self, left: i32);
}
