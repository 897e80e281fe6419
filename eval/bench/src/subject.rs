//! One image under measurement: run in the exact mode, its probes turned into rows.

use std::fs::File;
use std::path::PathBuf;

use record::{EndReason, Range, Summary, Watch};
use runner::{Go, Mode, Run};

use crate::bench::{self, Bench};
use crate::chip::{Chip, MaskedRow};
use crate::operations::MASKED;
use crate::rows::{Cycles, Row};
use crate::{Error, Operation, Symbols, samples};

/// A run that takes longer in modelled time hangs.
const LIMIT_SECONDS: u64 = 4;

/// An image with the operations that are measured in it.
#[derive(Debug)]
pub struct Subject {
    /// Its name in the table.
    pub title: String,
    /// Suffix of the ids of its rows.
    pub suffix: Option<String>,
    /// The image.
    pub image: PathBuf,
    /// The program with the vectors at their final addresses: the kernel, or the image itself.
    pub kernel: PathBuf,
    /// Labels of all programs in the image.
    pub symbols: Symbols,
    /// The operations that are measured.
    pub operations: Vec<Operation>,
    /// Rows of handlers.
    pub handlers: Vec<MaskedRow>,
    /// Address of the port to which the image writes that start-up is over.
    pub trace_port: u32,
    /// Code that runs privileged; empty when accesses are not checked against the shadowed protection unit.
    pub kernel_text: Vec<Range>,
}

impl Subject {
    fn watch(&self, bench: &Bench<'_>) -> Result<Watch, Error> {
        let probe = |operation: &Operation| {
            self.symbols.probe(&self.id(bench.chip, &operation.id), &operation.start, &operation.end)
        };
        Ok(Watch {
            mode: Mode::Exact,
            trace_port: Some(self.trace_port),
            kernel_text: self.kernel_text.clone(),
            cycle_limit: LIMIT_SECONDS * bench.profile.cpu_hz(),
            probes: self.operations.iter().map(probe).collect::<Result<_, Error>>()?,
            ..bench.watch(&self.kernel)?
        })
    }

    /// Id of this subject's row for an operation on a board.
    fn id(&self, chip: &Chip, operation: &str) -> String {
        let id = format!("{}.{operation}", chip.prefix());
        self.suffix.as_ref().map_or_else(|| id.clone(), |suffix| format!("{id}.{suffix}"))
    }

    /// Runs the image to its end and returns a row for each operation, and one for the longest masked stretch.
    ///
    /// # Errors
    /// [`Error::Run`] when the run does not end with status 0, breaks a rule that hardware would enforce, or yields too few
    /// samples of an operation; [`Error::Symbol`] when a label is missing.
    pub fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>, Error> {
        let directory = bench.directory(self.suffix.as_deref().unwrap_or("cofferdam"));
        let machine = build_tool::machine(&bench.chip.board);
        let run = Run::new(machine, &self.image, directory, self.watch(bench)?);
        let outcome = run.start(bench.simulator, &mut |_| Go::On).map_err(|error| Error::Run(error.to_string()))?;
        self.check(&outcome.summary)?;
        let events = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
        let samples = samples::collect(events, self.operations.len()).map_err(Error::Run)?;
        let mut rows = Vec::new();
        for ((operation, samples), probe) in self.operations.iter().zip(&samples).zip(&outcome.summary.probes) {
            let cycles = samples::warm(samples).ok_or_else(|| {
                let (name, found) = (&probe.name, samples.len());
                Error::Run(format!("{}: {name} was reached {found} times, which is too few", self.title))
            })?;
            let instructions = if operation.worst { probe.instructions.max } else { probe.instructions.median };
            let row = self.row(bench, &operation.id, &operation.about, cycles, instructions);
            rows.push(Row { paper: operation.paper.clone(), ..row });
        }
        rows.extend(self.longest_masked(bench, &outcome.summary));
        rows.extend(self.longest_of_handlers(bench, &outcome.summary));
        Ok(rows)
    }

    fn check(&self, summary: &Summary) -> Result<(), Error> {
        let end = &summary.end;
        if end.reason != EndReason::Exit || end.status != Some(0) {
            return Err(Error::Run(format!(
                "{}: the run ended by {:?}, status {:?}",
                self.title, end.reason, end.status
            )));
        }
        if let Some(first) = summary.violations.first() {
            let total = summary.violations_total;
            return Err(Error::Run(format!("{}: {total} violations, the first is {first:?}", self.title)));
        }
        Ok(())
    }

    /// The longest stretch in cycles, and the largest number of instructions of any.
    fn longest_masked(&self, bench: &Bench<'_>, summary: &Summary) -> Option<Row> {
        let masked = &summary.masked;
        let longest = masked.longest?;
        let of_vectors = masked.vectors.iter().map(|vector| vector.instructions.max).max().unwrap_or(0);
        let cycles = Cycles { median: longest.cycles, max: longest.cycles };
        Some(self.row(bench, MASKED.0, MASKED.1, cycles, of_vectors.max(longest.instructions)))
    }

    /// The longest activation of each handler; its cycles are the middle one's and the longest's.
    fn longest_of_handlers(&self, bench: &Bench<'_>, summary: &Summary) -> Vec<Row> {
        let vectors = &summary.masked.vectors;
        let rows = self.handlers.iter().filter_map(|MaskedRow { id, about, served: [first, last] }| {
            let own = vectors.iter().filter(|vector| (first..=last).contains(&&vector.exception));
            let longest = own.max_by_key(|vector| vector.instructions.max)?;
            let cycles = Cycles { median: longest.cycles.median, max: longest.cycles.max };
            Some(self.row(bench, id, about, cycles, longest.instructions.max))
        });
        rows.collect()
    }

    fn row(&self, bench: &Bench<'_>, id: &str, about: &str, cycles: Cycles, instructions: u64) -> Row {
        let blank = bench::row(bench.chip, self.id(bench.chip, id), &self.title, about.to_owned());
        Row { cycles, instructions, ..blank }
    }
}
