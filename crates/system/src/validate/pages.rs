//! Checks of blocks for page tables.

use super::{is_kernel, overlaps, require};
use crate::pages::{END, LOCK_SLOTS, PAGE, SPLIT, TABLE, WAY_BYTES, WAYS, is_in_table, is_unit, touched};
use crate::{Area, Domain, LockedWays, System, area};

/// The memory of a domain's tables, with the name of each part.
fn parts(entry: &Domain) -> [(u32, u32, &'static str); 3] {
    [
        (entry.root, SPLIT.table_bytes(), "root"),
        (entry.table_base, entry.table_bytes, "table_base"),
        (entry.far_base, entry.far_bytes, "far_base"),
    ]
}

/// Whether what is locked in the second-level cache can be.
pub(super) fn locked_ways(system: &System) -> bool {
    let LockedWays { ways, base, bytes } = system.locked_ways();
    if !system.has_pages() {
        return (ways, base, bytes) == (0, 0, 0);
    }
    // A line that is read ahead must not displace one that is to stay.
    let room = ways <= WAYS && (bytes == 0 || bytes < ways * WAY_BYTES);
    let fits = room && (base | bytes).is_multiple_of(TABLE);
    fits && (bytes == 0 || is_kernel(system, base, bytes))
}

pub(super) fn domain(system: &System, index: usize, entry: &Domain) -> Result<(), &'static str> {
    require(entry.root != 0 && entry.root.is_multiple_of(SPLIT.table_bytes()), "root")?;
    require((entry.table_base | entry.table_bytes).is_multiple_of(TABLE), "table_base")?;
    require((entry.far_base | entry.far_bytes).is_multiple_of(TABLE), "far_base")?;
    require(entry.paged_slots == 0, "paged_slots")?;
    require(entry.replacement == 0, "replacement")?;
    require(entry.nodes == 0, "nodes")?;
    let own = parts(entry);
    for (at, (base, bytes, field)) in own.into_iter().enumerate() {
        require(bytes == 0 || is_kernel(system, base, bytes), field)?;
        let apart = |(other, size, _): &(u32, u32, &str)| !overlaps((base, bytes), (*other, *size));
        require(own[..at].iter().all(apart), field)?;
        require((0..index).all(|other| parts(&system.get(other)).iter().all(apart)), field)?;
    }
    Ok(())
}

pub(super) fn area(system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
    require(entry.base.is_multiple_of(PAGE), "base")?;
    require(entry.bytes.is_multiple_of(PAGE), "bytes")?;
    require(entry.physical.is_multiple_of(PAGE), "physical")?;
    require(u64::from(entry.physical) + u64::from(entry.bytes) <= 1 << 32, "physical")?;
    require(u64::from(entry.base) + u64::from(entry.bytes) <= END, "bytes")?;
    require(entry.flags < 2 * area::NEAR, "flags")?;
    require(entry.flags & area::PINNED == 0 || entry.flags & (area::NEAR | area::LOCKED) != 0, "flags")?;
    // The kernel has the same memory mapped to be written back.
    require(entry.memory == area::NORMAL || entry.memory == area::DEVICE, "memory")?;
    require(entry.page_log2 == 0, "page_log2")?;
    require(entry.disabled == 0, "disabled")?;
    if entry.flags & area::LOCKED != 0 {
        let unit = is_unit(entry.bytes) && (entry.base | entry.physical).is_multiple_of(entry.bytes);
        require(unit && entry.memory != area::DEVICE, "flags")?;
        let locked = system.all::<Area>().take(index).filter(|other| other.flags & area::LOCKED != 0).count();
        require(locked < LOCK_SLOTS, "flags")?;
    }
    for other in system.all::<Area>().take(index).filter(|other| other.domain == entry.domain) {
        require(!overlaps((entry.base, entry.bytes), (other.base, other.bytes)), "base")?;
        require((entry.flags ^ other.flags) & area::NEAR == 0 || !share_table(entry, &other), "flags")?;
    }
    Ok(())
}

/// Whether one second-level table translates some of both. Areas that do not overlap have at most two tables in common: those at the ends
/// of either.
fn share_table(one: &Area, other: &Area) -> bool {
    let both = |mib: u32| is_in_table(one, mib) && is_in_table(other, mib);
    both(*touched(one).start()) || both(*touched(one).end())
}
