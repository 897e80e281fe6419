//! Columns of text, as wide as the terminal.

use std::ops::Range;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Columns in a pipe.
const PIPED: u16 = 110;

/// A table without lines.
pub struct Columns(Table);

impl Columns {
    /// With a header; `numbers` among the columns are set flush right.
    pub fn new(header: &[&str], numbers: Range<usize>) -> Columns {
        let mut table = Table::new();
        let width = terminal_size::terminal_size().map_or(PIPED, |(width, _)| width.0);
        table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_header(header);
        for column in numbers {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Columns(table)
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.0.add_row(cells);
    }

    /// The text, without blanks at the ends of lines.
    pub fn text(&self) -> String {
        let lines = self.0.to_string();
        lines.lines().map(|line| format!(" {}", line.trim_end())).collect::<Vec<_>>().join("\n")
    }
}
