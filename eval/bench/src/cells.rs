//! Parts that all tables share.

use std::ops::Range;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use crate::rows::Row;

/// A table without rows, whose `numbers` among its columns are set flush right.
pub(crate) fn empty(header: &[&str], numbers: Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header(header);
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Whether a row keeps its target, in a word; nothing for one that has none.
pub(crate) fn verdict(row: &Row) -> &'static str {
    match (&row.target, row.met) {
        (None, _) => "",
        (Some(_), Some(true)) => "yes",
        (Some(_), Some(false)) => "MISSED",
        (Some(_), None) => "not compared",
    }
}
