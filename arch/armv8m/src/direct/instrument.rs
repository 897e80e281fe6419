//! An instrument that says what handlers use.

/// An instrument that says what handlers use.
pub(super) trait Meter {
    /// Ticks that handlers have used since this was last asked: by a look at the end of an interval, which has met one or not, or by what else.
    fn used(&self, met: Option<bool>) -> u32;
    /// Ticks that they have used since then, which stay to be told: of what the instrument can tell at any time.
    fn pending(&self) -> u32;
    /// So many ticks are left to them; the instrument interrupts when they are used, if it can.
    fn grant(&self, left: i32);
}
