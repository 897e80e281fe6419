//! Allocators side by side (`examples/heap`): cycles of `malloc` and `free`, and the memory that the same history needs.

use std::fs::File;
use std::path::Path;

use build_tool::{Install, Loaded, Profile};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use record::{EndReason, EventsReader, ProbeWatch, Watch, observed};
use runner::{Go, ImageFacts, ProfileSource, Run, Tools};

use crate::rows::{Cycles, Target};
use crate::{Error, Row, Symbols, run};

/// Beginning of the ids of all rows of this kind.
pub const PREFIX: &str = "m7.heap.";
/// The worst case may be so many times the median.
pub const RATIO: f64 = 2.0;

#[cfg(test)]
mod tests;

const SYSTEM: &str = "examples/heap/system.toml";
/// A run that takes longer hangs: 60 s of modelled time.
const CYCLE_LIMIT: u64 = 60 * 216_000_000;
/// Samples that warm the caches and are not counted.
const WARM: usize = 100;

/// Who takes part, in the order of the domain's marks: name in labels and ids, and what the table calls it.
const CONTESTANTS: [(&str, &str); 6] = [
    ("ours", "Cofferdam"),
    ("rlsf", "rlsf 0.2.3"),
    ("o1heap", "o1heap (crate 0.0.2)"),
    ("buddy", "buddy_system_allocator 0.13.0"),
    ("newlib", "newlib"),
    ("tcm", "Cofferdam, heap in DTCM"),
];

/// The contestants that have a target.
const OURS: usize = 0;
const IN_TCM: usize = 5;

/// Parts of the id, parts of the label, and what is measured.
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

/// What the domain told.
#[derive(Debug, Default)]
struct Told {
    need: [u32; CONTESTANTS.len()],
    failed: [u32; CONTESTANTS.len()],
    live: u32,
    count: u32,
}

/// Runs `examples/heap` and returns its rows.
///
/// # Errors
/// Whatever keeps a figure from being measured.
pub fn measure(
    install: &Install,
    tools: &Tools,
    profile: &Profile,
    out: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
    let loaded = Loaded::load(install, &install.root.join(SYSTEM)).map_err(|refusal| refused(&refusal))?;
    let mut told = |what: &str| progress(&format!("allocators: building {what}"));
    let built = build_tool::build(install, loaded, build_tool::Options::default(), &mut told)
        .map_err(|refusals| refusals.first().map_or_else(|| Error::Build("refused".to_owned()), refused))?;
    progress("allocators: running");
    let mut symbols = Symbols::default();
    built.domains.iter().try_for_each(|domain| symbols.add(domain))?;
    let watch = watch(&built.kernel, &symbols, profile)?;
    let mut run = Run::new(&built.image, out.join("heap"), watch);
    run.board = crate::peers::BOARD.to_owned();
    let outcome = run.start(tools, &mut |_| Go::On).map_err(|error| Error::Run(error.to_string()))?;
    let summary = &outcome.summary;
    if summary.end.reason != EndReason::Exit || summary.end.status != Some(0) || !summary.is_clean() {
        let (end, first) = (&summary.end, summary.violations.first());
        return Err(Error::Run(format!("allocators: ended by {end:?}, first violation {first:?}")));
    }
    let events = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    let (told, samples) = collect(events).map_err(Error::Run)?;
    let instructions: Vec<u64> = summary.probes.iter().map(|probe| probe.instructions.median).collect();
    rows(&instructions, &told, samples)
}

fn watch(kernel: &Path, symbols: &Symbols, profile: &Profile) -> Result<Watch, Error> {
    let facts = ImageFacts::read(kernel).map_err(|error| Error::Run(error.to_string()))?;
    let pairs = CONTESTANTS.iter().flat_map(|(who, _)| PARTS.iter().map(move |(_, part, _)| (who, part)));
    let probe = |(who, part): (&&str, &&str)| {
        let label = |end: &str| symbols.code(&format!("probe_heap_{who}_{part}_{end}"));
        Ok(ProbeWatch { name: format!("{who}.{part}"), start: label("start")?, end: label("end")?, domain: None })
    };
    Ok(Watch {
        profile: ProfileSource::Text(profile.text.clone()),
        trace_port: facts.trace_port,
        vectors: facts.vectors,
        kernel_text: run::code_of(kernel)?,
        cycle_limit: CYCLE_LIMIT,
        exception_events: true,
        probes: pairs.map(probe).collect::<Result<_, Error>>()?,
        ..Watch::default()
    })
}

/// The domain's marks, and the cycles of every sample of each probe. A call that the kernel's timer has interrupted is no sample:
/// the interrupt is not part of the allocator.
fn collect(events: impl std::io::Read) -> Result<(Told, Vec<Vec<u32>>), String> {
    const MARK: u8 = abi::trace::Event::Mark as u8;
    let mut told = Told::default();
    let mut samples = vec![Vec::new(); CONTESTANTS.len() * PARTS.len()];
    let mut interrupted = None;
    for event in EventsReader::new(events).map_err(|error| error.to_string())? {
        let event = event.map_err(|error| error.to_string())?;
        let of = |first: u16| usize::from(event.detail.wrapping_sub(first));
        match event.event {
            observed::EXCEPTION_ENTRY => interrupted = Some(event.cycle),
            observed::PROBE if interrupted >= Some(event.cycle.saturating_sub(u64::from(event.payload))) => {}
            observed::PROBE => {
                if let Some(list) = samples.get_mut(of(0)) {
                    list.push(event.payload);
                }
            }
            MARK if of(mark::NEED) < CONTESTANTS.len() => told.need[of(mark::NEED)] = event.payload,
            MARK if of(mark::FAILED) < CONTESTANTS.len() => told.failed[of(mark::FAILED)] = event.payload,
            MARK if event.detail == mark::LIVE => told.live = event.payload,
            MARK if event.detail == mark::COUNT => told.count = event.payload,
            _ => {}
        }
    }
    Ok((told, samples))
}

fn rows(instructions: &[u64], told: &Told, samples: Vec<Vec<u32>>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (index, mut samples) in samples.into_iter().enumerate() {
        let (who, part) = (index / PARTS.len(), index % PARTS.len());
        let (id, about) = (PARTS[part].0, PARTS[part].2);
        let mut counted = samples.split_off(WARM.min(samples.len()));
        counted.sort_unstable();
        let (Some(median), Some(max)) = (counted.get(counted.len() / 2), counted.last()) else {
            return Err(Error::Run(format!("allocators: {} was never called for {about}", CONTESTANTS[who].1)));
        };
        let cycles = Cycles { median: u64::from(*median), max: u64::from(*max) };
        let instructions = instructions.get(index).copied().unwrap_or(0);
        let about = match part {
            0 | 1 => format!("{about} ({} operations)", told.count),
            _ => about.to_owned(),
        };
        let (target, met) = match who {
            OURS | IN_TCM => (Some(Target { ratio: Some(RATIO), ..Target::default() }), Some(ratio(cycles) <= RATIO)),
            _ => (None, None),
        };
        rows.push(Row { cycles, instructions, target, met, ..row(who, id, about) });
    }
    for (who, (need, failed)) in told.need.iter().zip(told.failed).enumerate() {
        let live = if who == IN_TCM { String::new() } else { format!(", at most {} live", told.live) };
        let about = format!("bytes for a history{live}; refused in the long one: {failed}");
        rows.push(Row { bytes: Some(u64::from(*need)), ..row(who, "need", about) });
    }
    Ok(rows)
}

fn row(who: usize, id: &str, operation: String) -> Row {
    let (suffix, subject) = CONTESTANTS[who];
    let id = if who == OURS { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}.{suffix}") };
    Row {
        command: format!("./cofferdam bench --only {id}"),
        id,
        board: crate::peers::BOARD.to_owned(),
        profile: run::PROFILE.to_owned(),
        subject: subject.to_owned(),
        operation,
        ..Row::default()
    }
}

fn ratio(cycles: Cycles) -> f64 {
    cycles.max as f64 / cycles.median.max(1) as f64
}

/// The rows of this kind: worst case over median, and bytes. Empty when there are none.
pub fn heaps_table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header([
        "row",
        "subject",
        "operation",
        "cycles",
        "max",
        "max/median",
        "instr.",
        "bytes",
        "target",
        "met",
    ]);
    for column in 3..8 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let rows: Vec<&Row> = rows.iter().filter(|row| row.id.starts_with(PREFIX)).collect();
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
            row.met.map(|met| if met { "yes" } else { "MISSED" }.to_owned()).unwrap_or_default(),
        ]);
    }
    if rows.is_empty() { String::new() } else { format!("{table}\n") }
}
