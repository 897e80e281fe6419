//! The areas of one domain.

use manifest::resolved::{Area, Domain, Envelope, Item, Part};
use spec::{TablePlace, TemporalSpec};
use system::area;
use system::vmsav7::PAGE;

use super::chunk::{Chunk, unit};
use super::keep::{Keep, SECTION, alignment, keep, room};
use crate::allocate::Space;
use crate::elf::Program;
use crate::error::PlaceError;
use crate::local;
use crate::spot::{DomainSpot, Spot, fixed_error, info_bytes, stack_bytes};

/// An area with what it asks for.
struct Asked {
    part: Part,
    /// For errors.
    what: Item,
    bytes: u64,
    spec: TemporalSpec,
    rights: u32,
    at: Option<u32>,
    memory: usize,
    /// Nothing of the domain may be right below it: a stack that overflows meets nothing.
    guarded: bool,
}

/// Location of an item: base and bytes, and the range that is mapped for it if it shares a unit.
type Lies = (u32, u32, Option<(u32, u32)>);

/// Whether something of the domain has an address already.
pub(super) fn is_fixed(domain: &Domain, program: &Program) -> bool {
    let areas = [&domain.code, &domain.data, &domain.stack];
    program.relocations.is_empty() || areas.iter().any(|area| area.at.is_some())
}

/// Parts of a domain that nobody writes: its code, and its initial data.
pub(super) fn read_only(spot: &DomainSpot, program: &Program) -> Vec<(u32, u32)> {
    let code = spot.areas.iter().filter(|area| area.flags & area::EXECUTE != 0).filter_map(|area| area.mapped);
    let source = (spot.source, room(u64::from(program.data.file_bytes)) as u32);
    code.chain([source]).collect()
}

/// Places what is the domain's own.
pub(super) fn place(
    spaces: &mut [Space],
    domain: &Domain,
    program: &Program,
    rom: usize,
) -> Result<DomainSpot, PlaceError> {
    let stack = stack_bytes(domain).next_multiple_of(program.data.align.max(32));
    let together = domain.stacks_join_data() && keep(domain.data.spec) != Keep::Far && !program.relocations.is_empty();
    let items = items(domain, program, stack, together);
    let lies = lay(spaces, &items).map_err(|error| fixed_error(program, program.code.base, error))?;
    let shown = |index: usize| spaces[items[index].memory].shown(lies[index].0);
    let at = |part: Part| items.iter().position(|item| item.part == part).map(shown);
    let code_base = at(Part::Code).unwrap_or(0);
    let stacks = at(Part::Stack).or(at(Part::Data)).unwrap_or(0);
    let data_base = at(Part::Data).map_or(program.data.base, |base| if together { base + stack } else { base });
    let what = Item::Of(Part::InitialData, domain.name.clone());
    let source = spaces[rom].far(&what, room(u64::from(program.data.file_bytes)), u64::from(PAGE))?;
    let moved = |to: u32, from: u32| i64::from(to) - i64::from(from);
    Ok(DomainSpot {
        code_delta: moved(code_base, program.code.base),
        data_delta: if program.data.bytes == 0 { 0 } else { moved(data_base, program.data.base) },
        info: code_base + own_bytes(domain, program),
        areas: items
            .into_iter()
            .zip(lies)
            .map(|(item, (base, bytes, mapped))| Spot {
                mapped,
                ..Spot::new(item.part, (base, bytes), item.rights, item.spec)
            })
            .collect(),
        code_base,
        data_base,
        stacks,
        source,
        table: (0, 0, TablePlace::OnChip),
        root: (0, 0, TablePlace::OffChip),
        far: (0, 0),
    })
}

/// Bytes of a program's code, with what leads to its entries.
fn own_bytes(domain: &Domain, program: &Program) -> u32 {
    program.code.bytes.next_multiple_of(8) + local::code_bytes(domain, program)
}

/// The areas in the order in which the domain finds them.
fn items(domain: &Domain, program: &Program, stack: u32, together: bool) -> Vec<Asked> {
    // A program without relocations stays where it was linked, or is refused.
    let fixed = |at: Option<u32>, linked: u32| if program.relocations.is_empty() { Some(linked) } else { at };
    let writable = area::READ | area::WRITE;
    let item = |part: Part, declared: &Area, bytes: u64, rights: u32| Asked {
        what: Item::Of(part.clone(), domain.name.clone()),
        part,
        bytes,
        spec: declared.spec,
        rights,
        at: declared.at,
        memory: declared.memory,
        guarded: false,
    };
    let code_bytes = own_bytes(domain, program) + info_bytes(domain) + domain.code.extra;
    let code = item(Part::Code, &domain.code, u64::from(code_bytes), area::READ | area::EXECUTE);
    let mut items = vec![Asked { at: fixed(domain.code.at, program.code.base), ..code }];
    let data_bytes = u64::from(program.data.bytes.next_multiple_of(8) + domain.data.extra);
    if together {
        let data = item(Part::Data, &domain.data, u64::from(stack) + data_bytes, writable);
        items.push(Asked { guarded: true, ..data });
    } else {
        items.push(Asked { guarded: true, ..item(Part::Stack, &domain.stack, u64::from(stack), writable) });
        if data_bytes > 0 {
            let data = item(Part::Data, &domain.data, data_bytes, writable);
            items.push(Asked { at: fixed(domain.data.at, program.data.base), ..data });
        }
    }
    items.extend(domain.heap.iter().map(|heap| item(Part::Heap, &heap.area, u64::from(heap.area.extra), writable)));
    for (index, Envelope { area, .. }) in domain.envelopes.iter().enumerate() {
        items.push(item(Part::Envelope(index), area, u64::from(area.extra), writable));
    }
    items
}

/// Decides where every item lies: what is near and small in one chunk of its memory, everything else by itself.
fn lay(spaces: &mut [Space], items: &[Asked]) -> Result<Vec<Lies>, PlaceError> {
    let mut lies: Vec<Option<Lies>> = vec![None; items.len()];
    for (memory, space) in spaces.iter_mut().enumerate() {
        lay_in(space, memory, items, &mut lies)?;
    }
    Ok(lies.into_iter().flatten().collect())
}

/// The same for the items in one memory.
fn lay_in(space: &mut Space, memory: usize, items: &[Asked], lies: &mut [Option<Lies>]) -> Result<(), PlaceError> {
    let mut chunk = Chunk::default();
    let mut in_chunk: Vec<(usize, usize)> = Vec::new();
    let mut units: Vec<(usize, Vec<(usize, u64)>)> = Vec::new();
    let own = || items.iter().enumerate().filter(|(_, item)| item.memory == memory);
    for (index, item) in own() {
        if let Some(address) = item.at {
            let bytes = if keep(item.spec) == Keep::Locked { unit(&item.what, item.bytes)? } else { room(item.bytes) };
            lies[index] = Some((space.at(&item.what, bytes, address)?, bytes as u32, None));
            continue;
        }
        let bytes = room(item.bytes);
        match keep(item.spec) {
            Keep::Far => {
                let base = space.far(&item.what, bytes, alignment(space, bytes))?;
                lies[index] = Some((base, bytes as u32, None));
            }
            Keep::Near if bytes >= SECTION => {
                let base = space.near(&item.what, bytes, alignment(space, bytes))?;
                lies[index] = Some((base, bytes as u32, None));
            }
            Keep::Near => in_chunk.push((index, chunk.add(bytes, alignment(space, bytes), item.guarded))),
            Keep::Locked => group(&mut units, items, index),
        }
    }
    let mut placed_units = Vec::new();
    for (_, members) in &units {
        let (last, end) = members.last().map(|(last, end)| (*last, *end)).unwrap_or_default();
        let bytes = unit(&items[last].what, end)?;
        placed_units.push((chunk.add(bytes, bytes, true), bytes));
    }
    let (bytes, align) = chunk.shape();
    let first = own().next().filter(|_| bytes > 0);
    let base = first.map_or(Ok(0), |(_, item)| space.near(&item.what, bytes, align))?;
    for (index, part) in in_chunk {
        let (at, bytes) = chunk.place(part, base);
        lies[index] = Some((at, bytes, None));
    }
    for ((_, members), (part, _)) in units.iter().zip(placed_units) {
        let (at, bytes) = chunk.place(part, base);
        share(items, members, (at, bytes), lies);
    }
    Ok(())
}

/// Puts an item to be locked behind those with the same rights; each member is kept with the end of what it takes.
fn group(units: &mut Vec<(usize, Vec<(usize, u64)>)>, items: &[Asked], index: usize) {
    let own = |(first, _): &&mut (usize, Vec<(usize, u64)>)| items[*first].rights == items[index].rights;
    match units.iter_mut().find(own) {
        Some((_, members)) => {
            let from = members.last().map_or(0, |(_, end)| end.next_multiple_of(GRAIN));
            members.push((index, from + items[index].bytes));
        }
        None => units.push((index, vec![(index, items[index].bytes)])),
    }
}

/// Areas that share a unit begin at multiples of this many bytes.
const GRAIN: u64 = 64;

/// Members of a unit: the first is mapped with all of it, the last has what is left over.
fn share(items: &[Asked], members: &[(usize, u64)], (base, bytes): (u32, u32), lies: &mut [Option<Lies>]) {
    for (position, &(index, end)) in members.iter().enumerate() {
        let from = (end - items[index].bytes) as u32;
        let to = if position + 1 == members.len() { bytes } else { end as u32 };
        let mapped = if position == 0 { (base, bytes) } else { (base, 0) };
        lies[index] = Some((base + from, to - from, Some(mapped)));
    }
}
