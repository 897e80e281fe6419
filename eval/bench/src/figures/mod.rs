//! The figures about paged and pinned regions, and about page tables: `eval/systems/mxu` in many variations, each beside the paper's value. The file
//! of a board says which are measured there (`chip::Plan`).
//!
//! * [`paging`]: how much slower an application is over paged regions than over pinned ones, by their number and geometry.
//! * [`database`]: a database done in other ways, because its overhead is far below the paper's.
//! * [`places`]: with page tables: accesses by where translation is kept, left alone and under interference.
//! * [`synthetic`]: replacement policies, and interference after every n accesses.
//! * [`timed`]: applications under interference at fixed times.
//! * [`translation`]: with page tables: locked ways of the second-level cache, and interference by where translation is kept.

mod compare;
mod database;
mod manifests;
mod paging;
mod places;
mod selection;
mod synthetic;
mod system;
mod table;
mod timed;
mod translation;
mod variation;

#[cfg(test)]
mod tests;

pub use system::{Figures, Measured, Ran, Stretch};
pub use table::figures_table;
pub use variation::{Adversary, Emptied, Heap, Kept, Usage, Variation};

use crate::Error;
use crate::rows::Row;
use selection::Selection;

/// Measures the rows of the board's plan whose ids begin with `only`, or all.
///
/// # Errors
/// Any error that keeps a figure from being measured. A variation that admission refuses is a row, not an error.
pub fn measure(
    figures: &mut Figures<'_>,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let mut wanted = Selection { only, progress };
    let mut rows = paging::measure(figures, &mut wanted)?;
    rows.extend(database::measure(figures, &mut wanted)?);
    rows.extend(synthetic::measure(figures, &mut wanted)?);
    rows.extend(timed::measure(figures, &mut wanted)?);
    rows.extend(places::measure(figures, &mut wanted)?);
    rows.extend(translation::measure(figures, &mut wanted)?);
    Ok(rows)
}
