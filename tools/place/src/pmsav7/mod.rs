//! Placement where accesses are checked by region registers: an area is exactly as large as the registers that cover it.

mod admission;
mod space;

use std::collections::HashMap;

use manager::PoolAt;
use protect::pmsav7::{Span, cover_count};
use spec::{TablePlace, TemporalSpec};
use system::area;
use system::build::SchemeTables;
use system::pmsav7::{LEAST_PAGED_BYTES, Paging, Shape, nodes};

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::ledger::Book;
use crate::plan::{DomainSpot, Spot, fixed_error, info_bytes, pin, stack_bytes};
use crate::request::{AreaRequest, DomainRequest, Interleave, Request};
use crate::scheme::{Extras, Range, Scheme, Site};
use admission::Admission;

/// The scheme.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    groups: Groups,
}

impl Scheme for Regions {
    const TABLES_ALIGN: u64 = 32;
    // They fit any gap that is large enough, so that regions, which do not, come first.
    const TABLES_FIRST: bool = false;

    fn begin(&mut self, site: &mut Site, kernel: &Kernel) -> Result<(), PlaceError> {
        site.spaces[site.rom].reserve_until(kernel.symbol("__kernel_flash_end")?);
        Ok(())
    }

    /// Fixed addresses first, then the large before the small: less is lost to alignment.
    fn order(&self, domain: &DomainRequest, program: &Program) -> (bool, u32) {
        (!has_fixed(domain), u32::MAX - program.code.bytes)
    }

    fn domain(&mut self, site: &mut Site, index: usize) -> Result<DomainSpot, PlaceError> {
        let (domain, program) = (&site.request.domains[index], &site.programs[index]);
        place_domain(&mut site.spaces, &mut self.groups, domain, program, site.rom)
    }

    fn common(
        &self,
        space: &mut Space,
        what: &str,
        bytes: u32,
        specs: &mut dyn Iterator<Item = TemporalSpec>,
        at: Option<u32>,
    ) -> Result<Range, PlaceError> {
        space.area(what, room(bytes, specs), at)
    }

    fn frames(&self, space: &mut Space, what: &str, bytes: u32) -> Result<Range, PlaceError> {
        space.area(what, bytes.into(), None)
    }

    fn ledger(&self, space: &mut Space, bytes: u64) -> Result<Range, PlaceError> {
        space.area("the ledger", bytes, None)
    }

    fn admit(
        &mut self,
        site: &mut Site,
        domains: &mut [DomainSpot],
        frames: &[Range],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        Admission::new(site.request, &mut site.spaces).admit(domains, frames)
    }

    fn checked(&self, spot: &mut DomainSpot) {
        for area in &mut spot.areas {
            let cover = cover_count(Span::new(area.base, u64::from(area.bytes))).unwrap_or(0) as u32;
            area.slots = if area.page_log2 == 0 { cover } else { area.bytes.div_ceil(1 << area.page_log2) };
        }
    }

    fn extras(self, request: &Request, domains: &[DomainSpot]) -> Extras {
        let paging = |(domain, spot): (&DomainRequest, &DomainSpot)| Paging {
            paged_slots: domain.paged_slots,
            replacement: domain.replacement,
            nodes: if spot.table.2 == TablePlace::Tcm { nodes::TCM } else { nodes::SRAM },
            table_base: spot.table.0,
            table_bytes: spot.table.1,
        };
        let mapped = domains.iter().flat_map(|spot| spot.areas.iter().filter(|area| area.entry(0).is_some()));
        let areas = mapped.map(Spot::shape).collect();
        let domains = request.domains.iter().zip(domains).map(paging).collect();
        Extras { scheme: SchemeTables::Pmsav7 { domains, areas }, ..Extras::default() }
    }
}

impl Spot {
    /// Its paged regions.
    fn shape(&self) -> Shape {
        Shape { page_log2: self.page_log2, disabled: self.disabled }
    }
}

fn has_fixed(domain: &DomainRequest) -> bool {
    domain.code.at.is_some() || domain.data.at.is_some() || domain.stack.at.is_some()
}

/// Bytes of an area, at least: one that is paged is as large as the smallest paged region, for the domain's guarantee of progress counts on
/// an instruction that touches no more than two of them for its data.
fn room(bytes: u32, specs: impl IntoIterator<Item = TemporalSpec>) -> u64 {
    let paged = specs.into_iter().any(|spec| pin(spec) == 0);
    u64::from(if paged { bytes.max(LEAST_PAGED_BYTES) } else { bytes })
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
        slots: 0,
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
        slots: 0,
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
        root: (0, 0, TablePlace::OffChip),
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
