//! The areas of one domain.

use manifest::resolved::{Area, Domain, Envelope, Item, Part};
use spec::TablePlace;
use system::area;
use system::rtmmu::BASE;

use super::addresses::Addresses;
use super::frames::{pages, room};
use crate::allocate::Space;
use crate::elf::Program;
use crate::error::PlaceError;
use crate::local;
use crate::spot::{DomainSpot, Spot, info_bytes, stack_bytes};

/// Alignment of a stack (RISC-V ELF psABI, integer calling convention).
const STACK_ALIGN: u32 = 16;

/// Parts of a domain that nobody writes: its code, and its initial data.
pub(super) fn read_only(spot: &DomainSpot, program: &Program) -> Vec<(u32, u32)> {
    let code = spot.areas.iter().filter(|area| area.flags & area::EXECUTE != 0);
    let code = code.map(|area| (area.physical, area.bytes));
    let source =
        (program.data.file_bytes > 0).then_some((spot.source, room(u64::from(program.data.file_bytes)) as u32));
    code.chain(source).collect()
}

/// Places what is the domain's own.
pub(super) fn place(
    spaces: &mut [Space],
    domain: &Domain,
    program: &Program,
    rom: usize,
) -> Result<DomainSpot, PlaceError> {
    linked(domain, program)?;
    let writable = area::READ | area::WRITE;
    let own_bytes = program.code.bytes.next_multiple_of(8) + local::code_bytes(domain, program);
    let code_bytes = own_bytes + info_bytes(domain) + domain.code.extra;
    let data_bytes = program.data.bytes.next_multiple_of(8) + domain.data.extra;
    let stack = stack_bytes(domain).next_multiple_of(STACK_ALIGN);
    let mut own = Own { spaces, domain, areas: Vec::new() };
    own.add(Part::Code, &domain.code, code_bytes, (area::READ | area::EXECUTE, Some(program.code.base)))?;
    let data = (program.data.bytes > 0).then_some(program.data.base);
    if data_bytes > 0 {
        own.add(Part::Data, &domain.data, data_bytes, (writable, data))?;
    }
    own.add(Part::Stack, &domain.stack, stack, (writable, None))?;
    if let Some(heap) = &domain.heap {
        own.add(Part::Heap, &heap.area, heap.area.extra, (writable, None))?;
    }
    for (index, Envelope { area, .. }) in own.envelopes(false) {
        own.add(Part::Envelope(index), area, area.extra, (writable, None))?;
    }
    own.demand_area()?;
    let areas = own.areas;
    let base = |part: Part| areas.iter().find(|spot| spot.part == part).map_or(0, |spot| spot.base);
    let (data_base, stacks) = (base(Part::Data), base(Part::Stack));
    let what = Item::Of(Part::InitialData, domain.name.clone());
    let source = if program.data.file_bytes == 0 {
        0
    } else {
        pages(&mut spaces[rom], &what, program.data.file_bytes.into())?.0
    };
    Ok(DomainSpot {
        code_delta: 0,
        data_delta: 0,
        info: program.code.base + own_bytes,
        areas,
        code_base: program.code.base,
        data_base,
        stacks,
        source,
        table: (0, 0, TablePlace::OnChip),
        root: (0, 0, TablePlace::OnChip),
        far: (0, 0),
    })
}

/// The program was linked for addresses that a domain can have, and nobody asks for others.
fn linked(domain: &Domain, program: &Program) -> Result<(), PlaceError> {
    let declared = [&domain.code, &domain.data, &domain.stack].into_iter().find_map(|area| area.at);
    if let Some(address) = declared {
        let what = Item::Of(Part::Code, domain.name.clone());
        let reason = "programs stay where they were linked".into();
        return Err(PlaceError::At { what, address, reason });
    }
    let segments = [&program.code, &program.data].into_iter().filter(|segment| segment.bytes > 0);
    let page = system::rtmmu::PAGE;
    let wrong = segments.map(|segment| segment.base).find(|base| *base < BASE || !base.is_multiple_of(page));
    wrong.map_or(Ok(()), |address| {
        let reason = format!("code and data begin at pages from {BASE:#010x} on");
        Err(PlaceError::Fixed { domain: domain.name.clone(), address, reason })
    })
}

/// The areas of a domain, in the order in which it finds them.
struct Own<'a> {
    spaces: &'a mut [Space],
    domain: &'a Domain,
    areas: Vec<Spot>,
}

impl<'a> Own<'a> {
    /// The envelopes whose pages get frames at their first touch, or the others, with their numbers.
    fn envelopes(&self, on_demand: bool) -> impl Iterator<Item = (usize, &'a Envelope)> + use<'a> {
        let all = self.domain.envelopes.iter().enumerate();
        all.filter(move |(_, envelope)| envelope.on_demand.is_some() == on_demand)
    }

    /// Adds the arenas of the demand area, one behind the other: the kernel has one such area of a domain, from the first arena to the end of the last. The
    /// pages between two of them are no region, so that nobody maps them. All frames follow each other.
    fn demand_area(&mut self) -> Result<(), PlaceError> {
        let Some((first, Envelope { area: declared, .. })) = self.envelopes(true).next() else { return Ok(()) };
        let begin = self.areas.len();
        let mut physical = self.frames(first, declared.memory)?;
        for (index, Envelope { area, on_demand, .. }) in self.envelopes(true) {
            let bytes = room(area.extra.into()) as u32;
            let base = Addresses::behind(self.areas.iter()).take(bytes);
            let flags = area::READ | area::WRITE | area::DEMAND;
            let spot = Spot::new(Part::Envelope(index), (base, bytes), flags, area.spec);
            self.areas.push(Spot { physical, on_demand: *on_demand, mapped: Some((base, 0)), ..spot });
            physical += bytes;
        }
        // The first one's entry has the frames of all.
        let arenas = &mut self.areas[begin..];
        let frames = arenas.iter().map(|arena| arena.bytes).sum();
        arenas[0].mapped = Some((arenas[0].base, frames));
        Ok(())
    }

    /// The first of the frames of all arenas of the demand area. If there are too few, the error is that of the first arena that does not fit.
    fn frames(&mut self, first: usize, memory: usize) -> Result<u32, PlaceError> {
        let what = |index: usize| Item::Of(Part::Envelope(index), self.domain.name.clone());
        let sizes: Vec<_> = self.envelopes(true).map(|(index, arena)| (index, room(arena.area.extra.into()))).collect();
        let all = sizes.iter().map(|(_, bytes)| bytes).sum();
        let full = match pages(&mut self.spaces[memory], &what(first), all) {
            Ok((base, _)) => return Ok(base),
            Err(full) => full,
        };
        for (index, bytes) in sizes {
            pages(&mut self.spaces[memory], &what(index), bytes)?;
        }
        Err(full)
    }

    /// Adds an area of so many bytes: at an address, or behind all that are there.
    fn add(
        &mut self,
        part: Part,
        declared: &Area,
        bytes: u32,
        (rights, at): (u32, Option<u32>),
    ) -> Result<(), PlaceError> {
        if let Some(address) = declared.at {
            let what = Item::Of(part, self.domain.name.clone());
            return Err(PlaceError::At { what, address, reason: "the tool chooses addresses".into() });
        }
        let what = Item::Of(part.clone(), self.domain.name.clone());
        let (physical, bytes) = pages(&mut self.spaces[declared.memory], &what, bytes.into())?;
        let base = at.unwrap_or_else(|| Addresses::behind(self.areas.iter()).take(bytes));
        if let Some(other) =
            self.areas.iter().find(|other| base < other.base + other.reach() && other.base < base + bytes)
        {
            let reason = format!("{} is in its place", other.part.name());
            return Err(PlaceError::At { what, address: base, reason });
        }
        self.areas.push(Spot { base, physical, ..Spot::new(part, (base, bytes), rights, declared.spec) });
        Ok(())
    }
}
