//! The whole bench: build, run, judge, write.

use std::path::{Path, PathBuf};

use build_tool::Install;
use object::{Object, ObjectSegment, SegmentFlags};
use record::Range;
use runner::Tools;

use crate::chip::{self, A9, Basic, Chip, M7};
use crate::figures::{self, Figures};
use crate::peers::BOARD;
use crate::subject::{Bench, Subject};
use crate::{
    Error, Peer, Row, Symbols, grants, heaps, judge, micro, of_peer, paths, peers, rows, speed, systems, targets,
};

/// Name of the file in [`Options::out_dir`].
const FILE: &str = "bench.json";

/// What to measure, and where to leave it.
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
/// Whatever keeps a figure from being measured; a missed target does not.
pub fn run(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let install = Install::find().map_err(|refusal| Error::Build(refusal.to_string()))?;
    let tools = Tools::find().map_err(|error| Error::Run(error.to_string()))?;
    std::fs::create_dir_all(&options.out_dir).map_err(|error| Error::file(&options.out_dir, &error))?;
    let wants =
        |prefix: &str| options.only.as_deref().is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only));
    let mut all = Vec::new();
    for chip in chip::ALL.into_iter().filter(|chip| wants(chip.prefix)) {
        let place = systems::Place::new(&install, &tools, chip, &options.out_dir)?;
        all.extend(subjects(&place, options, progress)?);
        if wants(&chip.rows(heaps::KIND)) {
            all.extend(heaps::measure(&place, progress)?);
        }
        if wants(&chip.rows(grants::KIND)) {
            all.extend(grants::measure(&place, progress)?);
        }
        if wants(&chip.rows(micro::KIND)) {
            all.extend(micro::measure(&install, &tools, chip, &options.out_dir, progress)?);
        }
        if wants(&chip.rows(paths::KIND)) {
            all.extend(paths::measure(&place, progress)?);
        }
    }
    if wants(figures::PREFIX) {
        let place = systems::Place::new(&install, &tools, M7, &options.out_dir)?;
        let mut figures = Figures::new(&install, &tools, (place.chip.board, &place.profile), &options.out_dir);
        all.extend(figures::measure(&mut figures, options.only.as_deref(), progress)?);
    }
    if wants(figures::PREFIX_A9) {
        let place = systems::Place::new(&install, &tools, A9, &options.out_dir)?;
        let mut figures = Figures::new(&install, &tools, (place.chip.board, &place.profile), &options.out_dir);
        all.extend(figures::measure_a9(&mut figures, options.only.as_deref(), progress)?);
    }
    if speed::is_wanted(options.only.as_deref()) {
        all.extend(speed::measure(&install, &tools, &options.out_dir, options.only.as_deref(), progress)?);
    }
    judge(&mut all, &targets(include_str!("../targets.toml"))?);
    if let Some(only) = &options.only {
        all.retain(|row| row.id.starts_with(only.as_str()));
        if all.is_empty() {
            return Err(Error::NoSuchRow(only.clone()));
        }
    }
    // Stable: the figures, which have no position, keep the order in which they were measured.
    all.sort_by_cached_key(|row| position(&row.id));
    rows::write(&options.out_dir.join(FILE), &all)?;
    Ok(all)
}

/// The rows of the benchmark system on a board, and of the peers that run there.
fn subjects(place: &systems::Place<'_>, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let chip = place.chip;
    let bench = Bench {
        tools: place.tools,
        board: chip.board,
        machine: place.machine()?,
        profile: (chip.profile, &place.profile.text),
        directory: &options.out_dir,
    };
    let peers: &[Peer] = if chip.board == BOARD { &Peer::ALL } else { &[] };
    let mut all = Vec::new();
    for which in core::iter::once(None).chain(peers.iter().copied().map(Some)) {
        if !is_wanted(&chip, which, options.only.as_deref()) {
            continue;
        }
        let subject = match which {
            None => cofferdam(place, progress)?,
            Some(peer) => {
                progress(&format!("{}: building", peer.title()));
                peer_subject(place.install, peer, &options.out_dir)?
            }
        };
        progress(&format!("{} on {}: running", subject.title, chip.board));
        all.extend(subject.measure(&bench)?);
    }
    Ok(all)
}

/// Whether some row of a subject has an id that begins with `only`.
fn is_wanted(chip: &Chip, which: Option<Peer>, only: Option<&str>) -> bool {
    let Some(only) = only else { return true };
    ids(chip, which).iter().any(|id| id.starts_with(only))
}

/// Ids of a subject's rows.
pub(crate) fn ids(chip: &Chip, which: Option<Peer>) -> Vec<String> {
    let Basic { operations, masked, handlers, .. } = chip.basic;
    let (operations, suffix) =
        which.map_or((operations, String::new()), |peer| (of_peer(peer), format!(".{}", peer.suffix())));
    let handlers = handlers.iter().filter(|_| which.is_none()).map(|handler| handler.0);
    let all = operations.iter().map(|operation| operation.id).chain([masked.0]).chain(handlers);
    all.map(|id| format!("{id}{suffix}")).collect()
}

/// Rows stand in the order of Cofferdam's operations, the peers' below each, and then the figures as they were measured.
fn position(id: &str) -> (usize, String, usize) {
    let order: Vec<String> = chip::ALL.iter().flat_map(|chip| ids(chip, None)).collect();
    let of = |peer: &Peer| id.strip_suffix(peer.suffix())?.strip_suffix('.');
    let peer = Peer::ALL.iter().position(|peer| of(peer).is_some());
    let base = Peer::ALL.iter().find_map(of).unwrap_or(id);
    let place = order.iter().position(|known| *known == base).unwrap_or(order.len());
    let kinds = [heaps::KIND, grants::KIND, micro::KIND, paths::KIND];
    let is_of = |chip: &Chip| kinds.iter().any(|kind| id.starts_with(&chip.rows(kind)));
    let measured = figures::is_one(id) || chip::ALL.iter().any(is_of);
    let base = if measured { String::new() } else { base.to_owned() };
    (place, base, peer.map_or(0, |peer| peer + 1))
}

/// The benchmark system, built.
fn cofferdam(place: &systems::Place<'_>, progress: &mut dyn FnMut(&str)) -> Result<Subject, Error> {
    let basic = place.chip.basic;
    let built = place.build(basic.system, &mut |what| progress(&format!("Cofferdam: building {what}")))?;
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
        operations: basic.operations,
        masked: basic.masked,
        handlers: basic.handlers,
    })
}

/// A peer, built into `out`. Its accesses are not checked against the shadowed protection unit: what it isolates is its own affair.
///
/// # Errors
/// [`Error::Sources`], [`Error::Build`], or [`Error::Symbol`] when the image lacks a label.
pub fn peer_subject(install: &Install, peer: Peer, out: &Path) -> Result<Subject, Error> {
    let image = peers::build(install, &peers::sources(install)?, peer, out)?;
    let mut symbols = Symbols::default();
    symbols.add(&image)?;
    Ok(Subject {
        title: peer.title().to_owned(),
        suffix: Some(peer.suffix()),
        kernel: image.clone(),
        image,
        trace_port: symbols.address("peer_port")?,
        kernel_text: Vec::new(),
        symbols,
        operations: of_peer(peer),
        masked: M7.basic.masked,
        handlers: &[],
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
