//! The whole bench: build, run, judge, write.

use std::path::{Path, PathBuf};

use crate::bench::{Bench, code_of};
use crate::chip::{self, Chip};
use crate::figures::{self, Figures};
use crate::rows::kinds;
use crate::subject::Subject;
use crate::{
    Error, Peer, Row, Symbols, direct, grants, heaps, images, judge, micro, paths, peers, rows, speed, traces,
};
use build_tool::Install;

/// Name of the file in [`Options::out_dir`].
const FILE: &str = "bench.json";

/// The rows to measure, and the directory for the results.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of `bench.json` and of the runs' files; created when missing.
    pub out_dir: PathBuf,
    /// Only rows whose ids begin so; `bench.json` then holds only these.
    pub only: Option<String>,
}

/// Builds and measures Cofferdam and its peers and writes `bench.json`. `progress` is told what is done next.
///
/// # Errors
/// Any error that keeps a figure from being measured; a missed target does not.
pub fn run(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let install = Install::find().map_err(|refusal| Error::Build(refusal.to_string()))?;
    let chips = chip::all(&install)?;
    std::fs::create_dir_all(&options.out_dir).map_err(|error| Error::file(&options.out_dir, &error))?;
    let wants =
        |prefix: &str| options.only.as_deref().is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only));
    let mut all = Vec::new();
    for chip in chips.iter().filter(|chip| wants(chip.prefix())) {
        let simulator = chip.simulator()?;
        let bench = Bench::new(&install, &*simulator, chip, &options.out_dir)?;
        all.extend(on_board(&bench, options, &wants, progress)?);
    }
    for chip in chips.iter().filter(|chip| wants(&chip.rows(kinds::FIGURES))) {
        let simulator = chip.simulator()?;
        let mut figures = Figures::new(&install, &*simulator, chip, &options.out_dir)?;
        all.extend(figures::measure(&mut figures, options.only.as_deref(), progress)?);
    }
    if speed::is_wanted(options.only.as_deref()) {
        all.extend(speed::measure(&install, &chips, &options.out_dir, options.only.as_deref(), progress)?);
    }
    if traces::is_wanted(options.only.as_deref()) {
        all.extend(traces::measure(&install, &options.out_dir, options.only.as_deref(), progress)?);
    }
    let targets: Vec<_> = chips.iter().flat_map(Chip::targets).collect();
    judge(&mut all, &targets);
    if let Some(only) = &options.only {
        all.retain(|row| row.id.starts_with(only.as_str()));
        if all.is_empty() {
            return Err(Error::NoSuchRow(only.clone()));
        }
    }
    // Stable: the figures, which have no position, keep the order in which they were measured.
    all.sort_by_cached_key(|row| position(&chips, &row.id));
    rows::write(&options.out_dir.join(FILE), &all)?;
    Ok(all)
}

/// The rows of a board, but for its figures: those come behind the rows of all boards.
fn on_board(
    bench: &Bench<'_>,
    options: &Options,
    wants: &dyn Fn(&str) -> bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let wants = |kind| wants(&bench.chip.rows(kind));
    let mut all = subjects(bench, options, progress)?;
    if wants(kinds::DIRECT) {
        all.extend(direct::measure(bench, progress)?);
    }
    if wants(kinds::IMAGE) {
        all.extend(images::measure(bench, progress)?);
    }
    if wants(kinds::HEAP) {
        all.extend(heaps::measure(bench, progress)?);
    }
    if wants(kinds::MANAGER) {
        all.extend(grants::measure(bench, progress)?);
    }
    if wants(kinds::MICRO) {
        all.extend(micro::measure(bench, progress)?);
    }
    if wants(kinds::PATH) {
        all.extend(paths::measure(bench, progress)?);
    }
    Ok(all)
}

/// The rows of the benchmark system on a board, and of the peers that run there.
fn subjects(bench: &Bench<'_>, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let chip = bench.chip;
    let mut all = Vec::new();
    for which in core::iter::once(None).chain(chip.peers().iter().map(Some)) {
        if !is_wanted(chip, which, options.only.as_deref()) {
            continue;
        }
        let subject = match which {
            None => cofferdam(bench, progress)?,
            Some(peer) => {
                progress(&format!("{}: building", peer.title));
                peer_subject(bench.install, chip, peer, &options.out_dir)?
            }
        };
        progress(&format!("{} on {}: running", subject.title, chip.board.name));
        all.extend(subject.measure(bench)?);
    }
    Ok(all)
}

/// Whether some row of a subject has an id that begins with `only`.
fn is_wanted(chip: &Chip, which: Option<&Peer>, only: Option<&str>) -> bool {
    let Some(only) = only else { return true };
    chip.subject_ids(which).iter().any(|id| id.starts_with(only))
}

/// Rows stand in the order of Cofferdam's operations, the peers' below each, and then the figures as they were measured.
fn position(chips: &[Chip], id: &str) -> (usize, String, usize) {
    let order: Vec<String> = chips.iter().flat_map(|chip| chip.subject_ids(None)).collect();
    let peers = chips.iter().flat_map(Chip::peers);
    let of = |peer: &Peer| id.strip_suffix(peer.suffix.as_str())?.strip_suffix('.');
    let found = peers.enumerate().find_map(|(index, peer)| Some((index + 1, of(peer)?)));
    let (peer, base) = found.unwrap_or((0, id));
    let place = order.iter().position(|known| *known == base).unwrap_or(order.len());
    let kinds = [kinds::DIRECT, kinds::FIGURES, kinds::HEAP, kinds::IMAGE, kinds::MANAGER, kinds::MICRO, kinds::PATH];
    let measured = rows::kind(id).is_some_and(|kind| kinds.contains(&kind));
    let base = if measured { String::new() } else { base.to_owned() };
    (place, base, peer)
}

/// The benchmark system, built.
fn cofferdam(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Subject, Error> {
    let built =
        bench.build(&bench.chip.systems().benchmark, &mut |what| progress(&format!("Cofferdam: building {what}")))?;
    let mut symbols = Symbols::default();
    symbols.add(&built.kernel)?;
    symbols.add_domains(&built.domains)?;
    Ok(Subject {
        title: "Cofferdam".to_owned(),
        suffix: None,
        image: built.image,
        trace_port: symbols.address("COFFERDAM_TRACE_PORT")?,
        kernel_text: code_of(&built.kernel)?,
        kernel: built.kernel,
        symbols,
        operations: bench.chip.operations(None),
        handlers: bench.chip.masked_rows(),
    })
}

/// A peer of a board, built into `out`. Its accesses are not checked against the shadowed protection unit: what it isolates is its own affair.
///
/// # Errors
/// [`Error::Sources`], [`Error::Build`], or [`Error::Symbol`] when the image lacks a label.
pub fn peer_subject(install: &Install, chip: &Chip, peer: &Peer, out: &Path) -> Result<Subject, Error> {
    let image = peers::build(install, &chip.board, &peers::sources(install)?, peer, out)?;
    let mut symbols = Symbols::default();
    symbols.add(&image)?;
    Ok(Subject {
        title: peer.title.clone(),
        suffix: Some(peer.suffix.clone()),
        kernel: image.clone(),
        image,
        trace_port: symbols.address("peer_port")?,
        kernel_text: Vec::new(),
        symbols,
        operations: chip.operations(Some(peer)),
        handlers: Vec::new(),
    })
}
