//! The figures about paged and pinned regions: `examples/mxu` in many variations, each beside the paper's value.
//!
//! * [`paging`]: how much slower an application is over paged regions than over pinned ones, by their number and geometry.
//! * [`database`]: a database done in other ways, because its overhead is far below the paper's.
//! * [`places`]: the Cortex-A9: accesses by where translation is kept, left alone and under interference.
//! * [`synthetic`]: replacement policies, and interference after every n accesses.
//! * [`timed`]: applications under interference at fixed times.
//! * [`translation`]: the Cortex-A9: locked ways of the second-level cache, and interference by where translation is kept.

mod database;
mod manifests;
mod paging;
mod places;
mod synthetic;
mod system;
mod table;
mod timed;
mod translation;

#[cfg(test)]
mod tests;

pub use system::{Adversary, Chip, Emptied, Figures, Geometry, Heap, Kept, Measured, Ran, Stretch, Variation};
pub use table::figures_table;

use crate::rows::Row;
use crate::{Error, Target, chip, systems};

/// Beginning of the ids of the rows about regions.
pub const PREFIX: &str = "m7.mxu.";
/// Beginning of the ids of the rows about page tables.
pub const PREFIX_A9: &str = "a9.mxu.";

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
    rows.extend(database::measure(figures, &mut wanted)?);
    rows.extend(synthetic::measure(figures, &mut wanted)?);
    rows.extend(timed::measure(figures, &mut wanted)?);
    Ok(rows)
}

/// Whether a row is of these.
pub fn is_one(id: &str) -> bool {
    [PREFIX, PREFIX_A9].iter().any(|prefix| id.starts_with(prefix))
}

/// The same of the rows about page tables.
///
/// # Errors
/// Whatever keeps a figure from being measured.
pub fn measure_a9(
    figures: &mut Figures<'_>,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let mut wanted = Wanted { only, progress };
    let mut rows = places::measure(figures, &mut wanted)?;
    rows.extend(translation::measure(figures, &mut wanted)?);
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

    /// Whether rows whose ids begin with `prefix` are asked for, and no others.
    fn by_name(&self, prefix: &str) -> bool {
        self.only.is_some_and(|only| only.starts_with(prefix.trim_end_matches('.')))
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
    let walked = within(target.walks, row.walks) && within(target.walks_beyond, row.walks_beyond);
    let missed = within(target.added_misses, row.added_misses);
    row.met = Some(within(target.overhead, row.overhead) && missed && walked);
    row.target = Some(target);
    row
}

/// Whether a value keeps a limit, if there is one. What was not measured keeps none.
fn within<T: PartialOrd>(most: Option<T>, value: Option<T>) -> bool {
    most.is_none_or(|most| value.is_some_and(|value| value <= most))
}
