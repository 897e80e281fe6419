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
mod keep;
mod space;
mod tables;
#[cfg(test)]
mod tests;

use manager::PoolAt;
use manifest::resolved::{Domain, Item, Pages, System};
use protect::vmsav7::Shape;
use spec::{AccessLevel, TablePlace, TemporalSpec};
use system::area::NEAR;
use system::build::SchemeTables;
use system::vmsav7::{Caches, PAGE, Tables};

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::ledger::Book;
use crate::placed::PlacedWays;
use crate::scheme::{Extras, Scheme, Site};
use crate::spot::{DomainSpot, Range, Spot};
use keep::{Keep, SECTION, alignment, flags, keep, room};

/// The scheme on a board.
#[derive(Debug)]
pub(crate) struct Paged<'a> {
    pages: &'a Pages,
    extras: Extras,
    caches: Caches,
}

impl<'a> Paged<'a> {
    /// On a board whose tables lie so.
    pub fn new(pages: &'a Pages) -> Self {
        Paged { pages, extras: Extras::default(), caches: Caches::default() }
    }
}

impl Scheme for Paged<'_> {
    const TABLES_ALIGN: u64 = PAGE as u64;
    const TABLES_FIRST: bool = true;

    /// The kernel's image has memory of its own.
    fn begin(&mut self, _: &mut Site, _: &Kernel) -> Result<(), PlaceError> {
        Ok(())
    }

    fn order(&self, domain: &Domain, program: &Program) -> (bool, u32) {
        (!domain::is_fixed(domain, program), 0)
    }

    fn domain(&mut self, site: &mut Site, index: usize) -> Result<DomainSpot, PlaceError> {
        domain::place(&mut site.spaces, &site.system.domains[index], &site.programs[index], site.rom)
    }

    /// Near only if somebody asks for it, and then in a MiB of its own, because others may have it far.
    fn common(
        &self,
        space: &mut Space,
        what: &Item,
        bytes: u32,
        specs: &mut dyn Iterator<Item = TemporalSpec>,
        at: Option<u32>,
    ) -> Result<Range, PlaceError> {
        apart(space, what, bytes.into(), specs.map(keep).min().unwrap_or(Keep::Far), at)
    }

    fn frames(&self, space: &mut Space, what: &Item, bytes: u32) -> Result<Range, PlaceError> {
        let bytes = room(bytes.into());
        Ok((space.far(what, bytes, alignment(space, bytes))?, bytes as u32))
    }

    fn ledger(&self, space: &mut Space, bytes: u64) -> Result<Range, PlaceError> {
        Ok((space.far(&Item::Own("the ledger"), room(bytes), PAGE.into())?, room(bytes) as u32))
    }

    fn constant(&mut self, range: Range) {
        self.extras.read_only.push(range);
    }

    fn complete(&mut self, site: &Site, spot: &mut DomainSpot, program: &Program) {
        spot.areas.iter_mut().for_each(|area| mapped(area, site.system, self.pages));
        self.extras.read_only.extend(domain::read_only(spot, program));
    }

    fn admit(
        &mut self,
        site: &mut Site,
        domains: &mut [DomainSpot],
        frames: &[Range],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        let Site { system, spaces, rom, .. } = site;
        // Tables take what areas have left of the memory on the chip.
        let left = |space: &Space| space.gaps().iter().map(|gap| (gap.1 - gap.0) as u32).sum();
        let on_chip = self.pages.tables.map_or(0, |index| left(&spaces[index]));
        let (near_tables, caches) = tables::place(system, self.pages, domains, spaces, *rom)?;
        self.extras.near_tables = near_tables;
        self.extras.locked = PlacedWays { ways: caches.ways, base: caches.base, bytes: caches.bytes };
        self.caches = Caches { prefetch: self.pages.prefetch.into(), ..caches };
        admission::admit(system, domains, frames, (on_chip, caches.bytes))
    }

    fn checked(&self, spot: &mut DomainSpot) {
        for area in &mut spot.areas {
            let tables = system::vmsav7::tables(area.entry(0).into_iter());
            // Sections are in the first-level table alone.
            let walked = [Some(spot.root.2), (tables.near > 0).then_some(spot.table.2)];
            area.place = Some(match area.flags {
                flags if flags & NEAR == 0 => TablePlace::OffChip,
                _ if walked.contains(&Some(TablePlace::LockedWays)) => TablePlace::LockedWays,
                _ => TablePlace::OnChip,
            });
            let mapped = area.entry(0).and_then(|entry| Shape::of(entry.base, entry.physical, entry.bytes));
            area.slots = mapped.map_or(0, |shape| shape.tlb_entries());
        }
    }

    fn extras(self, _: &System, domains: &[DomainSpot]) -> Extras {
        let tables = |spot: &DomainSpot| Tables {
            root: spot.root.0,
            near_base: spot.table.0,
            near_bytes: spot.table.1,
            far_base: spot.far.0,
            far_bytes: spot.far.1,
        };
        let scheme = SchemeTables::Vmsav7 { caches: self.caches, domains: domains.iter().map(tables).collect() };
        Extras { scheme, ..self.extras }
    }
}

fn apart(space: &mut Space, what: &Item, bytes: u64, kept: Keep, at: Option<u32>) -> Result<(u32, u32), PlaceError> {
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
fn mapped(area: &mut Spot, system: &System, pages: &Pages) {
    use system::area::{DEVICE, NEAR, PINNED, WRITE_THROUGH};
    if area.memory == DEVICE {
        // Its registers cannot be in an entry that is locked, and nothing asks for it.
        area.spec = TemporalSpec::level(AccessLevel::L2);
    }
    area.flags = area.flags & !(PINNED | NEAR) | flags(area.spec);
    let offset = match system.memory_at(area.physical) {
        _ if area.memory == DEVICE => pages.device_offset,
        memory => memory.map_or(0, |memory| memory.offset),
    };
    // One kind of memory, and one kind of attributes for it.
    area.memory = if area.memory == WRITE_THROUGH { system::area::NORMAL } else { area.memory };
    area.base = area.physical - offset;
    let (base, bytes) = area.mapped.unwrap_or((area.physical, area.bytes));
    area.mapped = Some((base - offset, bytes));
}
