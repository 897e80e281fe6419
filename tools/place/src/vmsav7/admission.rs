//! Every area asks the ledger, with the entries and tables that it really takes.

use manager::PoolAt;
use manifest::resolved::{Domain, System};
use spec::{AccessLevel, Opening, Request, TablePlace, TemporalSpec};
use system::area;
use system::vmsav7::{Need, TABLE};

use super::keep::{Keep, keep};
use crate::error::PlaceError;
use crate::ledger::{Book, add_pools, admit_domain, keep_quotas};
use crate::spot::{DomainSpot, Spot};

/// Asks for everything of all domains; `frames` are the placed ranges of the manifest.
pub(super) fn admit(
    system: &System,
    domains: &mut [DomainSpot],
    frames: &[(u32, u32)],
    (on_chip, locked_ways): (u32, u32),
) -> Result<(Book, Vec<PoolAt>), PlaceError> {
    // Tables off the chip have been placed, and there is no other limit to them.
    let mut book = Book::new(system.platform, [0, on_chip, locked_ways, u32::MAX]);
    let held = add_pools(&mut book, system, frames);
    for (spot, domain) in domains.iter_mut().zip(&system.domains) {
        account(&mut book, domain, spot)?;
    }
    keep_quotas(&mut book, system);
    Ok((book, held))
}

/// Opens the account of a domain with its tables, and asks for its areas.
fn account(book: &mut Book, domain: &Domain, spot: &mut DomainSpot) -> Result<(), PlaceError> {
    let mut tables = [0; spec::PLACES];
    tables[spot.table.2 as usize] = spot.table.1;
    tables[TablePlace::OffChip as usize] = spot.far.1;
    let opening = Opening { tables, ..Opening::new(spot.root.2, 0) };
    let mut order: Vec<usize> = (0..spot.areas.len()).collect();
    // Whoever shares a table with an area that is kept on the chip finds it there.
    order.sort_by_key(|&index| match keep(spot.areas[index].spec) {
        Keep::Near => 0,
        Keep::Far => 1,
        Keep::Locked => 2,
    });
    let mut counted: Vec<system::Area> = Vec::new();
    let mut before = Need::default();
    let asked = order.into_iter().map(|index| {
        let area = &spot.areas[index];
        counted.extend(area.entry(0));
        let after = system::vmsav7::tables(counted.iter().copied());
        let added = (after.near + after.far - before.near - before.far) * TABLE;
        before = after;
        (index, ask(area, added))
    });
    let asked: Vec<_> = asked.collect();
    admit_domain(book, domain, &opening, &mut spot.areas, &asked).map_err(PlaceError::Refused)
}

/// An area as a request. It gets a table on the chip, too, if it shares it with an area that asks for that.
fn ask(spot: &Spot, table_bytes: u32) -> Request {
    let near = spot.flags & area::NEAR != 0;
    let raised = TemporalSpec { access: AccessLevel::L2, ..spot.spec };
    let spec = if near && keep(spot.spec) == Keep::Far { raised } else { spot.spec };
    let shape = spot.entry(0).and_then(|entry| protect::vmsav7::Shape::of(entry.base, entry.physical, entry.bytes));
    Request {
        code: spot.flags & area::EXECUTE != 0,
        slots: u8::from(keep(spec) == Keep::Locked && shape.is_some()),
        // A locked area has its tables where there are some, and was counted there.
        table_bytes: if keep(spec) == Keep::Locked && near { 0 } else { table_bytes },
        descriptors: shape.map_or(1, |shape| shape.descriptors()),
        ..Request::new(0, spec)
    }
}
