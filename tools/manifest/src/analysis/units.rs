//! Ticks for people.

use super::system::Analysis;
use crate::quantity::Time;

/// Microseconds with one digit.
pub(super) fn us(system: &Analysis<'_>, ticks: u64) -> String {
    format!("{:.1} us", system.board.rate().us(ticks))
}

/// Ticks as they are written in a manifest: whole microseconds, up or down, where there is one.
pub(super) fn written(system: &Analysis<'_>, ticks: u64, up: bool) -> Time {
    let fine = system.board.rate().ns_in(ticks).floor();
    let coarse = if up { fine.div_ceil(1_000) * 1_000 } else { fine / 1_000 * 1_000 };
    let time = Time(coarse);
    if coarse > 0 && time.ticks(system.board.ticks_per_second).is_some() { time } else { Time(fine) }
}
