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
use crate::ledger::Book;
use crate::scheme::{Extras, Scheme, Site};
use crate::spot::{DomainSpot, Range, Spot, fixed_error, info_bytes, pin, stack_bytes};
use admission::Admission;
use manifest::resolved::{Area, Domain, Envelope, Interleave, Item, Part, System};

/// The scheme.
#[derive(Debug)]
pub(crate) struct Regions<U> {
    groups: Groups,
    unit: PhantomData<U>,
}

impl<U> Default for Regions<U> {
    fn default() -> Self {
        Regions { groups: Groups::default(), unit: PhantomData }
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
        let (domain, program) = (&site.system.domains[index], &site.programs[index]);
        place_domain::<U>(&mut site.spaces, &mut self.groups, domain, program, site.rom)
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
        Extras { scheme: SchemeTables::of_regions::<U>(domains, areas), ..Extras::default() }
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
    spaces: &mut [Space],
    groups: &mut Groups,
    domain: &Domain,
    program: &Program,
    rom: usize,
) -> Result<DomainSpot, PlaceError> {
    let item = |part: Part| Item::Of(part, domain.name.clone());
    let movable = !program.relocations.is_empty();
    // A program without relocations stays where it was linked, or is refused.
    let fixed = |at: Option<u32>, linked: u32| if movable { at } else { Some(linked) };
    let code_bytes = program.code.bytes.next_multiple_of(8) + info_bytes(domain) + domain.code.extra;
    let space = &mut spaces[domain.code.memory];
    let at = fixed(domain.code.at, program.code.base);
    // An address that somebody chose says that pages do not matter.
    let page = if at.is_none() { space.code_page } else { 1 };
    let bytes = room(code_bytes, [domain.code.spec]).next_multiple_of(page.into());
    let (code_base, code_size) = space
        .aligned_area::<U>(&item(Part::Code), bytes, program.code.align.max(page), at)
        .map_err(|error| fixed_error(program, program.code.base, error))?;
    let code = spot(Part::Code, &domain.code, (code_base, code_size), area::READ | area::EXECUTE);
    let mut areas = vec![Spot { memory: area::WRITE_THROUGH, ..code }];

    let stack = stack_bytes(domain);
    let together = pin(domain.data.spec) != 0 && domain.data.memory == domain.stack.memory && movable;
    let data_bytes = program.data.bytes.next_multiple_of(8) + domain.data.extra;
    let (stacks, data_base);
    if together {
        // Stacks lowest, so that one that overflows leaves the domain's memory.
        let stack = stack.next_multiple_of(program.data.align.max(32));
        let (total, align) = (u64::from(stack + data_bytes), program.data.align);
        let (base, size) =
            spaces[domain.data.memory].aligned_area::<U>(&item(Part::Data), total, align, domain.data.at)?;
        areas.push(spot(Part::Data, &domain.data, (base, size), WRITABLE));
        stacks = base;
        data_base = base + stack;
    } else {
        let (base, size) =
            spaces[domain.stack.memory].area::<U>(&item(Part::Stack), u64::from(stack), domain.stack.at)?;
        areas.push(spot(Part::Stack, &domain.stack, (base, size), WRITABLE));
        stacks = base;
        if data_bytes > 0 {
            let at = fixed(domain.data.at, program.data.base);
            let (base, size) = spaces[domain.data.memory]
                .aligned_area::<U>(&item(Part::Data), room(data_bytes, [domain.data.spec]), program.data.align, at)
                .map_err(|error| fixed_error(program, program.data.base, error))?;
            areas.push(spot(Part::Data, &domain.data, (base, size), WRITABLE));
            data_base = base;
        } else {
            data_base = program.data.base;
        }
    }
    areas.extend(allocations::<U>(spaces, groups, domain)?);
    let initial = u64::from(program.data.file_bytes.next_multiple_of(4));
    let source = spaces[rom].plain(&item(Part::InitialData), initial, 8)?;
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
        root: (0, 0, TablePlace::OffChip),
        far: (0, 0),
    })
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
    let total = bytes * interleave.members;
    let base = space.plain(what, u64::from(total), 1 << interleave.region_log2())?;
    groups.insert(interleave.group.clone(), (base, total));
    Ok((base, total))
}
