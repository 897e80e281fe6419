//! The table on the terminal.

use crate::cells::{empty, verdict};
use crate::figures::figures_table;
use crate::heaps::{self, heaps_table};
use crate::images::{self, images_table};
use crate::micro::micro_table;
use crate::rows::{Row, Target, kind, kinds};
use crate::speed::{self, speed_table};

/// Every row, and below the table the number of targets met. A missed target is called missed.
pub fn table(rows: &[Row]) -> String {
    let mut table = empty(&["row", "subject", "operation", "cycles", "max", "instr.", "paper", "target", "met"], 3..6);
    let of_kind = |row: &Row| kind(&row.id).is_some_and(|kind| [kinds::FIGURES, kinds::MICRO].contains(&kind));
    let apart = |row: &&Row| of_kind(row) || heaps::is_one(row) || images::is_one(row) || speed::is_one(row);
    for row in rows.iter().filter(|row| !apart(row)) {
        table.add_row([
            row.id.clone(),
            row.subject.clone(),
            row.operation.clone(),
            row.cycles.median.to_string(),
            row.cycles.max.to_string(),
            row.instructions.to_string(),
            row.paper.clone().unwrap_or_default(),
            row.target.as_ref().map(|target| describe(&row.id, target)).unwrap_or_default(),
            verdict(row).to_owned(),
        ]);
    }
    let others =
        micro_table(rows) + &heaps_table(rows) + &images_table(rows) + &figures_table(rows) + &speed_table(rows);
    if rows.iter().all(|row| apart(&row)) {
        return format!("{others}{}\n", conclusion(rows));
    }
    format!("{table}\n{others}{}\n", conclusion(rows))
}

fn describe(id: &str, target: &Target) -> String {
    // A peer's row is named by its suffix alone.
    let short = |other: &str| {
        other.strip_prefix(id).map_or_else(|| other.to_owned(), |rest| rest.trim_start_matches('.').to_owned())
    };
    let cycles = target.cycles.map(|most| format!("<= {most} cycles"));
    let instructions = target.instructions.map(|most| format!("<= {most} instr."));
    let below = target.below.as_ref().map(|other| format!("instr. < {}", short(other)));
    [cycles, instructions, below].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Below tables of modelled cycles.
pub(crate) const MODELLED: &str = "Cycles are modelled, not measured on silicon.";
/// Below tables of cycles of a hardware description that is simulated.
pub(crate) const EXACT: &str = "Cycles are exact for the hardware description that is simulated.";

fn conclusion(rows: &[Row]) -> String {
    let met = rows.iter().filter(|row| row.met == Some(true)).count();
    let missed: Vec<&str> = rows.iter().filter(|row| row.met == Some(false)).map(|row| row.id.as_str()).collect();
    let exact = rows.iter().filter(|row| row.exact).count();
    let cycles = match exact {
        0 => MODELLED,
        _ if exact == rows.len() => EXACT,
        _ => {
            "Cycles are modelled, not measured on silicon; on the soft core they are exact for its hardware description."
        }
    };
    let mut text = format!("{cycles} Targets met: {met}.");
    if !missed.is_empty() {
        text += &format!(" Targets MISSED: {} ({}).", missed.len(), missed.join(", "));
    }
    text
}
