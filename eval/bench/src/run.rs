//! The whole bench: build, run, judge, write.

use std::path::{Path, PathBuf};

use build_tool::Install;
use object::{Object, ObjectSegment, SegmentFlags};
use record::Range;

use crate::chip::{self, Chip};
use crate::figures::{self, Figures};
use crate::subject::{Bench, Subject};
use crate::{Error, Peer, Row, Symbols, grants, heaps, judge, micro, paths, peers, rows, speed, systems};

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
    let simulator = runner::find().map_err(|error| Error::Run(error.to_string()))?;
    let chips = chip::all(&install)?;
    std::fs::create_dir_all(&options.out_dir).map_err(|error| Error::file(&options.out_dir, &error))?;
    let wants =
        |prefix: &str| options.only.as_deref().is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only));
    let mut all = Vec::new();
    for chip in chips.iter().filter(|chip| wants(chip.prefix())) {
        let place = systems::Place::new(&install, &*simulator, chip, &options.out_dir)?;
        all.extend(on_board(&place, options, &wants, progress)?);
    }
    for chip in chips.iter().filter(|chip| wants(&chip.rows(figures::KIND))) {
        let mut figures = Figures::new(&install, &*simulator, chip, &options.out_dir)?;
        all.extend(figures::measure(&mut figures, options.only.as_deref(), progress)?);
    }
    if speed::is_wanted(options.only.as_deref()) {
        all.extend(speed::measure(&install, &*simulator, &chips, &options.out_dir, options.only.as_deref(), progress)?);
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
    place: &systems::Place<'_>,
    options: &Options,
    wants: &dyn Fn(&str) -> bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let wants = |kind| wants(&place.chip.rows(kind));
    let mut all = subjects(place, options, progress)?;
    if wants(heaps::KIND) {
        all.extend(heaps::measure(place, progress)?);
    }
    if wants(grants::KIND) {
        all.extend(grants::measure(place, progress)?);
    }
    if wants(micro::KIND) {
        all.extend(micro::measure(place.install, place.simulator, place.chip, &options.out_dir, progress)?);
    }
    if wants(paths::KIND) {
        all.extend(paths::measure(place, progress)?);
    }
    Ok(all)
}

/// The rows of the benchmark system on a board, and of the peers that run there.
fn subjects(place: &systems::Place<'_>, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let chip = place.chip;
    let bench = Bench { simulator: place.simulator, chip, profile: &place.profile, directory: &options.out_dir };
    let mut all = Vec::new();
    for which in core::iter::once(None).chain(chip.peers().iter().map(Some)) {
        if !is_wanted(chip, which, options.only.as_deref()) {
            continue;
        }
        let subject = match which {
            None => cofferdam(place, progress)?,
            Some(peer) => {
                progress(&format!("{}: building", peer.title));
                peer_subject(place.install, chip, peer, &options.out_dir)?
            }
        };
        progress(&format!("{} on {}: running", subject.title, chip.board.name));
        all.extend(subject.measure(&bench)?);
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
    let kinds = [figures::KIND, heaps::KIND, grants::KIND, micro::KIND, paths::KIND];
    let measured = rows::kind(id).is_some_and(|kind| kinds.contains(&kind));
    let base = if measured { String::new() } else { base.to_owned() };
    (place, base, peer)
}

/// The benchmark system, built.
fn cofferdam(place: &systems::Place<'_>, progress: &mut dyn FnMut(&str)) -> Result<Subject, Error> {
    let built =
        place.build(&place.chip.systems().benchmark, &mut |what| progress(&format!("Cofferdam: building {what}")))?;
    let mut symbols = Symbols::default();
    symbols.add(&built.kernel)?;
    for domain in &built.domains {
        symbols.add(domain)?;
    }
    Ok(Subject {
        title: "Cofferdam".to_owned(),
        suffix: None,
        image: built.image,
        trace_port: symbols.address("COFFERDAM_TRACE_PORT")?,
        kernel_text: code_of(&built.kernel)?,
        kernel: built.kernel,
        symbols,
        operations: place.chip.operations(None),
        handlers: place.chip.masked_rows(),
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

/// Address ranges of a program's executable segments.
pub(crate) fn code_of(path: &Path) -> Result<Vec<Range>, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
    let file = object::File::parse(&*bytes).map_err(|error| Error::file(path, &error))?;
    let executable = |flags| matches!(flags, SegmentFlags::Elf { p_flags } if p_flags & object::elf::PF_X != 0);
    let segments = file.segments().filter(|segment| executable(segment.flags()));
    Ok(segments.map(|s| Range { start: s.address() as u32, end: (s.address() + s.size()) as u32 }).collect())
}
