//! Memory for the tables of domains.

use manifest::resolved::{Item, Memory, Pages, Part, System};
use spec::TablePlace;
use system::area;
use system::vmsav7::Caches;
use system::vmsav7::{Need, SPLIT, TABLE, is_in_table, touched};

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::ledger::mapped;
use crate::spot::{DomainSpot, Spot};

/// Second-level tables beyond those of its areas that a domain has to which memory is mapped while it runs: near, far.
const SPARE: (u32, u32) = (2, 4);

/// Memory for tables whose walks stay on the chip: on-chip memory, then what is locked in ways of the second-level cache.
struct Near {
    chip: Space,
    ways: Space,
}

/// Name of the second in refusals.
const WAYS: &str = "locked ways";

impl Near {
    /// The rest of the memory on the chip, and a range off the chip as large as can be locked.
    fn new(chip: Option<&Space>, pages: &Pages, far: &mut Space) -> Result<Near, PlaceError> {
        let locked = u64::from(pages.locked_bytes);
        let base = if locked == 0 { 0 } else { far.far(&Item::Own(WAYS), locked, u64::from(SPLIT.table_bytes()))? };
        let ways = space(WAYS, base, pages.locked_bytes);
        Ok(Near { chip: chip.cloned().unwrap_or_else(|| space("the chip", 0, 0)), ways })
    }

    /// Takes memory on the chip if there is some left, otherwise in locked ways; it is refused where neither has any.
    fn take(&mut self, what: &Item, bytes: u32, align: u32) -> Result<(u32, TablePlace), PlaceError> {
        let (bytes, align) = (u64::from(bytes), u64::from(align));
        let full = match self.chip.plain(what, bytes, align) {
            Ok(base) => return Ok((base, TablePlace::OnChip)),
            Err(full) => full,
        };
        if self.ways.is_empty() {
            return Err(full);
        }
        Ok((self.ways.plain(what, bytes, align)?, TablePlace::LockedWays))
    }

    /// The memory on the chip, and what has to be locked: the rest of the range goes back.
    fn finish(self, ways: u32, far: &mut Space) -> (Space, Caches) {
        let (base, bytes) = (self.ways.base(), self.ways.reach());
        if !self.ways.is_empty() {
            far.give_back(base + bytes);
        }
        let locked = Caches { ways, base: if bytes == 0 { 0 } else { base as u32 }, bytes: bytes as u32, prefetch: 0 };
        (self.chip, locked)
    }
}

fn space(name: &str, base: u32, bytes: u32) -> Space {
    Space::new(&Memory {
        name: name.to_owned(),
        base,
        bytes,
        reserved: 0,
        code_page: 1,
        rom: false,
        class: None,
        offset: 0,
        block: None,
        gates: Vec::new(),
    })
}

/// Gives every domain its first-level table and memory for second-level ones, near ones first, and of those roots first: they are aligned
/// most. Returns the range on the chip in which tables lie, and what has to be locked in the second-level cache.
pub(super) fn place(
    system: &System,
    pages: &Pages,
    domains: &mut [DomainSpot],
    spaces: &mut [Space],
    far: usize,
) -> Result<((u32, u32), Caches), PlaceError> {
    let chip = pages.tables.map(|index| spaces[index].clone());
    let far = &mut spaces[far];
    let mut near = Near::new(chip.as_ref(), pages, far)?;
    let names = || system.domains.iter().map(|domain| Item::Of(Part::Table, domain.name.clone()));
    let root = SPLIT.table_bytes();
    for (spot, what) in domains.iter_mut().zip(names()) {
        agree(&mut spot.areas);
        if spot.areas.iter().any(|area| area.flags & area::NEAR != 0) {
            let (base, place) = near.take(&what, root, root)?;
            spot.root = (base, root, place);
        }
    }
    for (index, (spot, what)) in domains.iter_mut().zip(names()).enumerate() {
        let spare = if mapped(system, index) && spot.root.2 != TablePlace::OffChip { SPARE.0 } else { 0 };
        let bytes = (need(spot, index as u32).near + spare) * TABLE;
        if bytes > 0 {
            let (base, place) = near.take(&what, bytes, TABLE)?;
            spot.table = (base, bytes, place);
        }
    }
    let (chip, locked) = near.finish(pages.locked_ways, far);
    for (index, (spot, what)) in domains.iter_mut().zip(names()).enumerate() {
        if spot.root.2 == TablePlace::OffChip {
            spot.root.1 = root;
            spot.root.0 = far.plain(&what, u64::from(root), u64::from(root))?;
        }
        let spare = if mapped(system, index) { SPARE.1 } else { 0 };
        let bytes = (need(spot, index as u32).far + spare) * TABLE;
        if bytes > 0 {
            let whole = super::keep::room(u64::from(bytes));
            spot.far = (far.far(&what, whole, whole.min(u64::from(system::vmsav7::PAGE)))?, bytes);
        }
    }
    if let Some(index) = pages.tables {
        spaces[index] = chip;
    }
    Ok((on_chip(domains), locked))
}

/// The range on the chip in which tables lie: base and bytes.
fn on_chip(domains: &[DomainSpot]) -> (u32, u32) {
    let roots = domains.iter().map(|spot| spot.root);
    let all = roots.chain(domains.iter().map(|spot| spot.table));
    let near = all.filter(|(_, bytes, place)| *bytes > 0 && *place == TablePlace::OnChip);
    let ends: Vec<(u32, u32)> = near.map(|(base, bytes, _)| (base, base + bytes)).collect();
    let base = ends.iter().map(|end| end.0).min().unwrap_or(0);
    (base, ends.iter().map(|end| end.1).max().unwrap_or(0) - base)
}

fn need(spot: &DomainSpot, domain: u32) -> Need {
    let entries: Vec<system::Area> = spot.entries(domain).collect();
    system::vmsav7::tables(entries.iter().copied())
}

/// A table translates an aligned MiB: where one area of the domain asks for a near one, every other that it translates has it, too.
fn agree(areas: &mut [Spot]) {
    loop {
        let near: Vec<system::Area> =
            areas.iter().filter(|spot| spot.flags & area::NEAR != 0).filter_map(|spot| spot.entry(0)).collect();
        let shares = |spot: &Spot| {
            let Some(own) = spot.entry(0) else { return false };
            touched(&own).any(|mib| is_in_table(&own, mib) && near.iter().any(|other| is_in_table(other, mib)))
        };
        let Some(found) = areas.iter().position(|spot| spot.flags & area::NEAR == 0 && shares(spot)) else { return };
        areas[found].flags |= area::NEAR;
    }
}

#[cfg(test)]
mod tests;
