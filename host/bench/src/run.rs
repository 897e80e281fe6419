//! The whole bench: build, run, judge, write.

use std::path::{Path, PathBuf};

use build_tool::Install;
use object::{Object, ObjectSegment, SegmentFlags};
use record::Range;
use runner::Tools;

use crate::figures::{self, Figures};
use crate::peers::BOARD;
use crate::subject::{Bench, Subject};
use crate::{
    COFFERDAM, COFFERDAM_A9, Error, HANDLERS_A9, MASKED_A9, Peer, Row, Symbols, grants, heaps, judge, of_peer, paths,
    peers, rows, systems, targets,
};

/// The chip under which everything is measured.
pub(crate) const PROFILE: &str = "stm32f767";
/// The system of Cofferdam that is measured.
const SYSTEM: &str = "examples/bench/system.toml";
/// Name of the file in [`Options::out_dir`].
const FILE: &str = "bench.json";

/// The rows that a system of Cofferdam yields.
#[derive(Clone, Copy)]
struct Rows {
    operations: &'static [crate::Operation],
    masked: (&'static str, &'static str),
    handlers: &'static [(&'static str, &'static str, core::ops::RangeInclusive<u32>)],
}

const ROWS: Rows = Rows { operations: COFFERDAM, masked: crate::MASKED, handlers: crate::HANDLERS };

/// Another board on which Cofferdam is measured, without peers.
struct Other {
    prefix: &'static str,
    board: &'static str,
    profile: &'static str,
    system: &'static str,
    rows: Rows,
}

const A9: Other = Other {
    prefix: "a9",
    board: "xilinx-zynq-a9",
    profile: "xc7z020",
    system: "examples/bench/a9.toml",
    rows: Rows { operations: COFFERDAM_A9, masked: MASKED_A9, handlers: HANDLERS_A9 },
};

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
    let profile = build_tool::Profile::find(&install, PROFILE, &install.root);
    let profile = profile.map_err(|refusal| Error::Build(refusal.to_string()))?;
    std::fs::create_dir_all(&options.out_dir).map_err(|error| Error::file(&options.out_dir, &error))?;
    let bench = Bench { tools: &tools, board: BOARD, profile: (PROFILE, &profile.text), directory: &options.out_dir };
    let mut all = Vec::new();
    for which in core::iter::once(None).chain(Peer::ALL.map(Some)) {
        if !is_wanted(which, options.only.as_deref()) {
            continue;
        }
        let subject = match which {
            None => cofferdam(&install, SYSTEM, ROWS, progress)?,
            Some(peer) => {
                progress(&format!("{}: building", peer.title()));
                peer_subject(&install, peer, &options.out_dir)?
            }
        };
        progress(&format!("{}: running", subject.title));
        all.extend(subject.measure(&bench)?);
    }
    let wants =
        |prefix: &str| options.only.as_deref().is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only));
    if wants(A9.prefix) {
        let profile = build_tool::Profile::find(&install, A9.profile, &install.root);
        let profile = profile.map_err(|refusal| Error::Build(refusal.to_string()))?;
        let bench = Bench { board: A9.board, profile: (A9.profile, &profile.text), ..bench };
        let subject = cofferdam(&install, A9.system, A9.rows, progress)?;
        progress(&format!("{} on {}: running", subject.title, A9.board));
        all.extend(subject.measure(&bench)?);
    }
    if wants(heaps::PREFIX) {
        all.extend(heaps::measure(&install, &tools, &profile, &options.out_dir, progress)?);
    }
    if wants(grants::PREFIX) {
        all.extend(grants::measure(&install, &tools, &profile, &options.out_dir, progress)?);
    }
    if wants(paths::PREFIX) {
        all.extend(paths::measure(&install, &tools, &profile, &options.out_dir, progress)?);
    }
    if wants(figures::PREFIX) {
        let mut figures = Figures::new(&install, &tools, &profile, &options.out_dir);
        all.extend(figures::measure(&mut figures, options.only.as_deref(), progress)?);
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

/// Whether some row of a subject has an id that begins with `only`.
fn is_wanted(which: Option<Peer>, only: Option<&str>) -> bool {
    let Some(only) = only else { return true };
    ids(which).iter().any(|id| id.starts_with(only))
}

/// Ids of a subject's rows.
pub(crate) fn ids(which: Option<Peer>) -> Vec<String> {
    let (operations, suffix) =
        which.map_or((COFFERDAM, String::new()), |peer| (of_peer(peer), format!(".{}", peer.suffix())));
    let handlers = crate::HANDLERS.iter().filter(|_| which.is_none()).map(|handler| handler.0);
    let all = operations.iter().map(|operation| operation.id).chain([crate::MASKED.0]).chain(handlers);
    all.map(|id| format!("{id}{suffix}")).collect()
}

/// Rows stand in the order of Cofferdam's operations, the peers' below each, and then the figures as they were measured.
fn position(id: &str) -> (usize, String, usize) {
    let order: Vec<&str> = COFFERDAM
        .iter()
        .map(|operation| operation.id)
        .chain([crate::MASKED.0])
        .chain(crate::HANDLERS.iter().map(|handler| handler.0))
        .collect();
    let of = |peer: &Peer| id.strip_suffix(peer.suffix())?.strip_suffix('.');
    let peer = Peer::ALL.iter().position(|peer| of(peer).is_some());
    let base = Peer::ALL.iter().find_map(of).unwrap_or(id);
    let place = order.iter().position(|known| *known == base).unwrap_or(order.len());
    let prefixes = [heaps::PREFIX, grants::PREFIX, paths::PREFIX, figures::PREFIX];
    let measured = prefixes.iter().any(|prefix| id.starts_with(prefix));
    let base = if measured { String::new() } else { base.to_owned() };
    (place, base, peer.map_or(0, |peer| peer + 1))
}

/// The benchmark system, built.
fn cofferdam(install: &Install, manifest: &str, rows: Rows, progress: &mut dyn FnMut(&str)) -> Result<Subject, Error> {
    let built = systems::build(install, manifest, &mut |what| progress(&format!("Cofferdam: building {what}")))?;
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
        operations: rows.operations,
        masked: rows.masked,
        handlers: rows.handlers,
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
        masked: crate::MASKED,
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
