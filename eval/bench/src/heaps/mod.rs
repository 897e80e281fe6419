//! Allocators side by side (`eval/systems/heap`): cycles of `malloc` and `free`, and the memory that the same history needs.

use crate::bench::{self, Bench};
use crate::calls::{self, Calls, RATIO, System, ratio};
use crate::cells::{empty, verdict};
use crate::chip::Chip;
use crate::rows::{Target, kind, kinds};
use crate::{Error, Row, samples};

#[cfg(test)]
mod tests;

/// The allocators that are compared, in the order of the domain's marks: name in labels and ids,
/// and name in the table.
const CONTESTANTS: [(&str, &str); 7] = [
    ("ours", "Cofferdam"),
    ("rlsf", "rlsf 0.2.3"),
    ("o1heap", "o1heap (crate 0.0.2)"),
    ("buddy", "buddy_system_allocator 0.13.0"),
    ("newlib", "newlib"),
    ("tcm", "Cofferdam, heap in DTCM"),
    ("within", "Cofferdam, records in the heap"),
];

/// The contestants that have a target.
const OURS: usize = 0;
const IN_TCM: usize = 5;

/// Parts of the id, parts of the label, and the operation.
const PARTS: [(&str, &str, &str); 4] = [
    ("malloc", "history_alloc", "malloc in a long random history"),
    ("free", "history_free", "free in a long random history"),
    ("malloc.sizes", "size_alloc", "malloc of every size, otherwise empty heap"),
    ("free.sizes", "size_free", "free of every size, otherwise empty heap"),
];

/// Marks of the domain.
mod mark {
    pub const NEED: u16 = 0x10;
    pub const FAILED: u16 = 0x20;
    pub const LIVE: u16 = 0x30;
    pub const COUNT: u16 = 0x31;
}

/// The values of the domain's marks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    need: [u32; CONTESTANTS.len()],
    failed: [u32; CONTESTANTS.len()],
    live: u32,
    count: u32,
}

impl From<&[(u16, u32)]> for Told {
    fn from(marks: &[(u16, u32)]) -> Told {
        let mut told = Told::default();
        for (number, value) in marks {
            let of = |first: u16| usize::from(number.wrapping_sub(first));
            match *number {
                _ if of(mark::NEED) < CONTESTANTS.len() => told.need[of(mark::NEED)] = *value,
                _ if of(mark::FAILED) < CONTESTANTS.len() => told.failed[of(mark::FAILED)] = *value,
                mark::LIVE => told.live = *value,
                mark::COUNT => told.count = *value,
                _ => {}
            }
        }
        told
    }
}

/// Runs the system of the allocators, if the board has one, and returns its rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let Some(manifest) = &bench.chip.systems().heap else { return Ok(Vec::new()) };
    let pairs = CONTESTANTS.iter().flat_map(|(who, _)| PARTS.iter().map(move |(_, part, _)| (who, part)));
    let probes: Vec<String> = pairs.map(|(who, part)| format!("heap_{who}_{part}")).collect();
    let system = System { manifest, name: "allocators", probes: &probes };
    rows(bench.chip, &calls::measure(system, bench, progress)?)
}

fn rows(chip: &Chip, measured: &Calls) -> Result<Vec<Row>, Error> {
    let told = Told::from(measured.marks.as_slice());
    let mut rows = Vec::new();
    for (index, found) in measured.samples.iter().enumerate() {
        let (who, part) = (index / PARTS.len(), index % PARTS.len());
        if !takes_part(chip, who) {
            continue;
        }
        let (id, about) = (PARTS[part].0, PARTS[part].2);
        let cycles = samples::warm_at_least(found, 1)
            .ok_or_else(|| Error::Run(format!("allocators: {} was never called for {about}", CONTESTANTS[who].1)))?;
        let instructions = measured.instructions.get(index).copied().unwrap_or(0);
        let about = match part {
            0 | 1 => format!("{about} ({} operations)", told.count),
            _ => about.to_owned(),
        };
        let (target, met) = match who {
            OURS | IN_TCM => (Some(Target { ratio: Some(RATIO), ..Target::default() }), Some(ratio(cycles) <= RATIO)),
            _ => (None, None),
        };
        rows.push(Row { cycles, instructions, target, met, ..row(chip, who, id, about) });
    }
    for (who, (need, failed)) in told.need.iter().zip(told.failed).enumerate().filter(|(who, _)| takes_part(chip, *who))
    {
        let live = if who == IN_TCM { String::new() } else { format!(", at most {} live", told.live) };
        let about = format!("bytes for a history{live}; refused in the long one: {failed}");
        rows.push(Row { bytes: Some(u64::from(*need)), ..row(chip, who, "need", about) });
    }
    Ok(rows)
}

/// Without tightly coupled memory the heap that is meant for it lies with everything else, and shows nothing of its own.
fn takes_part(chip: &Chip, who: usize) -> bool {
    who != IN_TCM || chip.has_tcm()
}

fn row(chip: &Chip, who: usize, id: &str, operation: String) -> Row {
    let (suffix, subject) = CONTESTANTS[who];
    let id = chip.rows(kinds::HEAP) + id;
    bench::row(chip, if who == OURS { id } else { format!("{id}.{suffix}") }, subject, operation)
}

/// Whether a row is one of allocators or of the memory manager, on any board.
pub(crate) fn is_one(row: &Row) -> bool {
    kind(&row.id).is_some_and(|kind| [kinds::HEAP, kinds::MANAGER].contains(&kind))
}

/// The rows of allocators and of the memory manager: worst case over median, and bytes. Empty when there are none.
pub fn heaps_table(rows: &[Row]) -> String {
    let header = ["row", "subject", "operation", "cycles", "max", "max/median", "instr.", "bytes", "target", "met"];
    let mut table = empty(&header, 3..8);
    let rows: Vec<&Row> = rows.iter().filter(|row| is_one(row)).collect();
    for row in &rows {
        let figure = |text: String| if row.bytes.is_some() { String::new() } else { text };
        table.add_row([
            row.id.clone(),
            row.subject.clone(),
            row.operation.clone(),
            figure(row.cycles.median.to_string()),
            figure(row.cycles.max.to_string()),
            figure(format!("{:.2}", ratio(row.cycles))),
            figure(row.instructions.to_string()),
            row.bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
            row.target.as_ref().and_then(|t| t.ratio).map(|most| format!("<= {most:.1}")).unwrap_or_default(),
            verdict(row).to_owned(),
        ]);
    }
    if rows.is_empty() { String::new() } else { format!("{table}\n") }
}
