//! Checks of blocks for page tables.

use super::{is_kernel, overlaps, require};
use crate::vmsav7::{
    Caches, END, LOCK_SLOTS, PAGE, SPLIT, TABLE, Tables, Vmsav7, WAY_BYTES, WAYS, is_in_table, is_unit, touched,
};
use crate::{Area, System, area};

/// Returns true if what is locked in the second-level cache can be, and the prefetcher is on or
/// off.
pub(crate) fn caches(system: &System) -> bool {
    let Caches { ways, base, bytes, prefetch } = system.own::<Vmsav7>();
    // A line that is read ahead must not displace one that is to stay.
    let room = ways <= WAYS && (bytes == 0 || bytes < ways * WAY_BYTES);
    let fits = room && (base | bytes).is_multiple_of(TABLE);
    prefetch <= 1 && fits && (bytes == 0 || is_kernel(system, base, bytes))
}

pub(crate) fn domain(system: &System, index: usize) -> Result<(), &'static str> {
    let own: Tables = system.own_domain::<Vmsav7>(index);
    require(own.root != 0 && own.root.is_multiple_of(SPLIT.table_bytes()), "root")?;
    require((own.near_base | own.near_bytes).is_multiple_of(TABLE), "near_base")?;
    require((own.far_base | own.far_bytes).is_multiple_of(TABLE), "far_base")?;
    let own = own.parts();
    for (at, (base, bytes, field)) in own.into_iter().enumerate() {
        require(bytes == 0 || is_kernel(system, base, bytes), field)?;
        let apart = |(other, size, _): &(u32, u32, &str)| !overlaps((base, bytes), (*other, *size));
        require(own[..at].iter().all(apart), field)?;
        require((0..index).all(|other| system.own_domain::<Vmsav7>(other).parts().iter().all(apart)), field)?;
    }
    Ok(())
}

pub(crate) fn area(system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
    require(entry.base.is_multiple_of(PAGE), "base")?;
    require(entry.bytes.is_multiple_of(PAGE), "bytes")?;
    require(entry.physical.is_multiple_of(PAGE), "physical")?;
    require(u64::from(entry.physical) + u64::from(entry.bytes) <= 1 << 32, "physical")?;
    require(u64::from(entry.base) + u64::from(entry.bytes) <= END, "bytes")?;
    require(entry.flags & (area::WOVEN | area::OPEN) == 0, "flags")?;
    // The kernel has the same memory mapped as write-back, and one memory must not have two cache
    // policies.
    require(entry.memory == area::NORMAL || entry.memory == area::DEVICE, "memory")?;
    if entry.flags & area::PINNED != 0 {
        let unit = is_unit(entry.bytes) && (entry.base | entry.physical).is_multiple_of(entry.bytes);
        require(unit && entry.memory != area::DEVICE, "flags")?;
        let locked = system.all::<Area>().take(index).filter(|other| other.flags & area::PINNED != 0).count();
        require(locked < LOCK_SLOTS, "flags")?;
    }
    for other in system.all::<Area>().take(index).filter(|other| other.domain == entry.domain) {
        require(!overlaps((entry.base, entry.bytes), (other.base, other.bytes)), "base")?;
        require((entry.flags ^ other.flags) & area::NEAR == 0 || !share_table(entry, &other), "flags")?;
    }
    Ok(())
}

/// Returns true if one second-level table translates some of both. Areas that do not overlap have
/// at most two tables in common: those at the ends of either.
fn share_table(one: &Area, other: &Area) -> bool {
    let both = |mib: u32| is_in_table(one, mib) && is_in_table(other, mib);
    both(*touched(one).start()) || both(*touched(one).end())
}
