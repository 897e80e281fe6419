//! Every area of every domain asks the ledger, with the registers and nodes that it really takes, as `rt_malloc_at` does at run
//! time. The target continues from these promises.

use manager::PoolAt;
use protect::pmsav7::{REGIONS, Span, cover_count};
use spec::{AccessLevel, Change, MemoryClass, NoFrames, Opening, Refusal, TablePlace, TemporalSpec};
use system::area;
use system::pmsav7::{Shape, table_bytes};

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::ledger::{Book, add_pools, keep_quotas, mapped};
use crate::plan::{DomainSpot, Spot};
use manifest::resolved::{Item, Part, System};

/// Admission in progress.
pub(super) struct Admission<'a> {
    system: &'a System,
    spaces: &'a mut [Space],
    book: Book,
    pools: Vec<PoolAt>,
}

/// Index of the writable memory of a class that can hold tables.
fn home(system: &System, class: MemoryClass) -> Option<usize> {
    system.memories.iter().position(|memory| !memory.rom && memory.class == Some(class))
}

impl<'a> Admission<'a> {
    pub(crate) fn new(system: &'a System, spaces: &'a mut [Space]) -> Self {
        let left = |class| {
            let gaps = home(system, class).map(|memory| spaces[memory].gaps()).unwrap_or_default();
            gaps.iter().map(|gap| gap.1 - gap.0).sum::<u64>() as u32
        };
        let book = Book::new(system.platform, [left(MemoryClass::Tcm), left(MemoryClass::OnChip), 0, 0]);
        Admission { system, spaces, book, pools: Vec::new() }
    }

    /// Asks for everything; `frames` are the placed ranges of the manifest.
    pub(crate) fn admit(
        mut self,
        domains: &mut [DomainSpot],
        frames: &[(u32, u32)],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        self.pools = add_pools(&mut self.book, self.system, frames);
        for (index, spot) in domains.iter_mut().enumerate() {
            self.domain(index, spot)?;
        }
        keep_quotas(&mut self.book, self.system);
        Ok((self.book, self.pools))
    }

    /// Opens the account of a domain with its table, and asks for its areas.
    fn domain(&mut self, index: usize, spot: &mut DomainSpot) -> Result<(), PlaceError> {
        let domain = &self.system.domains[index];
        let shaped = |spot: &Spot| Some((spot.entry(index as u32)?, spot.shape()));
        let areas: Vec<(system::Area, Shape)> = spot.areas.iter().filter_map(shaped).collect();
        let mapped = mapped(self.system, index);
        let table = |count: usize| table_bytes(areas[..count].iter().copied(), mapped).unwrap_or(0);
        let bytes = table(areas.len());
        let paged = spot.areas.iter().map(|spot| spot.spec.access).filter(|level| *level != AccessLevel::Deterministic);
        let class = if paged.max() == Some(AccessLevel::L1) { MemoryClass::Tcm } else { MemoryClass::OnChip };
        let what = Item::Of(Part::Table, domain.name.clone());
        let refused =
            |what: Item, areas: &[Spot], refusal: Refusal| PlaceError::Refused { what, pinned: pinned(areas), refusal };
        let opening = Opening {
            paged_slots: domain.paged_slots as u8,
            misses: domain.misses.0,
            ..Opening::new(TablePlace::of(class), bytes)
        };
        let number = self.book.open(&opening);
        let number = number.map_err(|refusal| {
            // At the weaker level the table would lie elsewhere.
            let weaker = class == MemoryClass::Tcm && bytes <= self.book.table_memory(TablePlace::OnChip).left();
            let change = if weaker { Change::Spec(TemporalSpec::level(AccessLevel::L2)) } else { refusal.change };
            refused(what.clone(), &spot.areas, Refusal { change, ..refusal })
        })?;
        spot.table.2 = TablePlace::of(class);
        if let Some(memory) = home(self.system, class).filter(|_| bytes > 0) {
            let base = self.spaces[memory].plain(&what, u64::from(bytes), 32)?;
            spot.table = (base, bytes, spot.table.2);
        }
        let mut before = if mapped { table(0) } else { 0 };
        for count in 1..=areas.len() {
            let after = table(count).max(before);
            let asked = ask(number, &spot.areas[count - 1], after - before);
            // They belong to the threads, not to one area.
            let asked = spec::Request { misses: if count == 1 { domain.misses.1 } else { 0 }, ..asked };
            before = after;
            let granted = self.book.admit(&asked, &mut NoFrames);
            let what = |spot: &Spot| Item::Of(spot.part.clone(), domain.name.clone());
            let granted = granted.map_err(|refusal| refused(what(&spot.areas[count - 1]), &spot.areas, refusal))?;
            spot.areas[count - 1].bound = granted.bound;
            spot.areas[count - 1].place = Some(granted.charge.place);
        }
        Ok(())
    }
}

/// An area as a request.
fn ask(domain: u8, spot: &Spot, table_bytes: u32) -> spec::Request {
    let registers = cover_count(Span::new(spot.base, u64::from(spot.bytes))).unwrap_or(REGIONS + 1);
    spec::Request {
        domain,
        spec: spot.spec,
        code: spot.flags & area::EXECUTE != 0,
        slots: registers.min(255) as u8,
        table_bytes,
        descriptors: 0,
        misses: 0,
        frames: None,
    }
}

/// Pinned areas by name.
fn pinned(areas: &[Spot]) -> String {
    let pinned = areas.iter().filter(|spot| spot.flags & area::PINNED != 0).map(|spot| spot.part.name());
    pinned.collect::<Vec<_>>().join(", ")
}
