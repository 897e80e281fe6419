//! Checks of blocks for region registers.

use protect::regions::slots::Replacement;

use super::{is_kernel, overlaps, require};
use crate::regions::{LEAST_PAGED_BYTES, Paging, RegionScheme, Shape, nodes};
use crate::{Area, System, area};

pub(crate) fn domain<U: RegionScheme>(system: &System, index: usize) -> Result<(), &'static str> {
    let own: Paging = system.own_domain::<U>(index);
    require(own.paged_slots <= 8, "paged_slots")?;
    require(Replacement::from_number(own.replacement).is_some(), "replacement")?;
    require(own.nodes <= nodes::TCM, "nodes")?;
    let holds = own.table_base.is_multiple_of(32) && is_kernel(system, own.table_base, own.table_bytes);
    require(own.table_bytes == 0 || holds, "table_base")?;
    let apart = |other: Paging| !overlaps((own.table_base, own.table_bytes), (other.table_base, other.table_bytes));
    require((0..index).all(|other| apart(system.own_domain::<U>(other))), "table_base")
}

pub(crate) fn area<U: RegionScheme>(system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
    let Shape { page_log2, disabled } = system.own_area::<U>(index);
    require(entry.flags & area::NEAR == 0, "flags")?;
    let pinned = entry.flags & area::PINNED != 0;
    require(pinned || entry.memory != area::DEVICE, "memory")?;
    require(pinned || entry.bytes >= LEAST_PAGED_BYTES, "bytes")?;
    let pages = LEAST_PAGED_BYTES.ilog2()..=31;
    require(page_log2 == 0 || (!pinned && pages.contains(&page_log2)), "page_log2")?;
    if disabled != 0 {
        let whole = |value: u32| page_log2 != 0 && value.trailing_zeros() >= page_log2;
        require(U::has_eighths() && disabled < 0xff && whole(entry.base) && whole(entry.bytes), "disabled")?;
    }
    require((disabled != 0) == (entry.flags & area::WOVEN != 0), "flags")
}

/// Checks an area where there is one security state: its physical address is its address, because
/// region registers translate nothing, and it is not opened to handlers.
pub(crate) fn is_in_place(entry: &Area) -> Result<(), &'static str> {
    require(entry.flags & area::OPEN == 0, "flags")?;
    require(entry.physical == entry.base, "physical")
}

/// Returns true if two areas have eighths of the same regions without having a byte in common.
pub(crate) fn are_apart<U: RegionScheme>(system: &System, one: usize, other: usize) -> bool {
    let [one, other] = [one, other].map(|index| system.own_area::<U>(index));
    one.page_log2 == other.page_log2 && one.disabled | other.disabled == 0xff
}
