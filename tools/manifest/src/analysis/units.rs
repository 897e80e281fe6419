//! Ticks for people.

use super::system::Analysis;
use crate::quantity::Time;

/// Microseconds with one digit.
pub(super) fn us(system: &Analysis<'_>, ticks: u64) -> String {
    format!("{:.1} us", ticks as f64 * 1e6 / f64::from(system.board.ticks_per_second))
}

/// Ticks as they are written in a manifest: whole microseconds, up or down, where there is one.
pub(super) fn written(system: &Analysis<'_>, ticks: u64, up: bool) -> Time {
    let rate = u64::from(system.board.ticks_per_second);
    let nanos = |ticks: u64| (u128::from(ticks) * 1_000_000_000 / u128::from(rate)) as u64;
    let fine = nanos(ticks);
    let coarse = if up { fine.div_ceil(1_000) * 1_000 } else { fine / 1_000 * 1_000 };
    let time = Time(coarse);
    if coarse > 0 && time.ticks(system.board.ticks_per_second).is_some() { time } else { Time(fine) }
}
