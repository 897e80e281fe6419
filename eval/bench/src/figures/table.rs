//! The figures on the terminal.

use super::{places, translation};
use crate::cells::{empty, verdict};
use crate::rows::{Row, Target, kind, kinds};

/// The rows about paging: overhead and misses instead of instructions, and the paper's value. Empty when there are none. Interference by
/// number of accesses is summed up: `bench.json` has a row for each number.
pub fn figures_table(rows_of_all: &[Row]) -> String {
    let header = ["row", "operation", "cycles", "misses", "added", "overhead", "paper", "target", "met"];
    let mut table = empty(&header, 2..6);
    let rows: Vec<&Row> = rows_of_all.iter().filter(|row| is_one(&row.id) && !of_tables(&row.id)).collect();
    for row in &rows {
        table.add_row(cells(row));
    }
    let others = translation_table(rows_of_all);
    if rows.is_empty() { others } else { format!("{table}\n{others}") }
}

fn is_one(id: &str) -> bool {
    kind(id) == Some(kinds::FIGURES)
}

/// Whether a row is one about page tables: of the figures that only boards with these have.
fn of_tables(id: &str) -> bool {
    is_one(id)
        && id.split('.').nth(2).is_some_and(|figure| [places::FIGURES, translation::FIGURES].concat().contains(&figure))
}

/// The rows about page tables: walks instead of misses.
fn translation_table(rows: &[Row]) -> String {
    let header = ["row", "operation", "cycles", "of", "walks", "beyond", "overhead", "paper", "target", "met"];
    let mut table = empty(&header, 2..7);
    let rows: Vec<&Row> = rows.iter().filter(|row| of_tables(&row.id)).collect();
    for row in &rows {
        table.add_row(translation_cells(row));
    }
    if rows.is_empty() { String::new() } else { format!("{table}\n") }
}

fn translation_cells(row: &Row) -> Vec<String> {
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    vec![
        row.id.clone(),
        row.operation.clone(),
        row.cycles.median.to_string(),
        number(row.run_cycles),
        number(row.walks),
        number(row.walks_beyond),
        row.overhead.map(|value| format!("{value:.2} %")).unwrap_or_default(),
        row.paper.clone().unwrap_or_default(),
        row.target.as_ref().map(describe).unwrap_or_default(),
        verdict(row).to_owned(),
    ]
}

/// The limits of a figure.
fn describe(target: &Target) -> String {
    let overhead = target.overhead.map(|most| format!("<= {most:.2} %"));
    let misses = target.added_misses.map(|most| format!("added <= {most}"));
    let walks = target.walks.map(|most| format!("walks <= {most}"));
    let beyond = target.walks_beyond.map(|most| format!("beyond <= {most}"));
    [overhead, misses, walks, beyond].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn cells(row: &Row) -> Vec<String> {
    let some = |value: Option<String>| value.unwrap_or_default();
    let percent = |value: f64| format!("{value:.2} %");
    let (cycles, overhead) = match &row.refused {
        Some(why) => (String::new(), why.clone()),
        None => (row.cycles.median.to_string(), some(row.overhead.map(percent))),
    };
    vec![
        row.id.clone(),
        row.operation.clone(),
        cycles,
        some(row.misses.map(|misses| misses.to_string())),
        some(row.added_misses.map(|misses| misses.to_string())),
        overhead,
        row.paper.clone().unwrap_or_default(),
        some(row.target.as_ref().map(describe)),
        verdict(row).to_owned(),
    ]
}
