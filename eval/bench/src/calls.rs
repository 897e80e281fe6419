//! Calls between labels: one system, one run, the cycles of every call, and the marks of the system.

use std::fs::File;
use std::path::Path;

use record::{EventsReader, Watch, observed};

use crate::bench::Bench;
use crate::rows::Cycles;
use crate::{Error, Symbols};

/// A system whose calls are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System<'a> {
    /// Manifest, from the root of the repository.
    pub manifest: &'a str,
    /// Name of the run's directory, and in messages.
    pub name: &'a str,
    /// The part of the labels between `probe_` and `_start` or `_end`.
    pub probes: &'a [String],
}

/// The measurements of one run.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Cycles of every call between the labels, in their order; those that only warm the caches among them.
    pub samples: Vec<Vec<u32>>,
    /// Instructions of the middle call of each pair of labels; of a call into the kernel all of it.
    pub instructions: Vec<u64>,
    /// Number and value of each mark.
    pub marks: Vec<(u16, u32)>,
}

/// Builds and runs a system.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(system: System<'_>, bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Calls, Error> {
    let name = system.name;
    let mut told = |what: &str| progress(&format!("{name}: building {what}"));
    let built = bench.build(system.manifest, &mut told)?;
    progress(&format!("{name} on {}: running", bench.chip.board.name));
    let mut symbols = Symbols::default();
    symbols.add_domains(&built.domains)?;
    let watch = watch(bench, &built.kernel, &symbols, system.probes)?;
    let outcome = bench.start(name, &built.image, name, watch)?;
    let summary = &outcome.summary;
    let events = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    let calls = collect(events, system.probes.len(), bench.chip.exceptions().call).map_err(Error::Run)?;
    Ok(Calls { instructions: summary.probes.iter().map(|probe| probe.instructions.median).collect(), ..calls })
}

fn watch(bench: &Bench<'_>, kernel: &Path, symbols: &Symbols, probes: &[String]) -> Result<Watch, Error> {
    let probe = |name: &String| symbols.probe(name, &format!("probe_{name}_start"), &format!("probe_{name}_end"));
    let probes = probes.iter().map(probe).collect::<Result<_, Error>>()?;
    Ok(Watch { exception_events: true, probes, ..bench.watch(kernel)? })
}

/// The marks, and the cycles of every call. One that an interrupt (the kernel's timer) or a fault has interrupted is no sample: neither is part of it.
pub(crate) fn collect(events: impl std::io::Read, probes: usize, system_call: u16) -> Result<Calls, String> {
    const MARK: u8 = abi::trace::Event::Mark as u8;
    let mut calls = Calls { samples: vec![Vec::new(); probes], ..Calls::default() };
    let mut interrupted = None;
    for event in EventsReader::new(events).map_err(|error| error.to_string())? {
        let event = event.map_err(|error| error.to_string())?;
        match event.event {
            observed::EXCEPTION_ENTRY if event.detail != system_call => interrupted = Some(event.cycle),
            observed::PROBE if interrupted >= Some(event.cycle.saturating_sub(u64::from(event.payload))) => {}
            observed::PROBE => {
                if let Some(list) = calls.samples.get_mut(usize::from(event.detail)) {
                    list.push(event.payload);
                }
            }
            MARK => calls.marks.push((event.detail, event.payload)),
            _ => {}
        }
    }
    Ok(calls)
}

/// The worst case may be so many times the median.
pub(crate) const RATIO: f64 = 2.0;

/// The largest value over the median.
pub(crate) fn ratio(cycles: Cycles) -> f64 {
    cycles.max as f64 / cycles.median.max(1) as f64
}
