//! From an image to a run.

use record::{DomainWatch, Range};
use report::describe;
use runner::{ImageFacts, Mode, ProfileSource, Run, RunError, Watch};

use crate::pipeline::Built;

/// A run of an image with everything that is to be watched; its files go into the system's directory.
///
/// # Errors
/// When the kernel's ELF cannot be read.
pub fn prepare(built: &Built, exact: bool) -> Result<Run, RunError> {
    let facts = ImageFacts::read(&built.kernel)?;
    let loaded = &built.loaded;
    let limit = loaded.document.manifest.run.limit.0;
    let cycles = u128::from(limit) * u128::from(loaded.profile.cpu_hz()) / 1_000_000_000;
    let areas = &built.description.kernel_areas;
    let code = areas.iter().filter(|area| area.access.contains('x'));
    let watch = Watch {
        profile: ProfileSource::Text(loaded.profile.text.clone()),
        mode: if exact { Mode::Exact } else { Mode::Quantum },
        trace_port: facts.trace_port,
        vectors: facts.vectors,
        kernel_text: code.map(|area| range(area.base, area.bytes)).collect(),
        domains: built.description.domains.iter().map(|domain| watched(built, domain)).collect(),
        cycle_limit: u64::try_from(cycles).unwrap_or(u64::MAX),
        ..Watch::default()
    };
    let mut run = Run::new(&built.image, built.dir.join("run"), watch);
    run.board.clone_from(&loaded.board.machine);
    Ok(run)
}

fn range(base: u64, bytes: u64) -> Range {
    Range { start: base as u32, end: (base + bytes) as u32 }
}

/// What of a domain is its own, and what else it may store to.
fn watched(built: &Built, domain: &describe::Domain) -> DomainWatch {
    let written = |area: &&describe::Area| area.access.contains('w');
    let own = |area: &describe::Area| !area.shared && area.memory != "device";
    let ranges = |keep: &dyn Fn(&describe::Area) -> bool| {
        let areas = domain.areas.iter().filter(written).filter(|area| keep(area));
        areas.map(|area| range(area.base, area.bytes)).collect()
    };
    DomainWatch {
        domain: domain.index,
        hostile: domain.hostile,
        ram: ranges(&own),
        may_store: [ranges(&|area| !own(area)), mappable(built, &domain.name)].concat(),
    }
}

/// Memory that a domain can be given while the system runs: the frames that it holds, or that somebody holds who also holds the
/// domain.
fn mappable(built: &Built, name: &str) -> Vec<Range> {
    let manifest = &built.loaded.document.manifest;
    let gives = |giver: &str, domain: &manifest::Domain| {
        giver == name || domain.uses.values().any(|held| held.domain.as_deref() == Some(name))
    };
    let givers = manifest.domain.iter().filter(|(giver, domain)| gives(giver, domain));
    let held = givers.flat_map(|(_, domain)| domain.uses.values().filter_map(|held| held.frames.as_deref()));
    let indices = held.filter_map(|frames| manifest.frames.get_index_of(frames));
    let ranges = indices.filter_map(|index| built.placed.layout.frames.get(index));
    ranges.map(|(base, bytes)| range(u64::from(*base), u64::from(*bytes))).collect()
}
