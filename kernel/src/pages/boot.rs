//! The tables that a domain begins with.

use protect::vmsav7::{Asid, Attributes, Progress as Edited, Refused, Rights, TABLE_BYTES, Tables};
use system::vmsav7::Vmsav7;
use system::{Area, area};
use units::{Bytes, PhysAddr, VirtAddr};

use super::PageArch;
use super::{Mapping, Pages, Progress, TableWords};
use crate::arch::BootContext;
use crate::boot::BootError;

/// The tables of a domain, with all areas that it begins with.
pub(super) fn make<A: PageArch<Protection = Pages<A>>>(
    context: &mut BootContext<'_, A>,
    index: usize,
) -> Result<Pages<A>, BootError> {
    let own = context.tables.own_domain::<Vmsav7>(index);
    let asid = u8::try_from(index + 1).ok().and_then(Asid::new).ok_or(BootError::TooMany)?;
    let tables = Tables::new(TableWords::new(), PhysAddr(own.root), A::SPLIT).map_err(|_| BootError::BadTables)?;
    let mut pages = Pages { root: PhysAddr(own.root), asid: u32::from(asid.number()), tables: Some(tables) };
    finish(&mut pages, context.arch).map_err(|_| BootError::BadTables)?;
    for (base, bytes) in [(own.near_base, own.near_bytes), (own.far_base, own.far_bytes)] {
        let tables = pages.tables.as_mut().ok_or(BootError::BadTables)?;
        for number in 0..bytes / TABLE_BYTES {
            tables.give(PhysAddr(base + number * TABLE_BYTES)).map_err(|_| BootError::BadTables)?;
        }
    }
    for own in system::areas_of(context.tables, &context.tables.get(index)) {
        let Area { base, physical, bytes, flags, .. } = own;
        let (virt, phys, bytes) = (VirtAddr(base), PhysAddr(physical), Bytes(bytes));
        let (near, locked) = (flags & area::NEAR != 0, flags & area::PINNED != 0);
        let mapping =
            Mapping { virt, phys, bytes, attributes: attributes(&own).ok_or(BootError::Areas)?, near, locked };
        map(&mut pages, &mapping, context.arch)?;
        if locked {
            pages.lock(virt, true, context.shared, context.arch).map_err(|_| BootError::NoSlots)?;
        }
    }
    Ok(pages)
}

fn map<A: PageArch<Protection = Pages<A>>>(
    pages: &mut Pages<A>,
    mapping: &Mapping,
    arch: &mut A,
) -> Result<(), BootError> {
    let mut progress = Progress::default();
    // Bounded by the places for tables.
    loop {
        let reason = match pages.begin(mapping, &mut progress) {
            Ok(()) => match finish(pages, arch) {
                Ok(()) => return Ok(()),
                Err(reason) => reason,
            },
            Err(reason) => reason,
        };
        if !progress.tries_again(mapping, reason) {
            let memory = matches!(reason, Refused::NoTables { .. });
            return Err(if memory { BootError::NoMemory } else { BootError::Areas });
        }
    }
}

/// Ends the edit under way. Bounded by the tables' own progress: every step handles at least one descriptor.
fn finish<A: PageArch<Protection = Pages<A>>>(pages: &mut Pages<A>, arch: &mut A) -> Result<(), Refused> {
    loop {
        match pages.advance(arch) {
            Edited::More => {}
            Edited::Done => return Ok(()),
            Edited::Refused(reason) => return Err(reason),
        }
    }
}

fn attributes(own: &Area) -> Option<Attributes> {
    let (access, memory) = system::attributes(own);
    Attributes::new(Rights::of(access)?, memory, false, false)
}
