//! The resources that a grant takes, as a list: each resource by its name, with how much of it. Entering a grant and releasing it count the same list.

use super::{Charge, Ledger, Quantity};
use crate::platform::{Slots, TablePlace};

/// Something that a domain, or the chip, has a limited amount of. Memory of pools is counted by
/// [`super::Pool`] and [`super::Quota`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Slots in which the domain's checks are kept.
    Slots,
    /// Slots of the chip, which all domains share.
    ChipSlots,
    /// Bytes of the domain's tables in a place.
    Tables(TablePlace),
    /// The domain's misses in a period.
    Misses,
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// The resources that a charge takes.
    fn taken(&self, charge: &Charge) -> [(Resource, u32); 4] {
        let slots = u32::from(charge.slots);
        let shared = if matches!(self.platform.slots(), Slots::OfChip(_)) { slots } else { 0 };
        [
            (Resource::Slots, slots),
            (Resource::ChipSlots, shared),
            (Resource::Tables(charge.place), charge.table_bytes),
            (Resource::Misses, charge.misses),
        ]
    }

    /// A resource as a domain has it.
    ///
    /// # Panics
    /// When there is no account of the domain.
    pub(super) fn quantity(&mut self, domain: u8, resource: Resource) -> &mut Quantity {
        let account = &mut self.accounts[usize::from(domain)];
        match resource {
            Resource::Slots => &mut account.slots,
            Resource::ChipSlots => &mut self.slots,
            Resource::Tables(place) => &mut account.tables[place as usize],
            Resource::Misses => &mut account.misses,
        }
    }

    /// Counts what a charge takes, or, released, gives back.
    ///
    /// # Panics
    /// When more is given back than was taken.
    pub(super) fn count(&mut self, charge: &Charge, released: bool) {
        for (resource, amount) in self.taken(charge) {
            let used = &mut self.quantity(charge.domain, resource).used;
            *used = if released { *used - amount } else { *used + amount };
        }
        if charge.slots == 0 {
            let account = &mut self.accounts[usize::from(charge.domain)];
            let areas = if charge.code { &mut account.code } else { &mut account.data };
            *areas = if released { *areas - 1 } else { *areas + 1 };
        }
    }
}
