//! The rows, by subject.

mod budgets;
mod calls;
mod caps;
mod faults;
mod frames;
mod gates;
mod memory;
mod restart;
mod waiting;

use crate::Row;

/// All rows, by subject. Those about frames come last: one of them gives memory away for good.
const ROWS: &[&[Row]] = &[
    waiting::ROWS,
    budgets::ROWS,
    gates::ROWS,
    caps::ROWS,
    calls::ROWS,
    memory::ROWS,
    faults::ROWS,
    restart::ROWS,
    frames::ROWS,
];

/// Every row, in the order of their numbers.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().flat_map(|group| group.iter())
}

/// The row with a number.
pub fn row(number: u32) -> Option<&'static Row> {
    rows().nth(number as usize)
}
