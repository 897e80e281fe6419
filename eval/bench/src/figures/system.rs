//! One variation of a system of `eval/systems/mxu`: its manifest, its image, its run.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use build_tool::{Install, Loaded, Programs, place_programs, programs, write_file};
use manifest::Document;
use record::{EndReason, EventsReader, Interference, ProbeWatch, Summary, TranslationCounts, Watch, observed};
use runner::{Go, Run, RunError, Simulator};
use toml::{Table, Value};

use super::manifests;
use super::variation::{Emptied, Variation};
use crate::bench::Bench;
use crate::chip::{Chip, Plan};
use crate::rows::{Row, kinds};
use crate::{Error, Symbols};

/// Cycles between two advances of the guest's clock: a timer is late by at most this and one block.
const QUANTUM: u64 = 200;
/// The domain whose workload is measured.
const WORK: &str = "work";

/// The measurements of one stretch of the workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Its number; a workload's main file says what is behind it.
    pub number: u32,
    /// Cycles from mark to mark.
    pub cycles: u64,
    /// Cycles of the samples of the first probe in it.
    pub probed: u64,
    /// Misses of the workload's thread.
    pub misses: u64,
}

/// The measurements of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Stretches in order; consecutive ones may share a number.
    pub stretches: Vec<Stretch>,
    /// Cycles and instructions of the longest sample of each probe.
    pub probes: Vec<(u64, u64)>,
    /// The values that the workload reported.
    pub results: Vec<u64>,
    /// Bytes of the largest block that it could not have.
    pub too_large: u64,
    /// Median cycles of a miss, entry and return included.
    pub miss_cycles: u64,
    /// Counts of the workload's own translations, over its whole run.
    pub translation: TranslationCounts,
    /// Exit status: 0 when the workload did its work.
    pub status: i32,
}

impl Measured {
    /// Misses in the stretches of some numbers.
    pub fn misses(&self, numbers: &[u32]) -> u64 {
        self.stretches.iter().filter(|stretch| numbers.contains(&stretch.number)).map(|stretch| stretch.misses).sum()
    }
}

/// A run, or why there is none.
#[derive(Clone, Debug)]
pub enum Ran {
    /// It ran.
    Done(Measured),
    /// Code and text of admission's refusal, or how the emulator failed.
    Refused(String),
}

/// The state that all figures share.
#[derive(Debug)]
pub struct Figures<'a> {
    bench: Bench<'a>,
    directory: PathBuf,
    built: HashMap<String, Programs>,
}

impl<'a> Figures<'a> {
    /// On a board under its profile; the runs' files go below `out`.
    ///
    /// # Errors
    /// [`Error::Build`]: there is no such profile.
    pub fn new(install: &'a Install, simulator: &'a dyn Simulator, chip: &'a Chip, out: &Path) -> Result<Self, Error> {
        let directory = out.join(format!("mxu.{}", chip.board.name));
        Ok(Self { bench: Bench::new(install, simulator, chip, out)?, directory, built: HashMap::new() })
    }

    /// The board.
    pub fn chip(&self) -> &'a Chip {
        self.bench.chip
    }

    /// The experiments that are repeated on it.
    pub(super) fn plan(&self) -> &'a Plan {
        self.chip().figures()
    }

    /// Cycles in a microsecond.
    pub(super) fn cycles_per_us(&self) -> u64 {
        self.bench.profile.cpu_hz() / 1_000_000
    }

    /// Ways of the second-level cache, if there is one.
    pub(super) fn ways(&self) -> u32 {
        self.bench.profile.parameters.application.as_ref().map_or(0, |core| core.l2.cache.ways.value)
    }

    /// Beginning of the ids of its rows.
    pub(super) fn prefix(&self) -> String {
        self.chip().rows(kinds::FIGURES)
    }

    /// A row without figures.
    pub(super) fn row(&self, id: &str, operation: String) -> Row {
        self.bench.row(id.to_owned(), "Cofferdam", operation)
    }

    /// Name of the directory of a row's runs.
    pub(super) fn name(&self, id: &str) -> String {
        id.strip_prefix(&self.prefix()).unwrap_or(id).to_owned()
    }

    /// Admits, builds and runs a variation.
    ///
    /// # Errors
    /// [`Error::Build`] when a program does not build, [`Error::Run`] when the run breaks a rule that hardware would enforce, or does not end.
    pub fn run(&mut self, variation: &Variation) -> Result<Ran, Error> {
        let refused = |d: &manifest::Diagnostic| Ran::Refused(format!("{}: {}", d.refusal().code, d.refusal().message));
        let loaded = self.load(variation)?;
        let system = match loaded.admit(true) {
            Ok(admitted) => admitted.system,
            Err(found) => return Ok(found.first().map_or_else(|| Ran::Refused("refused".to_owned()), refused)),
        };
        let names = || system.domains.iter().map(|domain| &domain.name);
        let key = names().fold(variation.system.clone(), |key, name| key + "+" + name);
        if !self.built.contains_key(&key) {
            let built =
                programs(self.bench.install, &loaded, &mut |_| ()).map_err(|d| Error::Build(d.to_string()))?.programs;
            self.built.insert(key.clone(), built);
        }
        let programs = &self.built[&key];
        let placed = match place_programs(self.bench.install, &loaded, &system, programs) {
            Ok(placed) => placed,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let directory = self.directory.join(&variation.name);
        let write = |name: &str, bytes: &[u8]| {
            let path = directory.join(name);
            write_file(&path, bytes).map_err(|d| Error::Build(d.to_string())).map(|()| path)
        };
        let image = write("image.elf", &placed.image)?;
        let kernel = write("kernel.elf", &programs.kernel)?;
        let mut symbols = Symbols::default();
        for (name, elf) in names().zip(&placed.domains) {
            symbols.add(&write(&format!("{name}.elf"), elf)?)?;
        }
        let work = names().position(|name| name == WORK).unwrap_or_default() as u8;
        let watch = self.watch(variation, &kernel, &symbols, work)?;
        self.start(variation, Run::new(build_tool::machine(&loaded.board), image, directory.clone(), watch), work)
    }

    /// Runs a variation whose workload does its work.
    ///
    /// # Errors
    /// As [`Figures::run`], and [`Error::Run`] when it is refused or the workload fails.
    pub(super) fn complete(&mut self, variation: &Variation) -> Result<Measured, Error> {
        match self.run(variation)? {
            Ran::Done(run) if run.status == 0 => Ok(run),
            other => Err(Error::Run(format!("{}: {other:?}", variation.name))),
        }
    }

    fn load(&self, variation: &Variation) -> Result<Loaded, Error> {
        let build = |d: manifest::Diagnostic| Error::Build(d.to_string());
        let path = self.bench.install.root.join(format!("eval/systems/mxu/{}.toml", variation.system));
        let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| Error::file(&path, &error))?;
        manifests::vary(&mut table, variation, &self.chip().board.name)
            .ok_or_else(|| Error::file(&path, &"an expected key is missing"))?;
        let text = toml::to_string(&Value::Table(table)).map_err(|error| Error::file(&path, &error))?;
        Loaded::new(self.bench.install, Document::parse(&path, &text).map_err(build)?).map_err(build)
    }

    fn watch(&self, variation: &Variation, kernel: &Path, symbols: &Symbols, work: u8) -> Result<Watch, Error> {
        let probe = |(start, end): &(&str, &str)| {
            let (first, last) = (symbols.code(start)?, symbols.code(end)?);
            Ok(ProbeWatch {
                name: (*start).to_owned(),
                start: first,
                end: last,
                end_domain: Some(work),
                ..ProbeWatch::default()
            })
        };
        let probes = variation.probes.iter().map(probe).collect::<Result<_, Error>>()?;
        let own = Interference { domain: Some(work), ..Interference::default() };
        let interference = match variation.usage.map(|usage| usage.emptied) {
            None | Some(Emptied::Never) => None,
            Some(Emptied::Every(every_cycles)) => Some(Interference { every_cycles, ..own }),
            Some(Emptied::Marked) => Some(Interference { mark: Some(mark::INTERFERE), ..own }),
        };
        Ok(Watch { quantum_cycles: QUANTUM, probes, interference, ..self.bench.watch(kernel)? })
    }

    fn start(&self, variation: &Variation, run: Run, work: u8) -> Result<Ran, Error> {
        let outcome = match run.start(self.bench.simulator, &mut |_| Go::On) {
            Ok(outcome) => outcome,
            // One figure less is no reason to have none.
            Err(RunError::NoSummary { ended, .. }) => return Ok(Ran::Refused(format!("no figure: QEMU {ended}"))),
            Err(error) => return Err(Error::Run(error.to_string())),
        };
        let summary = &outcome.summary;
        if summary.end.reason != EndReason::Exit || !summary.is_clean() {
            let (end, first) = (&summary.end, summary.violations.first());
            return Err(Error::Run(format!("{}: ended by {end:?}, first violation {first:?}", variation.name)));
        }
        let events = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
        let mut measured = collect(events, work).map_err(Error::Run)?;
        measured.status = summary.end.status.unwrap_or(-1);
        measured.probes = summary.probes.iter().map(|probe| (probe.cycles.max, probe.instructions.max)).collect();
        measured.miss_cycles = miss_cycles(summary, self.chip().exceptions().miss);
        let own = summary.domains.iter().find(|counters| counters.domain == work);
        measured.translation = own.map(|counters| counters.translation).unwrap_or_default();
        Ok(Ran::Done(measured))
    }
}

/// Median cycles of a miss; 0 where there are none.
fn miss_cycles(summary: &Summary, miss: Option<u16>) -> u64 {
    let fault = summary.masked.vectors.iter().find(|vector| Some(vector.exception) == miss);
    fault.map_or(0, |vector| vector.cycles.median)
}

/// Numbers of the workloads' marks.
mod mark {
    pub const STRETCH: u16 = 1;
    pub const RESULT_LOW: u16 = 2;
    pub const RESULT_HIGH: u16 = 3;
    pub const TOO_LARGE: u16 = 4;
    pub const INTERFERE: u16 = 5;
}

/// Sorts the records of a run by stretch of the domain `work`.
pub(crate) fn collect(events: impl std::io::Read, work: u8) -> Result<Measured, String> {
    const MARK: u8 = abi::trace::Event::Mark as u8;
    const MISS: u8 = abi::trace::Event::Miss as u8;
    const SWITCH: u8 = abi::trace::Event::Switch as u8;
    let mut measured = Measured::default();
    let (mut current, mut began) = (Stretch::default(), 0);
    // The thread that marks is the workload; an adversary's misses in the same domain are not its.
    let (mut running, mut worker) = (None, None);
    for event in EventsReader::new(events).map_err(|error| error.to_string())? {
        let event = event.map_err(|error| error.to_string())?;
        match (event.event, event.detail) {
            (SWITCH, thread) => running = Some(thread),
            (MISS, _) if event.domain == work && running == worker => current.misses += 1,
            (observed::PROBE, 0) => current.probed += u64::from(event.payload),
            (MARK, mark::STRETCH) if event.domain == work => {
                worker = running;
                if current.number != 0 {
                    current.cycles = event.cycle - began;
                    measured.stretches.push(current);
                }
                (current, began) = (Stretch { number: event.payload, ..Stretch::default() }, event.cycle);
            }
            (MARK, mark::RESULT_LOW) => measured.results.push(event.payload.into()),
            (MARK, mark::RESULT_HIGH) => {
                if let Some(last) = measured.results.last_mut() {
                    *last |= u64::from(event.payload) << 32;
                }
            }
            (MARK, mark::TOO_LARGE) => measured.too_large = event.payload.into(),
            _ => {}
        }
    }
    Ok(measured)
}
