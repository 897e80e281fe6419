//! Where everything lies.

use manager::{HandOver, PoolAt};
use manifest::resolved::{Device, Domain, Envelope, Item, Part, System};
use spec::{AccessLevel, Bound, TablePlace, TemporalSpec};
use system::area;
use system::build::SchemeTables;

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::layout::PlacedWays;
use crate::ledger::Book;
use crate::scheme::{Extras, Range, Scheme, Site};

/// A placed area.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub part: Part,
    pub base: u32,
    pub bytes: u32,
    /// Bits of `system::area`.
    pub flags: u32,
    /// Memory type of `system::area`.
    pub memory: u32,
    pub page_log2: u32,
    /// Eighths of each region that are not the domain's.
    pub disabled: u32,
    pub spec: TemporalSpec,
    /// Of a device: what kind it is, as in `abi::info::area::KIND`; otherwise 0.
    pub kind: u32,
    /// What the ledger promises.
    pub bound: Option<Bound>,
    /// Where the tables lie that its check may read, once the ledger has granted it.
    pub place: Option<TablePlace>,
    /// Slots of the hardware that check it, all at once if it is pinned, or that it is loaded into in turn.
    pub slots: u32,
    /// First physical address.
    pub physical: u32,
    /// With page tables, the range that is mapped for it if that is not its own: all of the unit that it begins, or nothing (0 bytes) in one
    /// that another area begins.
    pub mapped: Option<(u32, u32)>,
}

impl Spot {
    /// An area that is mapped where it lies, in regions of any size.
    pub(crate) fn new(part: Part, (base, bytes): Range, flags: u32, spec: TemporalSpec) -> Spot {
        Spot {
            part,
            base,
            bytes,
            flags,
            memory: area::NORMAL,
            page_log2: 0,
            disabled: 0,
            spec,
            kind: 0,
            bound: None,
            place: None,
            slots: 0,
            physical: base,
            mapped: None,
        }
    }

    /// The area as the tables of domain number `domain` have it; none if another one's entry covers it.
    pub(crate) fn entry(&self, domain: u32) -> Option<system::Area> {
        let Spot { flags, memory, physical, .. } = *self;
        let flags = flags | if self.disabled == 0 { 0 } else { area::WOVEN };
        let (base, bytes) = self.mapped.unwrap_or((self.base, self.bytes));
        (bytes > 0).then_some(system::Area { domain, base, bytes, flags, memory, physical })
    }

    /// The envelope of which it is the arena.
    pub(crate) fn envelope<'a>(&self, domain: &'a Domain) -> Option<&'a Envelope> {
        if let Part::Envelope(index) = self.part { domain.envelopes.get(index) } else { None }
    }

    /// Its pieces without a gap: how many, bytes of each, and bytes from one to the next. The first begins at the returned base.
    pub(crate) fn pieces(&self) -> (u32, u32, u32, u32) {
        if self.disabled == 0 {
            return (self.base, 1, self.bytes, 0);
        }
        let own = !self.disabled & 0xff;
        let eighth = 1 << (self.page_log2 - 3);
        let first = own.trailing_zeros();
        let length = (own >> first).trailing_ones();
        let next = own >> (first + length);
        let stride = if next == 0 { 8 } else { length + next.trailing_zeros() };
        (self.base + first * eighth, self.bytes / (stride * eighth), length * eighth, stride * eighth)
    }
}

/// A placed domain.
#[derive(Clone, Debug)]
pub(crate) struct DomainSpot {
    pub areas: Vec<Spot>,
    pub code_delta: i64,
    pub data_delta: i64,
    pub code_base: u32,
    pub data_base: u32,
    /// Lowest address of the stacks: threads first, then gates.
    pub stacks: u32,
    /// Where the initial data lies in read-only memory.
    pub source: u32,
    pub info: u32,
    /// Memory of its tables whose reads stay on the chip: base, bytes, where.
    pub table: (u32, u32, TablePlace),
    /// The first-level table, where that is one of its own: base, bytes, where.
    pub root: (u32, u32, TablePlace),
    /// Memory of its tables off the chip: base, bytes.
    pub far: (u32, u32),
}

impl DomainSpot {
    /// The areas as the tables of domain number `domain` have them.
    pub(crate) fn entries(&self, domain: u32) -> impl Iterator<Item = system::Area> + Clone + '_ {
        self.areas.iter().filter_map(move |spot| spot.entry(domain))
    }

    /// Memory of its tables: base and bytes of each part.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let parts = [(self.root.0, self.root.1), (self.table.0, self.table.1), self.far];
        parts.into_iter().filter(|part| part.1 > 0)
    }
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub domains: Vec<DomainSpot>,
    /// Base and size of each file's area.
    pub files: Vec<(u32, u32)>,
    /// Base and size of each untyped range.
    pub frames: Vec<(u32, u32)>,
    /// Where the tables lie.
    pub tables: u32,
    pub spaces: Vec<Space>,
    /// The kernel's objects: base and end.
    pub objects: (u32, u32),
    /// What has been promised.
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
}

/// Room for the tables: they are small, and their exact size is known only when they are written.
pub(crate) const TABLES_BYTES: u64 = 16 * 1024;

impl Plan {
    pub(crate) fn new(
        system: &System,
        kernel: &Kernel,
        programs: &[Program],
        files: &[Vec<u8>],
    ) -> Result<Plan, PlaceError> {
        let spaces = system.memories.iter().map(Space::new).collect();
        let rom = system.memories.iter().position(|memory| memory.rom).unwrap_or(0);
        let site = Site { system, programs, files, spaces, rom };
        crate::scheme::plan(site, kernel)
    }

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
            spot.areas.extend(common_areas(domain, &files, &shared));
            spot.areas.extend(handed_over.filter(|_| domain.ledger).map(ledger_area));
            scheme.complete(&site, spot, program);
        }
        let (ledger, pools) = scheme.admit(&mut site, &mut domains, &frames)?;
        domains.iter_mut().for_each(|spot| scheme.checked(spot));
        let tables = first.map_or_else(|| system_tables(&mut scheme, &mut site), Ok)?;
        let objects = (kernel.symbol("__kernel_objects_start")?, kernel.symbol("__kernel_objects_end")?);
        let spaces = site.spaces;
        let Extras { read_only, near_tables, locked, scheme } = scheme.extras(system, &domains);
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

/// Bytes of the stacks of a domain.
pub(crate) fn stack_bytes(domain: &Domain) -> u32 {
    let threads: u32 = domain.threads.iter().map(|thread| thread.stack_bytes.next_multiple_of(8)).sum();
    let gates: u32 = domain.gates.iter().map(|gate| gate.stack_bytes.next_multiple_of(8)).sum();
    threads + gates
}

/// Bytes of a domain's information block.
pub(crate) fn info_bytes(domain: &Domain) -> u32 {
    let own = 3 + domain.heap.iter().count() + domain.envelopes.len() + usize::from(domain.ledger);
    let areas = own + domain.devices.len() + domain.shared.len() + domain.files.len();
    let caps = domain.caps.len() + domain.callers.len();
    abi::info::block_bytes(caps, areas, domain.envelopes.len()) as u32
}

/// The bit of an area with this specification.
pub(crate) fn pin(spec: TemporalSpec) -> u32 {
    if spec.access == AccessLevel::Deterministic { area::PINNED } else { 0 }
}

/// A program that cannot be moved says so, rather than that an address is taken.
pub(crate) fn fixed_error(program: &Program, address: u32, error: PlaceError) -> PlaceError {
    if program.relocations.is_empty() {
        return PlaceError::Fixed { domain: program.name.clone(), address, reason: error.to_string() };
    }
    error
}

/// Devices, shared memory and files.
fn common_areas(domain: &Domain, files: &[(u32, u32)], shared: &[(u32, u32)]) -> Vec<Spot> {
    let mut areas = Vec::new();
    for (index, Device { name, base, bytes, kind }) in domain.devices.iter().enumerate() {
        let rights = area::READ | area::WRITE | area::PINNED;
        let spot = Spot::new(Part::Device(index, name.clone()), (*base, *bytes), rights, PINNED);
        areas.push(Spot { kind: *kind, memory: area::DEVICE, ..spot });
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

/// What needs no request because it cannot be otherwise.
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
