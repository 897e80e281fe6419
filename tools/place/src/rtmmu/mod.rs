//! Placement where each domain has an address space of its own behind RTMMU.
//!
//! Programs stay at the addresses that they were linked for; all else of a domain follows behind its data, each area apart from the next by a page in which
//! there is nothing, so that an overflow meets nothing. Physical memory is given page by page, first fit; nothing of it depends on alignment. A check takes
//! the same time whatever an area's size and wherever it lies, so that a specification chooses the memory alone.

mod addresses;
mod domain;
mod frames;

use manager::PoolAt;
use manifest::resolved::{Domain, Item, Pages, Part, System};
use spec::{Opening, PLACES, Request, TablePlace, TemporalSpec};
use system::area::{DEVICE, NEAR, NORMAL, PINNED, WRITE_THROUGH};
use system::build::SchemeTables;
use system::rtmmu::{Hardware, Mmu, PAGE, Space as Own};

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::ledger::{Book, add_pools, admit_domain, keep_quotas, mapped};
use crate::scheme::{Extras, Scheme, Site};
use crate::spot::{DomainSpot, Range, Spot};
use addresses::Addresses;
use frames::pages;

/// Kernel memory comes in multiples of this many bytes.
const GRAIN: u32 = 32;

/// The scheme on a board.
#[derive(Debug)]
pub(crate) struct Mapped<'a> {
    pages: &'a Pages,
    extras: Extras,
    own: Vec<Own>,
}

impl<'a> Mapped<'a> {
    /// On a board whose trees lie so.
    pub fn new(pages: &'a Pages) -> Self {
        Mapped { pages, extras: Extras::default(), own: Vec::new() }
    }
}

impl Scheme for Mapped<'_> {
    const TABLES_ALIGN: u64 = PAGE as u64;
    const TABLES_FIRST: bool = true;

    /// The kernel's image has memory of its own.
    fn begin(&mut self, _: &mut Site, _: &Kernel) -> Result<(), PlaceError> {
        Ok(())
    }

    fn order(&self, _: &Domain, _: &Program) -> (bool, u32) {
        (false, 0)
    }

    fn domain(&mut self, site: &mut Site, index: usize) -> Result<DomainSpot, PlaceError> {
        domain::place(&mut site.spaces, &site.system.domains[index], &site.programs[index], site.rom)
    }

    fn common(
        &self,
        space: &mut Space,
        what: &Item,
        bytes: u32,
        _: &mut dyn Iterator<Item = TemporalSpec>,
        at: Option<u32>,
    ) -> Result<Range, PlaceError> {
        if let Some(address) = at {
            let reason = "each domain has an address space of its own".into();
            return Err(PlaceError::At { what: what.clone(), address, reason });
        }
        pages(space, what, bytes.into())
    }

    fn frames(&self, space: &mut Space, what: &Item, bytes: u32) -> Result<Range, PlaceError> {
        pages(space, what, bytes.into())
    }

    fn ledger(&self, space: &mut Space, bytes: u64) -> Result<Range, PlaceError> {
        pages(space, &Item::Own("the ledger"), bytes)
    }

    fn constant(&mut self, range: Range) {
        self.extras.read_only.push(range);
    }

    /// Files, shared memory and devices get addresses behind the domain's own areas.
    fn complete(&mut self, _: &Site, spot: &mut DomainSpot, program: &Program) {
        let mut addresses = Addresses::behind(spot.areas.iter().filter(|area| is_own(area)));
        for area in spot.areas.iter_mut().filter(|area| !is_own(area)) {
            area.base = addresses.take(area.bytes);
        }
        for area in &mut spot.areas {
            area.flags &= !(PINNED | NEAR);
            // The kernel has the same memory, and nothing is cached.
            area.memory = if area.memory == WRITE_THROUGH { NORMAL } else { area.memory };
        }
        self.extras.read_only.extend(domain::read_only(spot, program));
    }

    fn admit(
        &mut self,
        site: &mut Site,
        domains: &mut [DomainSpot],
        frames: &[Range],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        let system = site.system;
        self.own = self.tables(site, domains)?;
        let (_, mmu) = hardware(system);
        // The tables of all domains are there from the start.
        let mut book = Book::new(system.platform, [0, u32::MAX, 0, 0]);
        let held = add_pools(&mut book, system, frames);
        for (spot, domain) in domains.iter_mut().zip(&system.domains) {
            let opening = Opening { tables: [0; PLACES], ..Opening::new(TablePlace::OnChip, 0) };
            let asked = spot.areas.iter().map(|area| ask(area, mmu)).enumerate().collect::<Vec<_>>();
            admit_domain(&mut book, domain, &opening, &mut spot.areas, &asked).map_err(PlaceError::Refused)?;
            // A check that is the first touch of its page takes longer.
            spot.areas.iter_mut().filter(|area| area.on_demand.is_some()).for_each(|area| area.bound = None);
        }
        keep_quotas(&mut book, system);
        Ok((book, held))
    }

    /// Wherever the ledger has counted it, the check ends in table memory, which is on the chip.
    fn checked(&self, spot: &mut DomainSpot) {
        spot.areas.iter_mut().for_each(|area| area.place = Some(TablePlace::OnChip));
    }

    fn extras(self, system: &System, _: &[DomainSpot]) -> Extras {
        Extras { scheme: SchemeTables::Rtmmu { hardware: hardware(system).0, domains: self.own }, ..self.extras }
    }
}

impl Mapped<'_> {
    /// Divides the entries of the hardware's tables among domains, the largest spaces first, and gives each its tree.
    fn tables(&self, site: &mut Site, domains: &mut [DomainSpot]) -> Result<Vec<Own>, PlaceError> {
        let system = site.system;
        let (hardware, mmu) = hardware(system);
        let what = |index: usize| Item::Of(Part::Table, system.domains[index].name.clone());
        let pages_log2 = |index: usize| {
            let reach = |area: &Spot| system::Area { base: area.base, bytes: area.reach(), ..system::Area::default() };
            let areas = system::rtmmu::pages_log2(domains[index].areas.iter().map(reach));
            let areas = areas.max(mmu.least_pages_log2());
            if mapped(system, index) { areas.max(window_end(system, index)) } else { areas }
        };
        let mut own: Vec<Own> =
            (0..domains.len()).map(|index| Own { pages_log2: pages_log2(index), ..Own::default() }).collect();
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(own[*index].pages_log2));
        let (mut next, all) = (0_u64, 1_u64 << hardware.entries_log2);
        for index in order {
            let entries = 1 << mmu.entries_log2(own[index].pages_log2);
            if next + entries > all {
                let (memory, left) = ("the hardware's tables".to_owned(), all - next);
                let (asked, rounded) =
                    (entries, "entries, of which a page takes one, and two or four with other MMUs than RTMMU");
                return Err(PlaceError::Full { what: what(index), memory, asked, rounded, left });
            }
            own[index].first = next as u32;
            next += entries;
        }
        let trees = self.pages.tables.unwrap_or(site.rom);
        for (index, own) in own.iter_mut().enumerate() {
            let on_demand = demand_area(&domains[index].areas);
            let links = on_demand.map_or(0, |(_, frames)| Own::links_bytes(frames));
            let tree = own.tree_bytes().next_multiple_of(GRAIN);
            let bytes = tree + links.next_multiple_of(GRAIN);
            own.tree = site.spaces[trees].plain(&what(index), bytes.into(), GRAIN.into())?;
            if let Some((pages, _)) = on_demand {
                (own.demand_pages, own.links) = (pages, own.tree + tree);
            }
            domains[index].table = (own.tree, bytes, TablePlace::OnChip);
        }
        Ok(own)
    }
}

/// The hardware's tables, and the MMU that reads them.
fn hardware(system: &System) -> (Hardware, Mmu) {
    let hardware = system.table_memory.unwrap_or_default();
    (hardware, Mmu::from_number(hardware.mmu).unwrap_or(Mmu::Rtmmu))
}

/// Base-two logarithm of the pages up to the end of a domain's window.
fn window_end(system: &System, index: usize) -> u32 {
    let windows = system.platform.pages().map_or((0, 0), |pages| (pages.window_base, pages.window_log2));
    let base = windows.0 + ((index as u32) << windows.1);
    let window = system::Area { base, bytes: 1 << windows.1, ..system::Area::default() };
    system::rtmmu::pages_log2([window].into_iter())
}

/// Pages and bytes of frames of the demand area, which reaches from the first of its arenas to the end of the last.
fn demand_area(areas: &[Spot]) -> Option<(u32, u32)> {
    let arenas = areas.iter().filter(|area| area.on_demand.is_some());
    let (first, last) = (arenas.clone().next()?, arenas.clone().next_back()?);
    Some(((last.base + last.reach() - first.base) / PAGE, arenas.map(|arena| arena.bytes).sum()))
}

/// An area of the domain's own, which has its addresses already.
fn is_own(area: &Spot) -> bool {
    area.base != area.physical
}

/// An area as a request: its pages are entries that the domain has.
fn ask(area: &Spot, mmu: Mmu) -> Request {
    Request {
        code: area.flags & system::area::EXECUTE != 0,
        // RTMMU releases pages that are mapped at their first touch without a look at any.
        descriptors: if area.on_demand.is_some() && mmu == Mmu::Rtmmu { 0 } else { area.bytes / PAGE },
        // Registers of a device take no other table, and nothing asks for more.
        ..Request::new(0, if area.memory == DEVICE { TemporalSpec::default() } else { area.spec })
    }
}
