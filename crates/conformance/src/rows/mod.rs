//! The rows, by subject.

mod first;

use crate::Row;

/// All rows.
pub const ROWS: &[&[Row]] = &[first::ROWS];

/// Every row, in the order of their numbers.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().flat_map(|group| group.iter())
}

/// The row with a number.
pub fn row(number: u32) -> Option<&'static Row> {
    rows().nth(number as usize)
}
