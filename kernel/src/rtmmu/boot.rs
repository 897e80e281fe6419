//! The space that a domain begins with.

use rtmmu::{Page, Rights, Space, tree};
use system::area::DEMAND;
use system::rtmmu::{BASE, PAGE, Rtmmu};
use system::{Area, area};
use units::{PhysAddr, VirtAddr};

use super::demand::Demand;
use super::mapping::{Mapping, frame, page};
use super::{RtmmuArch, Spaces, TableWords};
use crate::arch::BootContext;
use crate::boot::BootError;

/// The space of a domain, with all areas that it begins with mapped, but for its demand area. Linear in its pages, once.
pub(super) fn make<A: RtmmuArch<Protection = Spaces<A>>>(
    context: &mut BootContext<'_, A>,
    index: usize,
) -> Result<Spaces<A>, BootError> {
    let own = context.tables.own_domain::<Rtmmu>(index);
    let pages_log2 = own.pages_log2 as u8;
    if context.tables.own::<Rtmmu>().mmu != A::MMU as u32 {
        return Err(BootError::BadTables);
    }
    // SAFETY: the block is validated, and this is the only call for this domain.
    let (tables, loaded) = unsafe { A::tables(&own) };
    let tree = TableWords::new(PhysAddr(own.tree), tree::words_for(pages_log2) as u32);
    let mut space = Space::new(tables, tree, pages_log2);
    let mut demand = None;
    for area in system::areas_of(context.tables, &context.tables.get(index)) {
        if area.flags & DEMAND != 0 {
            demand = Some(Demand::new(index, &own, &area).ok_or(BootError::Areas)?);
            continue;
        }
        map(&mut space, &mapping(&area).ok_or(BootError::Areas)?).map_err(|_| BootError::Areas)?;
    }
    Ok(Spaces { first: loaded.first, pages_log2: loaded.pages_log2, on: 1, space: Some(space), demand })
}

fn mapping(own: &Area) -> Option<Mapping> {
    let rights = match (own.flags & area::WRITE != 0, own.flags & area::EXECUTE != 0) {
        (false, false) => Rights::R,
        (true, false) => Rights::RW,
        (false, true) => Rights::RX,
        (true, true) => return None,
    };
    let first = page(VirtAddr(own.base))?;
    Some(Mapping { first, frame: frame(PhysAddr(own.physical)), pages: own.bytes / PAGE, rights })
}

fn map<A: RtmmuArch>(space: &mut super::DomainSpace<A>, mapping: &Mapping) -> Result<(), rtmmu::Error> {
    space.map_vrh(mapping.first, mapping.pages, mapping.rights)?;
    for page in 0..mapping.pages {
        space.map_to(Page(mapping.first.0 + page), rtmmu::Frame(mapping.frame.0 + page))?;
    }
    Ok(())
}

// Pages and frames are numbered from the two halves of the address space.
const _: () = assert!(BASE.is_power_of_two() && BASE == 1 << 31);
