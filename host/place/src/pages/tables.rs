//! Memory for the tables of domains.

use system::area;
use system::pages::{Need, SPLIT, TABLE, is_in_table, touched};

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::ledger::mapped;
use crate::plan::{DomainSpot, Spot};
use crate::request::{Memory, Pages, Request};

/// Second-level tables beyond those of its areas that a domain has to which memory is mapped while it runs: near, far.
const SPARE: (u32, u32) = (2, 4);

/// Memory on the chip for tables.
pub(crate) struct Near(Space);

impl Near {
    /// Bytes in use.
    pub(crate) fn used(&self) -> u32 {
        self.0.used() as u32
    }

    pub(crate) fn new(pages: &Pages) -> Near {
        Near(Space::new(&Memory {
            name: pages.tables_name.clone(),
            base: pages.tables.0,
            bytes: pages.tables.1,
            reserved: 0,
            rom: false,
            class: None,
        }))
    }
}

/// Gives every domain its first-level table and memory for second-level ones. Roots first: they are aligned most.
pub(super) fn place(
    request: &Request,
    domains: &mut [DomainSpot],
    near: &mut Near,
    far: &mut Space,
) -> Result<(), PlaceError> {
    for (spot, domain) in domains.iter_mut().zip(&request.domains) {
        agree(&mut spot.areas);
        let what = format!("table of domain {}", domain.name);
        let bytes = SPLIT.table_bytes();
        let stays = spot.areas.iter().any(|area| area.flags & area::NEAR != 0);
        let space = if stays { &mut near.0 } else { &mut *far };
        spot.root = (space.plain(&what, u64::from(bytes), u64::from(bytes))?, stays);
    }
    for (index, (spot, domain)) in domains.iter_mut().zip(&request.domains).enumerate() {
        let what = format!("table of domain {}", domain.name);
        let Need { near: on_chip, far: off_chip } = need(spot, index as u32);
        let given = mapped(request, index);
        let more = |spare: u32, may: bool| if given && may { spare } else { 0 };
        let on_chip = (on_chip + more(SPARE.0, spot.root.1)) * TABLE;
        let off_chip = (off_chip + more(SPARE.1, true)) * TABLE;
        if on_chip > 0 {
            spot.table = (near.0.plain(&what, u64::from(on_chip), u64::from(TABLE))?, on_chip, false);
        }
        if off_chip > 0 {
            let whole = super::room(u64::from(off_chip));
            spot.far = (far.far(&what, whole, whole.min(u64::from(system::pages::PAGE)))?, off_chip);
        }
    }
    Ok(())
}

fn need(spot: &DomainSpot, domain: u32) -> Need {
    let entries: Vec<system::Area> = spot.entries(domain).collect();
    system::pages::tables(entries.iter().copied())
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
