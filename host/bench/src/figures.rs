//! The figures about paged and pinned regions: `examples/mxu` in many variations, each beside the paper's value.
//!
//! * [`paging`]: how much slower an application is over paged regions than over pinned ones, by their number and geometry.
//! * [`synthetic`]: replacement policies, and interference after every n accesses.
//! * [`timed`]: applications under interference at fixed times.

mod manifests;
mod paging;
mod synthetic;
mod system;
mod table;
mod timed;

#[cfg(test)]
mod tests;

pub use system::{Adversary, Figures, Geometry, Heap, Measured, Ran, Stretch, Variation};
pub use table::figures_table;

use crate::rows::Row;
use crate::{Error, Target, chip, systems};

/// Beginning of the ids of all rows of this kind.
pub const PREFIX: &str = "m7.mxu.";

/// Measures the rows whose ids begin with `only`, or all.
///
/// # Errors
/// Whatever keeps a figure from being measured. A variation that admission refuses is a row, not an error.
pub fn measure(
    figures: &mut Figures<'_>,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let mut wanted = Wanted { only, progress };
    let mut rows = paging::measure(figures, &mut wanted)?;
    rows.extend(synthetic::measure(figures, &mut wanted)?);
    rows.extend(timed::measure(figures, &mut wanted)?);
    Ok(rows)
}

/// Which rows are asked for, and who is told.
struct Wanted<'a> {
    only: Option<&'a str>,
    progress: &'a mut dyn FnMut(&str),
}

impl Wanted<'_> {
    /// Whether rows whose ids begin with `prefix` are asked for.
    fn any(&self, prefix: &str) -> bool {
        self.only.is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only))
    }

    fn tell(&mut self, id: &str) {
        (self.progress)(&format!("figures: {id}"));
    }
}

/// A row without target.
fn row(id: &str, operation: String) -> Row {
    systems::row(&chip::M7, id.to_owned(), "Cofferdam", operation)
}

/// How much more `cycles` is than `base`, in percent, to two places.
fn overhead(cycles: u64, base: u64) -> f64 {
    let exact = (cycles as f64 / base as f64 - 1.0) * 100.0;
    (exact * 100.0).round() / 100.0
}

/// A row that must reach a target.
fn with_target(mut row: Row, target: Target) -> Row {
    let within = |most: Option<f64>, value: Option<f64>| most.is_none_or(|most| value.is_some_and(|v| v <= most));
    let misses = target.added_misses.is_none_or(|most| row.added_misses.is_some_and(|added| added <= most));
    row.met = Some(within(target.overhead, row.overhead) && misses);
    row.target = Some(target);
    row
}
