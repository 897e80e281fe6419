//! Rows that are compared with others and with targets.

use crate::rows::{Row, Target};

/// How much more `cycles` is than `base`, in percent, to two places.
pub(super) fn overhead(cycles: u64, base: u64) -> f64 {
    let exact = (cycles as f64 / base as f64 - 1.0) * 100.0;
    (exact * 100.0).round() / 100.0
}

/// A row that must reach a target.
pub(super) fn with_target(mut row: Row, target: Target) -> Row {
    let walked = within(target.walks, row.walks) && within(target.walks_beyond, row.walks_beyond);
    let missed = within(target.added_misses, row.added_misses);
    row.met = Some(within(target.overhead, row.overhead) && missed && walked);
    row.target = Some(target);
    row
}

/// Whether a value keeps a limit, if there is one. A value that was not measured keeps no limit.
fn within<T: PartialOrd>(most: Option<T>, value: Option<T>) -> bool {
    most.is_none_or(|most| value.is_some_and(|value| value <= most))
}
