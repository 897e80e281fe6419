//! Placement where accesses are checked by page tables.
//!
//! Memory that the tool places is mapped where it is physically, but for memory and devices in the kernel's half of the address space: domains have
//! these at addresses that lie lower by an offset. Areas whose check may not leave the chip are *near*: their second-level
//! tables lie in on-chip memory, of which there is little, so that all small ones of a domain lie in one aligned MiB, which takes one table.
//! All others are *far*; no aligned MiB of a domain holds both. Areas that are to be kept in locked entries of the TLB lie, with all of
//! their domain that have the same rights, in one unit that an entry holds: 4 KiB, 64 KiB or 1 MiB.

mod admission;
mod chunk;
mod domain;
mod tables;
#[cfg(test)]
mod tests;

use protect::vmsav7::Unit;
use spec::{AccessLevel, TemporalSpec};
use system::vmsav7::{Caches, PAGE};

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::plan::{DomainSpot, Plan, Spot, TABLES_BYTES, common_areas, ledger_area, place_ledger};
use crate::request::{Pages, Request};

/// Bytes from which on an area has sections.
const SECTION: u64 = Unit::Section.bytes() as u64;

/// How the check of an area's accesses is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    /// In a locked entry of the TLB.
    Locked,
    /// By a walk of tables in on-chip memory.
    Near,
    /// By a walk of tables anywhere.
    Far,
}

/// How a specification is kept; what no chip of this kind keeps has been refused before.
pub(crate) fn keep(spec: TemporalSpec) -> Keep {
    match spec.access {
        AccessLevel::Deterministic | AccessLevel::L1 => Keep::Locked,
        AccessLevel::L2 | AccessLevel::L3 => Keep::Near,
        AccessLevel::BestEffort => Keep::Far,
    }
}

/// Bits of an area with this specification.
pub(crate) fn flags(spec: TemporalSpec) -> u32 {
    use system::area::{NEAR, PINNED};
    match keep(spec) {
        Keep::Locked => PINNED,
        Keep::Near => NEAR,
        Keep::Far => 0,
    }
}

/// Bytes of an area: whole pages.
pub(crate) fn room(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(u64::from(PAGE))
}

/// The alignment with which an area of so many bytes takes the fewest entries. A memory that one table translates is small, and none of it is spent on
/// alignment.
pub(crate) fn alignment(space: &Space, bytes: u64) -> u64 {
    if space.is_within_mib() {
        return PAGE.into();
    }
    Unit::ALL
        .into_iter()
        .rev()
        .map(|unit| u64::from(unit.bytes()))
        .find(|unit| bytes >= *unit)
        .unwrap_or(u64::from(PAGE))
}

/// Places a system on a board with page tables.
pub(crate) fn plan(
    request: &Request,
    pages: &Pages,
    kernel: &Kernel,
    programs: &[Program],
) -> Result<Plan, PlaceError> {
    let mut spaces: Vec<Space> = request.memories.iter().map(Space::new).collect();
    let rom = request.memories.iter().position(|memory| memory.rom).unwrap_or(0);
    let mut read_only = Vec::new();
    let tables = spaces[rom].plain("the tables", TABLES_BYTES, u64::from(PAGE))?;
    read_only.push((tables, TABLES_BYTES as u32));
    let mut domains = Vec::new();
    // What is fixed first; then in order.
    let mut order: Vec<usize> = (0..request.domains.len()).collect();
    order.sort_by_key(|&index| !domain::is_fixed(&request.domains[index], &programs[index]));
    for &index in &order {
        domains.push((index, domain::place(&mut spaces, &request.domains[index], &programs[index], rom)?));
    }
    domains.sort_by_key(|(index, _)| *index);
    let mut domains: Vec<DomainSpot> = domains.into_iter().map(|(_, spot)| spot).collect();
    let (files, shared) = common(request, &mut spaces)?;
    read_only.extend(&files);
    let mut frames = Vec::new();
    for range in &request.frames {
        let bytes = room(u64::from(range.bytes));
        let space = &mut spaces[range.memory];
        let base = space.far(&format!("frames {}", range.name), bytes, alignment(space, bytes))?;
        frames.push((base, bytes as u32));
    }
    let handed_over = place_ledger(request, |bytes| {
        let base = spaces[rom].far("the ledger", room(bytes), u64::from(PAGE))?;
        Ok((base, room(bytes) as u32))
    })?;
    read_only.extend(handed_over);
    for (spot, (domain, program)) in domains.iter_mut().zip(request.domains.iter().zip(programs)) {
        spot.areas.extend(common_areas(request, domain, &files, &shared));
        spot.areas.extend(handed_over.filter(|_| domain.ledger).map(ledger_area));
        spot.areas.iter_mut().for_each(|area| mapped(area, request, pages));
        read_only.extend(domain::read_only(spot, program));
    }
    // Tables take what areas have left of the memory on the chip.
    let left = |space: &Space| space.gaps().iter().map(|gap| (gap.1 - gap.0) as u32).sum();
    let on_chip = pages.tables.map_or(0, |index| left(&spaces[index]));
    let (near_tables, caches) = tables::place(request, pages, &mut domains, &mut spaces, rom)?;
    let (ledger, pools) = admission::admit(request, &mut domains, &frames, (on_chip, caches.bytes))?;
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
        read_only,
        near_tables,
        caches: Caches { prefetch: pages.prefetch.into(), ..caches },
    })
}

/// Base and size of each file's area, and of each shared memory's.
type Common = (Vec<(u32, u32)>, Vec<(u32, u32)>);

/// Files and shared memory: near only if somebody asks for it, and then in a MiB of their own, because others may have them far.
fn common(request: &Request, spaces: &mut [Space]) -> Result<Common, PlaceError> {
    let domains = || request.domains.iter();
    let strictest = |specs: &mut dyn Iterator<Item = TemporalSpec>| specs.map(keep).min().unwrap_or(Keep::Far);
    let mut files = Vec::new();
    for (index, file) in request.files.iter().enumerate() {
        let uses = domains().flat_map(|domain| &domain.files).filter(|used| used.file == index);
        let kept = strictest(&mut uses.map(|used| used.spec));
        let bytes = file.contents.len() as u64;
        files.push(apart(&mut spaces[file.memory], &format!("file {}", file.name), bytes, kept, None)?);
    }
    let mut shared = Vec::new();
    for (index, memory) in request.shared.iter().enumerate() {
        let uses = domains().flat_map(|domain| &domain.shared).filter(|used| used.shared == index);
        let kept = strictest(&mut uses.map(|used| used.spec));
        let (what, bytes) = (format!("shared memory {}", memory.name), u64::from(memory.bytes));
        shared.push(apart(&mut spaces[memory.memory], &what, bytes, kept, memory.at)?);
    }
    Ok((files, shared))
}

fn apart(space: &mut Space, what: &str, bytes: u64, kept: Keep, at: Option<u32>) -> Result<(u32, u32), PlaceError> {
    let size = if kept == Keep::Locked { chunk::unit(what, room(bytes))? } else { room(bytes) };
    if let Some(address) = at {
        return Ok((space.at(what, size, address)?, size as u32));
    }
    let base = match kept {
        Keep::Far => space.far(what, size, alignment(space, size))?,
        // Whatever a domain has there, its tables agree.
        Keep::Near if space.is_within_mib() => space.near(what, size, alignment(space, size))?,
        Keep::Locked if space.is_within_mib() => space.near(what, size, size)?,
        // All of the MiB is taken, so that nothing of a domain that has it far is near there.
        Keep::Locked | Keep::Near => space.near(what, size.next_multiple_of(SECTION), SECTION)?,
    };
    Ok((base, size as u32))
}

/// Sets what the kernel maps for an area that has been placed: where its domain has it, and how the check is kept.
fn mapped(area: &mut Spot, request: &Request, pages: &Pages) {
    use system::area::{DEVICE, NEAR, PINNED, WRITE_THROUGH};
    if area.memory == DEVICE {
        // Its registers cannot be in an entry that is locked, and nothing asks for it.
        area.spec = TemporalSpec::level(AccessLevel::L2);
    }
    area.flags = area.flags & !(PINNED | NEAR) | flags(area.spec);
    let offset = match request.memory_at(area.physical) {
        _ if area.memory == DEVICE => pages.device_offset,
        memory => memory.map_or(0, |memory| memory.offset),
    };
    // One kind of memory, and one kind of attributes for it.
    area.memory = if area.memory == WRITE_THROUGH { system::area::NORMAL } else { area.memory };
    area.base = area.physical - offset;
    let (base, bytes) = area.mapped.unwrap_or((area.physical, area.bytes));
    area.mapped = Some((base - offset, bytes));
}
