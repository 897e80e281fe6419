//! What the kernel makes of areas: regions, and memory for the tables of paged ones. The host asks here, too, so that both agree.

use protect::pmsav7::pctrie::{LEAVES_PER_NODE, NODE_BYTES, SHIFTS, window_log2};
use protect::pmsav7::{REGIONS, RegionRegs, Span, cover};
use protect::{Access, Data, MemType};

use crate::{Area, Cap, Domain, System, area};

/// An area that registers cannot express exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotExact;

/// Rights and memory type of an area.
pub fn attributes(entry: &Area) -> (Access, MemType) {
    let data = if entry.flags & area::WRITE != 0 { Data::Rw } else { Data::Ro };
    let memory = match entry.memory {
        area::NORMAL => MemType::WriteBack,
        area::WRITE_THROUGH => MemType::WriteThrough,
        area::UNCACHED => MemType::NonCacheable,
        _ => MemType::Device,
    };
    (Access { data, exec: entry.flags & area::EXECUTE != 0 }, memory)
}

/// The regions of an area: of the page size where one is given, otherwise as large as they can be.
pub fn regions(entry: &Area) -> impl Iterator<Item = Result<RegionRegs, NotExact>> + use<> {
    let entry = *entry;
    let (access, memory) = attributes(&entry);
    let end = u64::from(entry.base) + u64::from(entry.bytes);
    let mut base = u64::from(entry.base);
    let mut found = [RegionRegs::DISABLED; REGIONS];
    let (mut next, mut count) = (0, 0);
    core::iter::from_fn(move || {
        if next == count {
            if base >= end {
                return None;
            }
            // Up to the next page boundary, so that pages are aligned even where the area is not.
            let step = match entry.page_log2 {
                0 => end - base,
                log2 => (base + 1).next_multiple_of(1 << log2).min(end) - base,
            };
            let Ok(covered) = cover(Span::new(base as u32, step), access, memory, &mut found) else {
                base = end;
                return Some(Err(NotExact));
            };
            (next, count) = (0, covered);
            base += step;
        }
        next += 1;
        let regs = found[next - 1];
        // The tables give eighths only to areas that are made of whole regions.
        Some(Ok(RegionRegs { rasr: regs.rasr | entry.disabled << 8, ..regs }))
    })
}

/// Nodes that the table of a domain may need beyond those of its own areas, for memory that is mapped while it runs.
const SPARE_NODES: usize = 3;

/// Nodes of memory for the table of a domain, regions included: 0 for one that can have no paged memory. `mapped`: whether memory can
/// be mapped to it while it runs.
///
/// # Errors
/// [`NotExact`].
pub fn table_nodes(areas: impl Iterator<Item = Area> + Clone, mapped: bool) -> Result<usize, NotExact> {
    let paged = areas.filter(|entry| entry.flags & area::PINNED == 0);
    // One for the root, those in which an area's own regions part, and one for each area that parts from another.
    let (mut nodes, mut leaves) = (0, 0);
    for entry in paged {
        let (own_regions, own_nodes) = needs(&entry)?;
        nodes += own_nodes + 1;
        leaves += own_regions;
    }
    if leaves > 0 {
        nodes += 1;
    }
    if mapped {
        nodes += SPARE_NODES;
        leaves += 1;
    }
    Ok(nodes + leaves.div_ceil(LEAVES_PER_NODE as usize))
}

/// Bytes of memory for the table of a domain; see [`table_nodes`].
///
/// # Errors
/// [`NotExact`].
pub fn table_bytes(areas: impl Iterator<Item = Area> + Clone, mapped: bool) -> Result<u32, NotExact> {
    Ok(table_nodes(areas, mapped)? as u32 * NODE_BYTES)
}

/// Kind of a capability to frames (`abi::Kind`).
pub(crate) const FRAMES: u32 = 7;

/// Whether somebody can map memory to a domain while it runs: holds frames, and the domain with the right to change it.
pub fn can_be_mapped(system: &System, domain: usize) -> bool {
    const DOMAIN: u32 = 1;
    const WRITE: u32 = 2;
    let names = |cap: &Cap| cap.kind == DOMAIN && cap.object as usize == domain && cap.rights & WRITE != 0;
    let frames = |holder: u32| system.all::<Cap>().any(|cap| cap.domain == holder && cap.kind == FRAMES);
    system.all::<Cap>().filter(names).any(|cap| frames(cap.domain))
}

/// A domain's areas.
pub fn areas_of(system: &System<'_>, domain: &Domain) -> impl Iterator<Item = Area> + Clone {
    let (first, count) = (domain.first_area as usize, domain.areas as usize);
    (first..first + count).map(|index| system.get::<Area>(index))
}

/// Regions of a paged area, and the most trie nodes in which two of its keys part: no more than there are windows that the area
/// touches at the levels above its smallest key, and one less than it has keys (see `protect::pmsav7::pctrie`).
fn needs(entry: &Area) -> Result<(usize, usize), NotExact> {
    let (mut pieces, mut keys, mut smallest) = (0, 0, u32::BITS);
    for regs in regions(entry) {
        let regs = regs?;
        let parts = regs.srd() != 0;
        pieces += 1;
        keys += if parts { 8 } else { 1 };
        smallest = smallest.min(regs.size_log2() - if parts { 3 } else { 0 });
    }
    let first = u64::from(entry.base);
    let last = first + u64::from(entry.bytes) - 1;
    let levels = SHIFTS.into_iter().map(window_log2).filter(|window| *window > smallest);
    let windows: u64 = levels.map(|window| (last >> window) - (first >> window) + 1).sum();
    Ok((pieces, (windows as usize).min(keys - 1)))
}
