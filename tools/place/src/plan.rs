//! Location of everything.

use manager::{HandOver, PoolAt};
use manifest::resolved::{Device, Domain, Item, Part, System};
use spec::{AccessLevel, TemporalSpec};
use system::area;
use system::build::SchemeTables;

use crate::allocate::Space;
use crate::elf::Kernel;
use crate::error::PlaceError;
use crate::handlers::HandlersSpot;
use crate::ledger::Book;
use crate::placed::PlacedWays;
use crate::scheme::{Extras, Scheme, Site};
use crate::spot::{DomainSpot, Range, Spot, pin};

/// Location of everything.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub domains: Vec<DomainSpot>,
    /// Base and size of each file's area.
    pub files: Vec<(u32, u32)>,
    /// Base and size of each untyped range.
    pub frames: Vec<(u32, u32)>,
    /// Address of the tables.
    pub tables: u32,
    pub spaces: Vec<Space>,
    /// The kernel's objects: base and end.
    pub objects: (u32, u32),
    /// Promises that have been made.
    pub ledger: Book,
    /// The pools of frames that the memory manager holds.
    pub pools: Vec<PoolAt>,
    /// Base and size of the area in which the ledger is handed over.
    pub handed_over: Option<(u32, u32)>,
    /// Memory that could be written, and that nobody writes: base and bytes.
    pub read_only: Vec<(u32, u32)>,
    /// The range on the chip in which tables lie: base and bytes.
    pub near_tables: (u32, u32),
    /// Ways that are locked in the second-level cache.
    pub locked: PlacedWays,
    /// The scheme's section of the system's tables.
    pub scheme: SchemeTables,
    /// All that handlers execute, of each domain that has any.
    pub handlers: Vec<HandlersSpot>,
}

/// Room for the tables: they are small, and their exact size is known only when they are written.
pub(crate) const TABLES_BYTES: u64 = 16 * 1024;

impl Plan {
    /// The one order in which everything is placed.
    pub(crate) fn with<S: Scheme>(mut scheme: S, mut site: Site, kernel: &Kernel) -> Result<Plan, PlaceError> {
        let (system, rom) = (site.system, site.rom);
        scheme.begin(&mut site, kernel)?;
        let first = if S::TABLES_FIRST { Some(system_tables(&mut scheme, &mut site)?) } else { None };
        let mut domains = all_domains(&mut scheme, &mut site)?;
        let (files, shared) = common(&mut scheme, &mut site)?;
        let mut frames = Vec::new();
        for range in &system.frames {
            let what = Item::Frames(range.name.clone());
            frames.push(scheme.frames(&mut site.spaces[range.memory], &what, range.bytes)?);
        }
        let handed_over = place_ledger(system, |bytes| scheme.ledger(&mut site.spaces[rom], bytes))?;
        handed_over.into_iter().for_each(|range| scheme.constant(range));
        for (spot, (domain, program)) in domains.iter_mut().zip(system.domains.iter().zip(site.programs)) {
            spot.areas.extend(common_areas(system, domain, &files, &shared));
            spot.areas.extend(handed_over.filter(|_| domain.ledger).map(ledger_area));
            scheme.complete(&site, spot, program);
        }
        let (ledger, pools) = scheme.admit(&mut site, &mut domains, &frames)?;
        domains.iter_mut().for_each(|spot| scheme.checked(spot));
        let tables = first.map_or_else(|| system_tables(&mut scheme, &mut site), Ok)?;
        let objects = (kernel.symbol("__kernel_objects_start")?, kernel.symbol("__kernel_objects_end")?);
        let spaces = site.spaces;
        let Extras { read_only, near_tables, locked, scheme, handlers } = scheme.extras(system, &domains);
        Ok(Plan {
            domains,
            files,
            frames,
            tables,
            spaces,
            objects,
            ledger,
            pools,
            handed_over,
            read_only,
            near_tables,
            locked,
            scheme,
            handlers,
        })
    }
}

/// Places the tables that the kernel boots from.
fn system_tables<S: Scheme>(scheme: &mut S, site: &mut Site) -> Result<u32, PlaceError> {
    let base = site.spaces[site.rom].plain(&Item::Own("the tables"), TABLES_BYTES, S::TABLES_ALIGN)?;
    scheme.constant((base, TABLES_BYTES as u32));
    Ok(base)
}

fn all_domains<S: Scheme>(scheme: &mut S, site: &mut Site) -> Result<Vec<DomainSpot>, PlaceError> {
    let mut order: Vec<usize> = (0..site.system.domains.len()).collect();
    order.sort_by_key(|&index| scheme.order(&site.system.domains[index], &site.programs[index]));
    let mut domains = Vec::new();
    for index in order {
        domains.push((index, scheme.domain(site, index)?));
    }
    domains.sort_by_key(|(index, _)| *index);
    Ok(domains.into_iter().map(|(_, spot)| spot).collect())
}

/// Places files and shared memory.
fn common<S: Scheme>(scheme: &mut S, site: &mut Site) -> Result<(Vec<Range>, Vec<Range>), PlaceError> {
    let system = site.system;
    let domains = || system.domains.iter();
    let (mut files, mut shared) = (Vec::new(), Vec::new());
    for (index, file) in system.files.iter().enumerate() {
        let uses = domains().flat_map(|domain| &domain.files).filter(|used| used.file == index);
        let (what, bytes) = (Item::File(file.name.clone()), site.files[index].len() as u32);
        let mut specs = uses.map(|used| used.spec);
        let placed = scheme.common(&mut site.spaces[file.memory], &what, bytes, &mut specs, None)?;
        scheme.constant(placed);
        files.push(placed);
    }
    for (index, memory) in system.shared.iter().enumerate() {
        let uses = domains().flat_map(|domain| &domain.shared).filter(|used| used.shared == index);
        let what = Item::Shared(memory.name.clone());
        let mut specs = uses.map(|used| used.spec);
        let space = &mut site.spaces[memory.memory];
        shared.push(scheme.common(space, &what, memory.bytes, &mut specs, memory.at)?);
    }
    Ok((files, shared))
}

/// Devices, shared memory and files.
fn common_areas(system: &System, domain: &Domain, files: &[(u32, u32)], shared: &[(u32, u32)]) -> Vec<Spot> {
    let mut areas = Vec::new();
    for (index, Device { name, base, bytes, kind, open }) in domain.devices.iter().enumerate() {
        let rights = area::READ | area::WRITE | area::PINNED;
        let spot = Spot::new(Part::Device(index, name.clone()), (*base, *bytes), rights, PINNED);
        let spot = Spot { kind: *kind, memory: area::DEVICE, ..spot };
        areas.push(if *open { spot.opened(system) } else { spot });
    }
    for (index, used) in domain.shared.iter().enumerate() {
        let part = Part::Shared(index, used.name.clone());
        let rights = area::READ | area::SHARED | if used.write { area::WRITE } else { 0 } | pin(used.spec);
        areas.push(Spot::new(part, shared[used.shared], rights, used.spec));
    }
    for (index, used) in domain.files.iter().enumerate() {
        let part = Part::File(index, used.name.clone());
        let rights = area::READ | area::SHARED | pin(used.spec);
        areas.push(Spot { memory: area::WRITE_THROUGH, ..Spot::new(part, files[used.file], rights, used.spec) });
    }
    areas
}

/// Specification that needs no request because it cannot be otherwise.
const PINNED: TemporalSpec = TemporalSpec::level(AccessLevel::Deterministic);

/// The area in which the ledger is handed over, for so many bytes of which `place` finds room.
fn place_ledger(
    system: &System,
    place: impl FnOnce(u64) -> Result<(u32, u32), PlaceError>,
) -> Result<Option<(u32, u32)>, PlaceError> {
    if !system.domains.iter().any(|domain| domain.ledger) {
        return Ok(None);
    }
    let (pools, shares) = (crate::ledger::pools(system).count(), crate::ledger::shares(system).len());
    let bytes = HandOver::bytes(system.domains.len(), pools, shares);
    place(bytes as u64).map(Some)
}

/// The area in which the ledger is handed over.
fn ledger_area(range: Range) -> Spot {
    Spot { memory: area::WRITE_THROUGH, ..Spot::new(Part::Ledger, range, area::READ, TemporalSpec::default()) }
}
