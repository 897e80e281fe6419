//! Every area of every domain asks the ledger, with the registers and nodes that it really takes. The target continues from these promises.

use std::marker::PhantomData;

use manager::PoolAt;
use manifest::resolved::{Item, Part, System};
use protect::Span;
use protect::regions::REGIONS;
use spec::{AccessLevel, Change, MemoryClass, Opening, Request, TablePlace, TemporalSpec};
use system::area;
use system::regions::{RegionScheme, Shape, table_bytes};

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::ledger::{Book, add_pools, admit_domain, keep_quotas, mapped};
use crate::spot::{DomainSpot, Spot};

/// Admission in progress.
pub(super) struct Admission<'a, U> {
    system: &'a System,
    spaces: &'a mut [Space],
    book: Book,
    pools: Vec<PoolAt>,
    unit: PhantomData<U>,
}

/// Index of the writable memory of a class that can hold tables.
fn home(system: &System, class: MemoryClass) -> Option<usize> {
    system.memories.iter().position(|memory| !memory.rom && memory.class == Some(class))
}

impl<'a, U: RegionScheme> Admission<'a, U> {
    pub(crate) fn new(system: &'a System, spaces: &'a mut [Space]) -> Self {
        let left = |class| {
            let gaps = home(system, class).map(|memory| spaces[memory].gaps()).unwrap_or_default();
            gaps.iter().map(|gap| gap.1 - gap.0).sum::<u64>() as u32
        };
        let book = Book::new(system.platform, [left(MemoryClass::Tcm), left(MemoryClass::OnChip), 0, 0]);
        Admission { system, spaces, book, pools: Vec::new(), unit: PhantomData }
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
        let table = |count: usize| table_bytes::<U>(areas[..count].iter().copied(), mapped).unwrap_or(0);
        let bytes = table(areas.len());
        let root = TablePlace::of_strictest(spot.areas.iter().map(|spot| spot.spec));
        let mut before = if mapped { table(0) } else { 0 };
        let asked = (0..areas.len()).map(|index| {
            let after = table(index + 1).max(before);
            let added = after - std::mem::replace(&mut before, after);
            (index, ask::<U>(&spot.areas[index], added))
        });
        let asked: Vec<_> = asked.collect();
        let what = Item::Of(Part::Table, domain.name.clone());
        let opening = Opening { paged_slots: domain.paged_slots as u8, ..Opening::new(root, bytes) };
        admit_domain(&mut self.book, domain, &opening, &mut spot.areas, &asked).map_err(|mut refused| {
            // At the weaker level the table would lie elsewhere.
            let elsewhere = bytes <= self.book.table_memory(TablePlace::OnChip).left();
            if refused.item == what && root == TablePlace::Tcm && elsewhere {
                refused.refusal.change = Change::Spec(TemporalSpec::level(AccessLevel::L2));
            }
            PlaceError::Refused(refused)
        })?;
        spot.table.2 = root;
        let class = if root == TablePlace::Tcm { MemoryClass::Tcm } else { MemoryClass::OnChip };
        if let Some(memory) = home(self.system, class).filter(|_| bytes > 0) {
            spot.table = (self.spaces[memory].plain(&what, u64::from(bytes), 32)?, bytes, root);
        }
        Ok(())
    }
}

/// An area as a request.
fn ask<U: RegionScheme>(spot: &Spot, table_bytes: u32) -> Request {
    let registers = U::cover_count(Span::new(spot.base, u64::from(spot.bytes))).unwrap_or(REGIONS + 1);
    let (code, slots) = (spot.flags & area::EXECUTE != 0, registers.min(255) as u8);
    Request { code, slots, table_bytes, ..Request::new(0, spot.spec) }
}
