//! Addresses in a domain's space.

use system::rtmmu::{BASE, PAGE};

use crate::spot::Spot;

/// Addresses that are handed out in ascending order, a page apart.
pub(super) struct Addresses {
    next: u32,
}

impl Addresses {
    /// Behind all of these areas.
    pub fn behind<'a>(areas: impl Iterator<Item = &'a Spot>) -> Addresses {
        Addresses { next: areas.map(|area| area.base.saturating_add(area.reach())).max().unwrap_or(BASE) }
    }

    /// The first address of whole pages. A page before them stays empty. The last ones are none that a domain can have: the tables refuse those.
    pub fn take(&mut self, bytes: u32) -> u32 {
        let base = self.next.next_multiple_of(PAGE).saturating_add(PAGE);
        self.next = base.saturating_add(bytes);
        base
    }
}
