//! Placement where accesses are checked by region registers: an area is exactly as large as the registers that cover it.

mod admission;
mod space;

use std::collections::HashMap;
use std::marker::PhantomData;

use manager::PoolAt;
use protect::Span;
use protect::regions::Unit;
use spec::{TablePlace, TemporalSpec};
use system::area;
use system::build::SchemeTables;
use system::regions::{LEAST_PAGED_BYTES, Paging, RegionScheme, Shape, nodes};

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::handlers::{Handlers, HandlersSpot};
use crate::ledger::Book;
use crate::local;
use crate::scheme::{Extras, Scheme, Site};
use crate::spot::{DomainSpot, Range, Spot, fixed_error, info_bytes, pin, stack_bytes};
use admission::Admission;
use manifest::resolved::{Area, Domain, Envelope, Interleave, Item, Part, System};

/// The scheme.
#[derive(Debug)]
pub(crate) struct Regions<U> {
    groups: Groups,
    handlers: Vec<HandlersSpot>,
    unit: PhantomData<U>,
}

impl<U> Default for Regions<U> {
    fn default() -> Self {
        Regions { groups: Groups::default(), handlers: Vec::new(), unit: PhantomData }
    }
}

impl<U: RegionScheme> Scheme for Regions<U> {
    const TABLES_ALIGN: u64 = 32;
    // They fit any gap that is large enough, so that regions, which do not, come first.
    const TABLES_FIRST: bool = false;

    fn begin(&mut self, site: &mut Site, kernel: &Kernel) -> Result<(), PlaceError> {
        site.spaces[site.rom].reserve_until(kernel.symbol("__kernel_flash_end")?);
        Ok(())
    }

    /// Fixed addresses first, then the large before the small: less is lost to alignment.
    fn order(&self, domain: &Domain, program: &Program) -> (bool, u32) {
        (!has_fixed(domain), u32::MAX - program.code.bytes)
    }

    fn domain(&mut self, site: &mut Site, index: usize) -> Result<DomainSpot, PlaceError> {
        let handlers = site.handlers.iter().find(|handlers| handlers.owner == index);
        let spot = place_domain::<U>(site, &mut self.groups, index, handlers)?;
        if let Some(handlers) = handlers {
            self.handlers.push(handlers.place(site.system, (site.rom, &mut site.spaces), &spot)?);
        }
        Ok(spot)
    }

    fn common(
        &self,
        space: &mut Space,
        what: &Item,
        bytes: u32,
        specs: &mut dyn Iterator<Item = TemporalSpec>,
        at: Option<u32>,
    ) -> Result<Range, PlaceError> {
        space.area::<U>(what, room(bytes, specs), at)
    }

    fn frames(&self, space: &mut Space, what: &Item, bytes: u32) -> Result<Range, PlaceError> {
        // Domains hand them out in pages.
        let align = if U::BEGINS_ANYWHERE { FRAMES_ALIGN } else { 1 };
        space.aligned_area::<U>(what, bytes.into(), align, None)
    }

    fn ledger(&self, space: &mut Space, bytes: u64) -> Result<Range, PlaceError> {
        space.area::<U>(&Item::Own("the ledger"), bytes, None)
    }

    fn admit(
        &mut self,
        site: &mut Site,
        domains: &mut [DomainSpot],
        frames: &[Range],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        Admission::<U>::new(site.system, &mut site.spaces).admit(domains, frames)
    }

    fn checked(&self, spot: &mut DomainSpot) {
        for area in &mut spot.areas {
            let cover = U::cover_count(Span::new(area.base, u64::from(area.bytes))).unwrap_or(0) as u32;
            area.slots = if area.page_log2 == 0 { cover } else { area.bytes.div_ceil(1 << area.page_log2) };
        }
    }

    fn extras(self, system: &System, domains: &[DomainSpot]) -> Extras {
        let paging = |(domain, spot): (&Domain, &DomainSpot)| Paging {
            paged_slots: domain.paged_slots,
            replacement: domain.replacement.number(),
            nodes: if spot.table.2 == TablePlace::Tcm { nodes::TCM } else { nodes::SRAM },
            table_base: spot.table.0,
            table_bytes: spot.table.1,
        };
        let mapped = domains.iter().flat_map(|spot| spot.areas.iter().filter(|area| area.entry(0).is_some()));
        let areas = mapped.map(Spot::shape).collect();
        let domains = system.domains.iter().zip(domains).map(paging).collect();
        let scheme = SchemeTables::of_regions::<U>(domains, areas);
        Extras { scheme, handlers: self.handlers, ..Extras::default() }
    }
}

impl Spot {
    /// Its paged regions.
    fn shape(&self) -> Shape {
        Shape { page_log2: self.page_log2, disabled: self.disabled }
    }
}

fn has_fixed(domain: &Domain) -> bool {
    domain.code.at.is_some() || domain.data.at.is_some() || domain.stack.at.is_some()
}

/// Bytes of an area, at least: one that is paged is as large as the smallest paged region, for the domain's guarantee of progress counts on
/// an instruction that touches no more than two of them for its data.
fn room(bytes: u32, specs: impl IntoIterator<Item = TemporalSpec>) -> u64 {
    let paged = specs.into_iter().any(|spec| pin(spec) == 0);
    u64::from(if paged { bytes.max(LEAST_PAGED_BYTES) } else { bytes })
}

/// An area of a domain.
fn spot(part: Part, declared: &Area, range: Range, rights: u32) -> Spot {
    Spot::new(part, range, rights | pin(declared.spec), declared.spec)
}

/// Memory that a domain allocates from: its heap, and an arena for each envelope.
fn allocations<U: Unit>(spaces: &mut [Space], groups: &mut Groups, domain: &Domain) -> Result<Vec<Spot>, PlaceError> {
    let item = |part: Part| Item::Of(part, domain.name.clone());
    let mut areas = Vec::new();
    if let Some(heap) = &domain.heap {
        let space = &mut spaces[heap.area.memory];
        if let Some(interleave) = &heap.interleave {
            let range = group(space, groups, &item(Part::Heap), interleave, heap.area.extra)?;
            let (page_log2, disabled) = (interleave.region_log2(), interleave.disabled());
            areas.push(Spot { page_log2, disabled, ..spot(Part::Heap, &heap.area, range, WRITABLE) });
        } else {
            let page_log2 = if pin(heap.area.spec) != 0 { 0 } else { heap.page_log2.unwrap_or(0) };
            // Pages begin at their multiples. A heap of whole pages that is a block, or eighths of one, begins at such a multiple anyway.
            let align = if U::BEGINS_ANYWHERE { 1 << page_log2 } else { 1 };
            let bytes = room(heap.area.extra, [heap.area.spec]);
            let range = space.aligned_area::<U>(&item(Part::Heap), bytes, align, heap.area.at)?;
            areas.push(Spot { page_log2, ..spot(Part::Heap, &heap.area, range, WRITABLE) });
        }
    }
    for (index, Envelope { area, .. }) in domain.envelopes.iter().enumerate() {
        let part = Part::Envelope(index);
        let range = spaces[area.memory].area::<U>(&item(part.clone()), room(area.extra, [area.spec]), None)?;
        areas.push(spot(part, area, range, WRITABLE));
    }
    Ok(areas)
}

fn place_domain<U: Unit>(
    site: &mut Site,
    groups: &mut Groups,
    index: usize,
    handlers: Option<&Handlers>,
) -> Result<DomainSpot, PlaceError> {
    let (system, rom) = (site.system, site.rom);
    let (domain, program, spaces) = (&system.domains[index], &site.programs[index], &mut site.spaces);
    let item = |part: Part| Item::Of(part, domain.name.clone());
    let own_bytes = program.code.bytes.next_multiple_of(8) + local::code_bytes(domain, program);
    let code_bytes = own_bytes + info_bytes(domain) + domain.code.extra;
    let space = &mut spaces[domain.code.memory];
    // A program without relocations stays where it was linked, or is refused.
    let at = if program.relocations.is_empty() { Some(program.code.base) } else { domain.code.at };
    // An address that somebody chose says that pages do not matter.
    let page = if at.is_none() { space.code_page } else { 1 };
    let bytes = room(code_bytes, [domain.code.spec]).next_multiple_of(page.into());
    let (code_base, code_size) = space
        .aligned_area::<U>(&item(Part::Code), bytes, program.code.align.max(page), at)
        .map_err(|error| fixed_error(program, program.code.base, error))?;
    let code = spot(Part::Code, &domain.code, (code_base, code_size), area::READ | area::EXECUTE);
    let mut areas = vec![Spot { memory: area::WRITE_THROUGH, ..code }];

    let Lower { areas: placed, stacks, data_base } = match handlers {
        Some(handlers) => open_data::<U>(system, spaces, domain, program, handlers)?,
        None => data::<U>(spaces, domain, program)?,
    };
    areas.extend(placed);
    areas.extend(allocations::<U>(spaces, groups, domain)?);
    let initial = u64::from(program.data.file_bytes.next_multiple_of(4));
    let source = spaces[rom].plain(&item(Part::InitialData), initial, 8)?;
    let moved = |to: u32, from: u32| i64::from(to) - i64::from(from);
    Ok(DomainSpot {
        code_delta: moved(code_base, program.code.base),
        data_delta: if program.data.bytes == 0 { 0 } else { moved(data_base, program.data.base) },
        info: code_base + own_bytes,
        areas,
        code_base,
        data_base,
        stacks,
        source,
        table: (0, 0, TablePlace::OnChip),
        root: (0, 0, TablePlace::OffChip),
        far: (0, 0),
    })
}

/// Stacks and data of a domain.
struct Lower {
    areas: Vec<Spot>,
    /// Lowest address of the stacks.
    stacks: u32,
    data_base: u32,
}

/// Places stacks and data, together if they can be.
fn data<U: Unit>(spaces: &mut [Space], domain: &Domain, program: &Program) -> Result<Lower, PlaceError> {
    let item = |part: Part| Item::Of(part, domain.name.clone());
    let movable = !program.relocations.is_empty();
    let together = pin(domain.data.spec) != 0 && domain.stacks_join_data() && movable;
    let bytes = program.data.bytes.next_multiple_of(8) + domain.data.extra;
    if together {
        // Stacks lowest, so that one that overflows leaves the domain's memory.
        let stack = stack_bytes(domain).next_multiple_of(program.data.align.max(32));
        let (total, align) = (u64::from(stack + bytes), program.data.align);
        let range = spaces[domain.data.memory].aligned_area::<U>(&item(Part::Data), total, align, domain.data.at)?;
        let areas = vec![spot(Part::Data, &domain.data, range, WRITABLE)];
        return Ok(Lower { areas, stacks: range.0, data_base: range.0 + stack });
    }
    let stack = stacks::<U>(spaces, domain)?;
    let (stacks, mut data_base, mut areas) = (stack.base, program.data.base, vec![stack]);
    if bytes > 0 {
        // A program without relocations stays where it was linked, or is refused.
        let at = if movable { domain.data.at } else { Some(program.data.base) };
        let range = spaces[domain.data.memory]
            .aligned_area::<U>(&item(Part::Data), room(bytes, [domain.data.spec]), program.data.align, at)
            .map_err(|error| fixed_error(program, program.data.base, error))?;
        areas.push(spot(Part::Data, &domain.data, range, WRITABLE));
        data_base = range.0;
    }
    Ok(Lower { areas, stacks, data_base })
}

/// Places the stacks in an area of their own.
fn stacks<U: Unit>(spaces: &mut [Space], domain: &Domain) -> Result<Spot, PlaceError> {
    let (what, bytes) = (Item::Of(Part::Stack, domain.name.clone()), u64::from(stack_bytes(domain)));
    let range = spaces[domain.stack.memory].area::<U>(&what, bytes, domain.stack.at)?;
    Ok(spot(Part::Stack, &domain.stack, range, WRITABLE))
}

/// Places Secure stacks, and data for threads and handlers in whole blocks that one controller can make Non-secure. The handlers' stack is lowest, so that one
/// that overflows leaves the domain's memory.
fn open_data<U: Unit>(
    system: &System,
    spaces: &mut [Space],
    domain: &Domain,
    program: &Program,
    handlers: &Handlers,
) -> Result<Lower, PlaceError> {
    let stack = stacks::<U>(spaces, domain)?;
    let block = system.memories[domain.data.memory].block.unwrap_or(1);
    let before = handlers.stack_bytes(program.data.align.max(32));
    let bytes = (before + program.data.bytes.next_multiple_of(8) + domain.data.extra).next_multiple_of(block);
    let (what, align) = (Item::Of(Part::Data, domain.name.clone()), program.data.align.max(block));
    let range = spaces[domain.data.memory]
        .in_one_gate(|space| space.aligned_area::<U>(&what, bytes.into(), align, domain.data.at))?;
    let data = spot(Part::Data, &domain.data, range, WRITABLE).opened(system);
    Ok(Lower { stacks: stack.base, data_base: data.base + before, areas: vec![stack, data] })
}

/// Frames begin at a multiple of this where regions begin anywhere.
const FRAMES_ALIGN: u32 = 4096;

const WRITABLE: u32 = area::READ | area::WRITE;

/// Base and size of what the heaps of each group share.
type Groups = HashMap<String, (u32, u32)>;

/// The range in which the heaps of a group alternate: placed for the first of them.
fn group(
    space: &mut Space,
    groups: &mut Groups,
    what: &Item,
    interleave: &Interleave,
    bytes: u32,
) -> Result<(u32, u32), PlaceError> {
    if let Some(range) = groups.get(&interleave.group) {
        return Ok(*range);
    }
    let total = u64::from(bytes) * u64::from(interleave.members);
    let base = space.plain(what, total, 1 << interleave.region_log2())?;
    // What fits a memory fits a word.
    let total = total as u32;
    groups.insert(interleave.group.clone(), (base, total));
    Ok((base, total))
}
