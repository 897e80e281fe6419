//! The figures about paged and pinned regions, and about page tables: `eval/systems/mxu` in many variations, each beside the paper's value. The file
//! of a board says which are measured there ([`plan`]).
//!
//! * [`paging`]: how much slower an application is over paged regions than over pinned ones, by their number and geometry.
//! * [`database`]: a database done in other ways, because its overhead is far below the paper's.
//! * [`places`]: with page tables: accesses by where translation is kept, left alone and under interference.
//! * [`synthetic`]: replacement policies, and interference after every n accesses.
//! * [`timed`]: applications under interference at fixed times.
//! * [`translation`]: with page tables: locked ways of the second-level cache, and interference by where translation is kept.

mod database;
mod manifests;
mod paging;
mod places;
mod plan;
mod synthetic;
mod system;
mod table;
mod timed;
mod translation;

#[cfg(test)]
mod tests;

pub(crate) use plan::Plan;
pub use system::{Adversary, Emptied, Figures, Geometry, Heap, Kept, Measured, Ran, Stretch, Usage, Variation};
pub use table::figures_table;

use crate::rows::{Row, kind};
use crate::{Error, Target};

/// Part of the ids of all rows of this kind behind the board's prefix.
pub const KIND: &str = "mxu";

/// Measures the rows of the board's plan whose ids begin with `only`, or all.
///
/// # Errors
/// Any error that keeps a figure from being measured. A variation that admission refuses is a row, not an error.
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
    rows.extend(places::measure(figures, &mut wanted)?);
    rows.extend(translation::measure(figures, &mut wanted)?);
    Ok(rows)
}

/// Whether a row is of these.
pub fn is_one(id: &str) -> bool {
    kind(id) == Some(KIND)
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

/// Whether a value keeps a limit, if there is one. A value that was not measured keeps no limit.
fn within<T: PartialOrd>(most: Option<T>, value: Option<T>) -> bool {
    most.is_none_or(|most| value.is_some_and(|value| value <= most))
}
