//! Checks of blocks for RTMMU.

use super::{is_kernel, overlaps, require};
use crate::rtmmu::{BASE, Hardware, MOST_PAGES_LOG2, PAGE, Rtmmu, Space};
use crate::{Area, System, area};

/// Whether there can be such hardware.
pub(crate) fn hardware(system: &System) -> bool {
    let Hardware { entries_log2 } = system.own::<Rtmmu>();
    entries_log2 <= MOST_PAGES_LOG2 + 1
}

pub(crate) fn domain(system: &System, index: usize) -> Result<(), &'static str> {
    let own: Space = system.own_domain::<Rtmmu>(index);
    require(own.pages_log2 <= MOST_PAGES_LOG2, "pages_log2")?;
    let inside = own.end() <= 1 << system.own::<Rtmmu>().entries_log2;
    require(inside && own.first.is_multiple_of(1 << own.pages_log2), "first")?;
    require(own.tree.is_multiple_of(4) && is_kernel(system, own.tree, own.tree_bytes()), "tree")?;
    for other in (0..index).map(|other| system.own_domain::<Rtmmu>(other)) {
        require(own.end() <= u64::from(other.first) || other.end() <= u64::from(own.first), "first")?;
        require(!overlaps((own.tree, own.tree_bytes()), (other.tree, other.tree_bytes())), "tree")?;
    }
    Ok(())
}

pub(crate) fn area(system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
    require(entry.base.is_multiple_of(PAGE), "base")?;
    require(entry.bytes.is_multiple_of(PAGE), "bytes")?;
    // A frame's number has as many bits as that of a page.
    let end = u64::from(entry.physical) + u64::from(entry.bytes);
    require(entry.physical.is_multiple_of(PAGE) && end <= u64::from(BASE), "physical")?;
    let pages = 1 << system.own_domain::<Rtmmu>(entry.domain as usize).pages_log2;
    let last = u64::from(entry.base) + u64::from(entry.bytes);
    require(entry.base >= BASE && last - u64::from(BASE) <= pages * u64::from(PAGE), "base")?;
    // The hardware keeps nothing, so that no check can be pinned; and all tables are equally near.
    require(entry.flags & (area::WOVEN | area::OPEN | area::PINNED | area::NEAR) == 0, "flags")?;
    require(entry.memory == area::NORMAL || entry.memory == area::DEVICE, "memory")?;
    for other in system.all::<Area>().take(index).filter(|other| other.domain == entry.domain) {
        require(!overlaps((entry.base, entry.bytes), (other.base, other.bytes)), "base")?;
    }
    Ok(())
}
