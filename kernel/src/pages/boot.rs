//! The tables that a domain begins with.

use protect::vmsa::{Asid, Attributes, Placement, Progress, Rights, TABLE_BYTES, Tables};
use system::{Area, area, regions};

use super::{Pages, TableWords};
use crate::arch::PageArch;
use crate::boot::BootError;
use crate::protection::Making;

/// The tables of a domain, with all areas that it begins with.
pub(super) fn make<A: PageArch<Protection = Pages<A>>>(
    making: &mut Making<'_, A>,
    index: usize,
) -> Result<Pages<A>, BootError> {
    let entry: system::Domain = making.tables.get(index);
    let asid = u8::try_from(index + 1).ok().and_then(Asid::new).ok_or(BootError::TooMany)?;
    let tables = Tables::new(TableWords::new(), entry.root, A::SPLIT).map_err(|_| BootError::BadTables)?;
    let mut pages = Pages { root: entry.root, asid: u32::from(asid.number()), tables: Some(tables) };
    finish(&mut pages, making.arch)?;
    for (base, bytes) in [(entry.table_base, entry.table_bytes), (entry.far_base, entry.far_bytes)] {
        let tables = pages.tables.as_mut().ok_or(BootError::BadTables)?;
        for number in 0..bytes / TABLE_BYTES {
            tables.give(base + number * TABLE_BYTES).map_err(|_| BootError::BadTables)?;
        }
    }
    for own in regions::areas_of(making.tables, &entry) {
        let tables = pages.tables.as_mut().ok_or(BootError::BadTables)?;
        let placement = if own.flags & area::NEAR != 0 { Placement::OnChip } else { Placement::OffChip };
        let attributes = attributes(&own).ok_or(BootError::Areas)?;
        tables.map(own.base, own.physical, own.bytes, attributes, placement).map_err(|_| BootError::Areas)?;
        finish(&mut pages, making.arch)?;
        if own.flags & area::LOCKED != 0 {
            pages.lock(own.base, true, making.shared, making.arch).map_err(|_| BootError::NoSlots)?;
        }
    }
    Ok(pages)
}

/// Ends the edit under way. Bounded by the tables' own progress: every step handles at least one descriptor.
fn finish<A: PageArch>(pages: &mut Pages<A>, arch: &mut A) -> Result<(), BootError> {
    loop {
        match pages.advance(arch) {
            Progress::More => {}
            Progress::Done => return Ok(()),
            Progress::Refused(_) => return Err(BootError::NoMemory),
        }
    }
}

fn attributes(own: &Area) -> Option<Attributes> {
    let (access, memory) = regions::attributes(own);
    Attributes::new(Rights::of(access)?, memory, false, false)
}
