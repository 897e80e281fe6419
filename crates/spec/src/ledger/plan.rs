//! How memory is to be checked, and whether the domain, or the chip, has the slots for it: the only decision that each kind of platform makes
//! in its own way.

use super::{Account, Ledger, Request, Wanted};
use crate::platform::{Hardware, Meaning, PAGE_BYTES, Pages, Regions, TablePlace, UNITS};
use crate::refusal::{Change, Refusal, Rule};

pub(super) const fn refuse(rule: Rule, asked: u32, left: u32) -> Refusal {
    Refusal { rule, asked, left, change: Change::Unknown(0) }
}

/// How memory is to be checked.
pub(super) struct Plan {
    /// Slots are its own; else its tables decide what is promised.
    pub pinned: bool,
    pub slots: u8,
    /// Places in which its tables can lie, the best place first; empty when it needs none.
    pub places: &'static [TablePlace],
    /// The memory to be found.
    pub wanted: Option<Wanted>,
    /// Bytes of the naturally aligned pieces in which memory may come; 0 when it is in one piece.
    pub piece: u32,
    /// Descriptors of page tables, at most.
    pub descriptors: u32,
}

/// The domain's own table, or its first-level one, has to keep the level.
fn level(account: &Account, request: &Request, places: &[TablePlace]) -> Result<(), Refusal> {
    let have = account.root.level();
    if places.last().is_some_and(|weakest| have < weakest.level()) {
        return Err(refuse(Rule::TableLevel, request.spec.access as u32, have as u32));
    }
    Ok(())
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    pub(super) fn plan(&self, account: &Account, request: &Request, meaning: Meaning) -> Result<Plan, Refusal> {
        match &self.platform.hardware {
            Hardware::Regions(regions) => plan_regions(regions, account, request, meaning),
            Hardware::Pages(pages) => self.plan_pages(pages, account, request, meaning),
        }
    }

    fn plan_pages(
        &self,
        pages: &Pages,
        account: &Account,
        request: &Request,
        meaning: Meaning,
    ) -> Result<Plan, Refusal> {
        let asked = request.frames.map_or(0, |wanted| wanted.bytes);
        let piece = if matches!(meaning, Meaning::Pinned(_)) { Pages::unit(asked) } else { PAGE_BYTES };
        // Sizes of pages are powers of two. They are no constants here, and processors without a
        // division (the Cortex-A9) would take a subroutine for each.
        let Some(bytes) = asked.checked_add(piece - 1).map(|bytes| bytes & !(piece - 1)) else {
            let most = self.pools().iter().map(|pool| pool.clean.left()).max();
            return Err(refuse(Rule::Pages, asked, most.unwrap_or(0)));
        };
        let wanted = request.frames.map(|wanted| Wanted { bytes, ..wanted });
        // A section is one; a large page is sixteen, as are the small pages in its place.
        let each = if piece == UNITS[2] { piece } else { PAGE_BYTES };
        let descriptors = wanted.map_or(request.descriptors, |_| bytes >> each.trailing_zeros());
        let most = pages.constant_descriptors;
        if request.spec.constant_time && descriptors > most {
            return Err(refuse(Rule::ConstantTime, descriptors, most));
        }
        match meaning {
            Meaning::Pinned(_) => {
                let entries = wanted.map_or(u32::from(request.slots), |_| bytes >> piece.trailing_zeros());
                let left = self.slots.left();
                if entries > left {
                    return Err(refuse(Rule::LockSlots, entries, left));
                }
                let places = &TablePlace::ALL[TablePlace::OffChip as usize..];
                Ok(Plan { pinned: true, slots: entries as u8, places, wanted, piece, descriptors })
            }
            Meaning::Tables(places) => {
                level(account, request, places)?;
                Ok(Plan { pinned: false, slots: 0, places, wanted, piece, descriptors })
            }
        }
    }
}

fn plan_regions(regions: &Regions, account: &Account, request: &Request, meaning: Meaning) -> Result<Plan, Refusal> {
    let paged_slots = |code: bool, data: bool| match regions.paged_slots(code, data) {
        0 => 0,
        least => u32::from(least.max(account.paged_slots)),
    };
    let free = account.slots.left();
    let paged = Plan { pinned: false, slots: 0, places: &[], wanted: request.frames, piece: 0, descriptors: 0 };
    match meaning {
        Meaning::Pinned(_) => {
            let left = free - paged_slots(account.code > 0, account.data > 0);
            let asked = u32::from(request.slots.max(1));
            if asked > left {
                return Err(refuse(Rule::PinnedSlots, asked, left));
            }
            Ok(Plan { pinned: true, slots: asked as u8, ..paged })
        }
        Meaning::Tables(places) => {
            level(account, request, places)?;
            let asked = paged_slots(request.code || account.code > 0, true);
            if asked > free {
                return Err(refuse(Rule::PagedSlots, asked, free));
            }
            Ok(Plan { places: &TablePlace::ALL[account.root as usize..][..1], ..paged })
        }
    }
}
