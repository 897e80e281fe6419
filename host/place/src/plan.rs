//! Where everything lies.

use std::collections::HashMap;

use manager::{HandOver, PoolAt};
use spec::{AccessLevel, Bound, TablePlace, TemporalSpec};
use system::area;
use system::pmsav7::Shape;
use system::vmsav7::Caches;

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::ledger::{Admission, Book};
use crate::request::{AreaRequest, DeviceRequest, DomainRequest, Interleave, Request};

/// A placed area.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub name: String,
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
    /// Which of the domain's envelopes it is the arena of.
    pub envelope: Option<usize>,
    /// Where the tables lie that its check may read, once the ledger has granted it.
    pub place: Option<spec::TablePlace>,
    /// First physical address.
    pub physical: u32,
    /// With page tables, the range that is mapped for it if that is not its own: all of the unit that it begins, or nothing (0 bytes) in one
    /// that another area begins.
    pub mapped: Option<(u32, u32)>,
}

impl Spot {
    /// The area as the tables of domain number `domain` have it; none if another one's entry covers it.
    pub(crate) fn entry(&self, domain: u32) -> Option<system::Area> {
        let Spot { flags, memory, physical, .. } = *self;
        let flags = flags | if self.disabled == 0 { 0 } else { area::WOVEN };
        let (base, bytes) = self.mapped.unwrap_or((self.base, self.bytes));
        (bytes > 0).then_some(system::Area { domain, base, bytes, flags, memory, physical })
    }

    /// Its paged regions, where there are region registers.
    pub(crate) fn shape(&self) -> Shape {
        Shape { page_log2: self.page_log2, disabled: self.disabled }
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
    /// Memory of its table: base, bytes, where. With page tables: of its near second-level tables.
    pub table: (u32, u32, TablePlace),
    /// With page tables, the first-level table, and where it lies.
    pub root: (u32, TablePlace),
    /// With page tables, memory of its far second-level tables: base, bytes.
    pub far: (u32, u32),
}

impl DomainSpot {
    /// The areas as the tables of domain number `domain` have them.
    pub(crate) fn entries(&self, domain: u32) -> impl Iterator<Item = system::Area> + Clone + '_ {
        self.areas.iter().filter_map(move |spot| spot.entry(domain))
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
    /// With page tables, what nobody writes of memory that can be written: base and bytes.
    pub read_only: Vec<(u32, u32)>,
    /// With page tables, the range on the chip in which tables lie: base and bytes.
    pub near_tables: (u32, u32),
    /// With page tables, what is locked in the second-level cache, and whether the processor reads ahead.
    pub caches: Caches,
}

/// Room for the tables: they are small, and their exact size is known only when they are written.
pub(crate) const TABLES_BYTES: u64 = 16 * 1024;

impl Plan {
    pub(crate) fn new(request: &Request, kernel: &Kernel, programs: &[Program]) -> Result<Plan, PlaceError> {
        if let Some(pages) = &request.pages {
            return crate::pages::plan(request, pages, kernel, programs);
        }
        let mut spaces: Vec<Space> = request.memories.iter().map(Space::new).collect();
        let rom = request.memories.iter().position(|memory| memory.rom).unwrap_or(0);
        spaces[rom].reserve_until(kernel.symbol("__kernel_flash_end")?);
        let mut files = Vec::new();
        let mut shared = Vec::new();
        let mut order: Vec<usize> = (0..request.domains.len()).collect();
        // Fixed addresses first, then the large before the small: less is lost to alignment.
        order.sort_by_key(|&index| (!has_fixed(&request.domains[index]), u32::MAX - programs[index].code.bytes));
        let mut domains: Vec<Option<DomainSpot>> = vec![None; request.domains.len()];
        let mut groups = HashMap::new();
        for index in order {
            let spot = place_domain(&mut spaces, &mut groups, &request.domains[index], &programs[index], rom)?;
            domains[index] = Some(spot);
        }
        for (index, file) in request.files.iter().enumerate() {
            let what = format!("file {}", file.name);
            let uses = request.domains.iter().flat_map(|domain| &domain.files).filter(|used| used.file == index);
            let bytes = room(file.contents.len() as u32, uses.map(|used| used.spec));
            files.push(spaces[file.memory].area(&what, bytes, None)?);
        }
        for (index, memory) in request.shared.iter().enumerate() {
            let what = format!("shared memory {}", memory.name);
            let uses = request.domains.iter().flat_map(|domain| &domain.shared).filter(|used| used.shared == index);
            let bytes = room(memory.bytes, uses.map(|used| used.spec));
            shared.push(spaces[memory.memory].area(&what, bytes, memory.at)?);
        }
        let mut frames = Vec::new();
        for range in &request.frames {
            let what = format!("frames {}", range.name);
            frames.push(spaces[range.memory].area(&what, u64::from(range.bytes), None)?);
        }
        let mut domains: Vec<DomainSpot> = domains.into_iter().flatten().collect();
        let handed_over = place_ledger(request, |bytes| spaces[rom].area("the ledger", bytes, None))?;
        for (spot, domain) in domains.iter_mut().zip(&request.domains) {
            spot.areas.extend(common_areas(request, domain, &files, &shared));
            spot.areas.extend(handed_over.filter(|_| domain.ledger).map(ledger_area));
        }
        let (ledger, pools) = Admission::new(request, &mut spaces).admit(&mut domains, &frames)?;
        // They fit any gap that is large enough, so that regions, which do not, come first.
        let tables = spaces[rom].plain("the tables", TABLES_BYTES, 32)?;
        let objects = (kernel.symbol("__kernel_objects_start")?, kernel.symbol("__kernel_objects_end")?);
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
            read_only: Vec::new(),
            near_tables: (0, 0),
            caches: Caches::default(),
        })
    }
}

fn has_fixed(domain: &DomainRequest) -> bool {
    domain.code.at.is_some() || domain.data.at.is_some() || domain.stack.at.is_some()
}

/// Bytes of the stacks of a domain.
pub(crate) fn stack_bytes(domain: &DomainRequest) -> u32 {
    let threads: u32 = domain.threads.iter().map(|thread| thread.stack_bytes.next_multiple_of(8)).sum();
    let gates: u32 = domain.gates.iter().map(|gate| gate.stack_bytes.next_multiple_of(8)).sum();
    threads + gates
}

/// Bytes of a domain's information block.
pub(crate) fn info_bytes(domain: &DomainRequest) -> u32 {
    let own = 3 + domain.heap.iter().count() + domain.envelopes.len() + usize::from(domain.ledger);
    let areas = own + domain.devices.len() + domain.shared.len() + domain.files.len();
    let caps = domain.caps.len() + domain.callers.len();
    abi::info::block_bytes(caps, areas, domain.envelopes.len()) as u32
}

/// The bit of an area with this specification.
pub(crate) fn pin(spec: TemporalSpec) -> u32 {
    if spec.access == AccessLevel::Deterministic { area::PINNED } else { 0 }
}

/// Bytes of an area, at least: one that is paged is as large as the smallest paged region, for the domain's guarantee of progress counts on
/// an instruction that touches no more than two of them for its data.
fn room(bytes: u32, specs: impl IntoIterator<Item = TemporalSpec>) -> u64 {
    let paged = specs.into_iter().any(|spec| pin(spec) == 0);
    u64::from(if paged { bytes.max(area::LEAST_PAGED_BYTES) } else { bytes })
}

fn flags(request: &AreaRequest, rights: u32) -> u32 {
    rights | pin(request.spec)
}

/// An area that the domain may write.
fn writable(name: &str, request: &AreaRequest, base: u32, bytes: u32) -> Spot {
    Spot {
        name: name.into(),
        base,
        bytes,
        flags: flags(request, area::READ | area::WRITE),
        memory: area::NORMAL,
        page_log2: 0,
        disabled: 0,
        spec: request.spec,
        kind: 0,
        bound: None,
        envelope: None,
        place: None,
        physical: base,
        mapped: None,
    }
}

/// What a domain allocates from: its heap, and an arena for each envelope.
fn allocations(spaces: &mut [Space], groups: &mut Groups, domain: &DomainRequest) -> Result<Vec<Spot>, PlaceError> {
    let name = |part: &str| format!("{} of domain {}", part, domain.name);
    let mut areas = Vec::new();
    if let Some(heap) = &domain.heap {
        let space = &mut spaces[heap.area.memory];
        if let Some(interleave) = &heap.interleave {
            let (base, size) = group(space, groups, &name("heap"), interleave, heap.area.extra)?;
            let (page_log2, disabled) = (interleave.region_log2(), interleave.disabled());
            areas.push(Spot { page_log2, disabled, ..writable("heap", &heap.area, base, size) });
        } else {
            let (base, size) = space.area(&name("heap"), room(heap.area.extra, [heap.area.spec]), heap.area.at)?;
            let page_log2 = if pin(heap.area.spec) != 0 { 0 } else { heap.page_log2.unwrap_or(0) };
            areas.push(Spot { page_log2, ..writable("heap", &heap.area, base, size) });
        }
    }
    for (index, request) in domain.envelopes.iter().enumerate() {
        let name = name(&format!("envelope[{index}]"));
        let (base, size) =
            spaces[request.area.memory].area(&name, room(request.area.extra, [request.area.spec]), None)?;
        let arena = writable(&format!("arena{index}"), &request.area, base, size);
        areas.push(Spot { envelope: Some(index), ..arena });
    }
    Ok(areas)
}

fn place_domain(
    spaces: &mut [Space],
    groups: &mut Groups,
    domain: &DomainRequest,
    program: &Program,
    rom: usize,
) -> Result<DomainSpot, PlaceError> {
    let name = |part: &str| format!("{} of domain {}", part, domain.name);
    let movable = !program.relocations.is_empty();
    // A program without relocations stays where it was linked, or is refused.
    let fixed = |at: Option<u32>, linked: u32| if movable { at } else { Some(linked) };
    let code_bytes = program.code.bytes.next_multiple_of(8) + info_bytes(domain) + domain.code.extra;
    let (code_base, code_size) = spaces[domain.code.memory]
        .area(&name("code"), room(code_bytes, [domain.code.spec]), fixed(domain.code.at, program.code.base))
        .map_err(|error| fixed_error(program, program.code.base, error))?;
    let mut areas = vec![Spot {
        name: "code".into(),
        base: code_base,
        bytes: code_size,
        flags: flags(&domain.code, area::READ | area::EXECUTE),
        memory: area::WRITE_THROUGH,
        page_log2: 0,
        disabled: 0,
        spec: domain.code.spec,
        kind: 0,
        bound: None,
        envelope: None,
        place: None,
        physical: code_base,
        mapped: None,
    }];

    let stack = stack_bytes(domain);
    let together = pin(domain.data.spec) != 0 && domain.data.memory == domain.stack.memory && movable;
    let data_bytes = program.data.bytes.next_multiple_of(8) + domain.data.extra;
    let (stacks, data_base);
    if together {
        // Stacks lowest, so that one that overflows leaves the domain's memory.
        let total = stack.next_multiple_of(32) + data_bytes;
        let (base, size) = spaces[domain.data.memory].area(&name("data"), u64::from(total), domain.data.at)?;
        areas.push(writable("data", &domain.data, base, size));
        stacks = base;
        data_base = base + stack.next_multiple_of(32);
    } else {
        let (base, size) = spaces[domain.stack.memory].area(&name("stack"), u64::from(stack), domain.stack.at)?;
        areas.push(writable("stack", &domain.stack, base, size));
        stacks = base;
        if data_bytes > 0 {
            let at = fixed(domain.data.at, program.data.base);
            let (base, size) = spaces[domain.data.memory]
                .area(&name("data"), room(data_bytes, [domain.data.spec]), at)
                .map_err(|error| fixed_error(program, program.data.base, error))?;
            areas.push(writable("data", &domain.data, base, size));
            data_base = base;
        } else {
            data_base = program.data.base;
        }
    }
    areas.extend(allocations(spaces, groups, domain)?);
    let initial = u64::from(program.data.file_bytes.next_multiple_of(4));
    let source = spaces[rom].plain(&name("initial data"), initial, 8)?;
    let moved = |to: u32, from: u32| i64::from(to) - i64::from(from);
    Ok(DomainSpot {
        code_delta: moved(code_base, program.code.base),
        data_delta: if program.data.bytes == 0 { 0 } else { moved(data_base, program.data.base) },
        info: code_base + program.code.bytes.next_multiple_of(8),
        areas,
        code_base,
        data_base,
        stacks,
        source,
        table: (0, 0, TablePlace::OnChip),
        root: (0, TablePlace::OffChip),
        far: (0, 0),
    })
}

/// Base and size of what the heaps of each group share.
type Groups = HashMap<String, (u32, u32)>;

/// The range in which the heaps of a group alternate: placed for the first of them.
fn group(
    space: &mut Space,
    groups: &mut Groups,
    what: &str,
    interleave: &Interleave,
    bytes: u32,
) -> Result<(u32, u32), PlaceError> {
    if let Some(range) = groups.get(&interleave.group) {
        return Ok(*range);
    }
    let total = bytes * interleave.members;
    let base = space.plain(what, u64::from(total), 1 << interleave.region_log2())?;
    groups.insert(interleave.group.clone(), (base, total));
    Ok((base, total))
}

/// A program that cannot be moved says so, rather than that an address is taken.
pub(crate) fn fixed_error(program: &Program, address: u32, error: PlaceError) -> PlaceError {
    if program.relocations.is_empty() {
        return PlaceError::Fixed { domain: program.name.clone(), address, reason: error.to_string() };
    }
    error
}

/// Devices, shared memory and files.
pub(crate) fn common_areas(
    request: &Request,
    domain: &DomainRequest,
    files: &[(u32, u32)],
    shared: &[(u32, u32)],
) -> Vec<Spot> {
    let spot = |name: &str, base, bytes, flags, memory, spec| Spot {
        name: name.to_owned(),
        base,
        bytes,
        flags,
        memory,
        page_log2: 0,
        disabled: 0,
        spec,
        kind: 0,
        bound: None,
        envelope: None,
        place: None,
        physical: base,
        mapped: None,
    };
    let mut areas = Vec::new();
    for DeviceRequest { name, base, bytes, kind } in &domain.devices {
        let rights = area::READ | area::WRITE | area::PINNED;
        areas.push(Spot { kind: *kind, ..spot(name, *base, *bytes, rights, area::DEVICE, PINNED) });
    }
    for used in &domain.shared {
        let (base, bytes) = shared[used.shared];
        let rights = area::READ | area::SHARED | if used.write { area::WRITE } else { 0 } | pin(used.spec);
        areas.push(spot(&request.shared[used.shared].name, base, bytes, rights, area::NORMAL, used.spec));
    }
    for used in &domain.files {
        let (base, bytes) = files[used.file];
        let rights = area::READ | area::SHARED | pin(used.spec);
        areas.push(spot(&request.files[used.file].name, base, bytes, rights, area::WRITE_THROUGH, used.spec));
    }
    areas
}

/// What needs no request because it cannot be otherwise.
const PINNED: TemporalSpec = TemporalSpec::level(AccessLevel::Deterministic);

/// The area in which the ledger is handed over, for so many bytes of which `place` finds room.
pub(crate) fn place_ledger(
    request: &Request,
    place: impl FnOnce(u64) -> Result<(u32, u32), PlaceError>,
) -> Result<Option<(u32, u32)>, PlaceError> {
    if !request.domains.iter().any(|domain| domain.ledger) {
        return Ok(None);
    }
    let (pools, shares) = (crate::ledger::pools(request).count(), crate::ledger::shares(request).len());
    let bytes = HandOver::bytes(request.domains.len(), pools, shares);
    place(bytes as u64).map(Some)
}

pub(crate) fn ledger_area((base, bytes): (u32, u32)) -> Spot {
    Spot {
        name: "ledger".into(),
        base,
        bytes,
        flags: area::READ,
        memory: area::WRITE_THROUGH,
        page_log2: 0,
        disabled: 0,
        spec: TemporalSpec::default(),
        kind: 0,
        bound: None,
        envelope: None,
        place: None,
        physical: base,
        mapped: None,
    }
}
