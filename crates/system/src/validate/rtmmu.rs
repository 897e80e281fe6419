//! Checks of blocks for RTMMU, and the MMUs that it is compared with.

use super::{is_kernel, overlaps, require};
use crate::rtmmu::{BASE, Hardware, MOST_PAGES_LOG2, Mmu, PAGE, Rtmmu, Space};
use crate::{Area, Domain, System, area};

/// Returns true if there can be such hardware.
pub(crate) fn hardware(system: &System) -> bool {
    let Hardware { entries_log2, mmu, entries } = system.own::<Rtmmu>();
    entries_log2 <= MOST_PAGES_LOG2 + 1 && Mmu::from_number(mmu).is_some() && entries.is_multiple_of(PAGE)
}

pub(crate) fn domain(system: &System, index: usize) -> Result<(), &'static str> {
    let own: Space = system.own_domain::<Rtmmu>(index);
    let Hardware { entries_log2, mmu, .. } = system.own::<Rtmmu>();
    let mmu = Mmu::from_number(mmu).ok_or("mmu")?;
    require((mmu.least_pages_log2()..=MOST_PAGES_LOG2).contains(&own.pages_log2), "pages_log2")?;
    let inside = own.end(mmu) <= 1 << entries_log2;
    require(inside && own.first.is_multiple_of(1 << mmu.entries_log2(own.pages_log2)), "first")?;
    require(own.tree.is_multiple_of(4) && is_kernel(system, own.tree, own.tree_bytes()), "tree")?;
    let links = links(system, index, &own)?;
    require(!overlaps(links, (own.tree, own.tree_bytes())), "links")?;
    for at in 0..index {
        let other = system.own_domain::<Rtmmu>(at);
        let (tree, others) = ((other.tree, other.tree_bytes()), self::links(system, at, &other)?);
        require(own.end(mmu) <= u64::from(other.first) || other.end(mmu) <= u64::from(own.first), "first")?;
        require(
            !overlaps((own.tree, own.tree_bytes()), tree) && !overlaps((own.tree, own.tree_bytes()), others),
            "tree",
        )?;
        require(!overlaps(links, tree) && !overlaps(links, others), "links")?;
    }
    Ok(())
}

/// Kernel memory for the links of a domain's demand area, if it has one; there is one area with its frames.
fn links(system: &System, index: usize, own: &Space) -> Result<(u32, u32), &'static str> {
    let entry = system.get::<Domain>(index);
    let (first, count) = (entry.first_area as usize, entry.areas as usize);
    // Tables of areas are checked later.
    let areas = (first..first.saturating_add(count)).take_while(|at| *at < system.count::<Area>());
    let mut on_demand = areas.map(|at| system.get::<Area>(at)).filter(|area| area.flags & area::DEMAND != 0);
    let (found, more) = (on_demand.next(), on_demand.next());
    require(more.is_none() && found.is_some() == (own.demand_pages != 0), "demand_pages")?;
    let Some(area) = found else { return Ok((0, 0)) };
    require(own.demand_pages >= area.bytes / PAGE, "demand_pages")?;
    let bytes = Space::links_bytes(area.bytes);
    require(own.links.is_multiple_of(4) && is_kernel(system, own.links, bytes), "links")?;
    Ok((own.links, bytes))
}

pub(crate) fn area(system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
    require(entry.base.is_multiple_of(PAGE), "base")?;
    require(entry.bytes.is_multiple_of(PAGE), "bytes")?;
    // A frame's number has as many bits as that of a page.
    let end = u64::from(entry.physical) + u64::from(entry.bytes);
    require(entry.physical.is_multiple_of(PAGE) && end <= u64::from(BASE), "physical")?;
    let own = system.own_domain::<Rtmmu>(entry.domain as usize);
    let pages = 1 << own.pages_log2;
    let last = u64::from(entry.base) + own.reach(entry);
    require(entry.base >= BASE && last - u64::from(BASE) <= pages * u64::from(PAGE), "base")?;
    // The hardware keeps no translation, so no check can be pinned. All tables are equally near.
    require(entry.flags & (area::WOVEN | area::OPEN | area::PINNED | area::NEAR) == 0, "flags")?;
    require(entry.memory == area::NORMAL || entry.memory == area::DEVICE, "memory")?;
    // Such memory is one domain's data.
    let on_demand = entry.flags & area::DEMAND != 0;
    require(!on_demand || entry.flags == area::READ | area::WRITE | area::DEMAND, "flags")?;
    require(!on_demand || entry.memory == area::NORMAL, "memory")?;
    for other in system.all::<Area>().take(index).filter(|other| other.domain == entry.domain) {
        let begin = |area: &Area| u64::from(area.base);
        let end = |area: &Area| begin(area) + own.reach(area);
        require(end(entry) <= begin(&other) || end(&other) <= begin(entry), "base")?;
    }
    Ok(())
}
