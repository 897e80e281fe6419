//! Checks of blocks for region registers.

use super::{is_kernel, overlaps, require};
use crate::{Area, Domain, System, area, nodes, replacement};

pub(super) fn domain(system: &System, index: usize, entry: &Domain) -> Result<(), &'static str> {
    require(entry.root == 0, "root")?;
    require(entry.far_base == 0, "far_base")?;
    require(entry.far_bytes == 0, "far_bytes")?;
    require(entry.paged_slots <= 8, "paged_slots")?;
    require(entry.replacement <= replacement::RANDOM, "replacement")?;
    require(entry.nodes <= nodes::TCM, "nodes")?;
    let holds = entry.table_base.is_multiple_of(32) && is_kernel(system, entry.table_base, entry.table_bytes);
    require(entry.table_bytes == 0 || holds, "table_base")?;
    let apart = |other: Domain| !overlaps((entry.table_base, entry.table_bytes), (other.table_base, other.table_bytes));
    require((0..index).all(|other| apart(system.get(other))), "table_base")
}

pub(super) fn area(entry: &Area) -> Result<(), &'static str> {
    require(entry.physical == entry.base, "physical")?;
    require(entry.flags < area::LOCKED, "flags")?;
    let pinned = entry.flags & area::PINNED != 0;
    require(pinned || entry.memory != area::DEVICE, "memory")?;
    require(pinned || entry.bytes >= area::LEAST_PAGED_BYTES, "bytes")?;
    let pages = area::LEAST_PAGED_BYTES.ilog2()..=31;
    let page_allowed = entry.page_log2 == 0 || (!pinned && pages.contains(&entry.page_log2));
    require(page_allowed, "page_log2")?;
    if entry.disabled != 0 {
        let whole = |value: u32| entry.page_log2 != 0 && value.trailing_zeros() >= entry.page_log2;
        require(entry.disabled < 0xff && whole(entry.base) && whole(entry.bytes), "disabled")?;
    }
    Ok(())
}
