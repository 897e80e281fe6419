//! Addresses of memory that a client gets at run time, with page tables.
//!
//! Each client has a window of addresses of its own. A window has three parts, and each part is
//! translated by tables in one place, so that one table never serves two promises. Shared memory
//! has its owner's address in every client.

use spec::{Pages, TablePlace, UNITS, Wanted};

use crate::holding::Holding;
use crate::region::{Region, Terms};

/// Unit in which addresses are given out: the bytes that one large page translates, so that two
/// regions never share one.
const GRANULE_LOG2: u32 = 16;
/// Bytes that one table translates.
const SLOT: u32 = 1 << 20;
/// Words of bits, one for each granule of a part.
const WORDS: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    base: u32,
    log2: u8,
    /// Bytes of a second-level table, if it needs one.
    pub table_bytes: u32,
}

impl Window {
    pub fn of(pages: &Pages, client: u8) -> Window {
        let base = pages.window_base.wrapping_add(u32::from(client) << pages.window_log2);
        Window { base, log2: pages.window_log2, table_bytes: pages.new_table_bytes() }
    }

    /// Returns offset and bytes of a part: a quarter is for tables on the chip, a quarter for
    /// tables in locked ways, and half for others.
    fn part(&self, place: TablePlace) -> Option<(u32, u32)> {
        let quarter = 1 << (self.log2 - 2);
        match place {
            TablePlace::Tcm => None,
            TablePlace::OnChip => Some((0, quarter)),
            TablePlace::LockedWays => Some((quarter, quarter)),
            TablePlace::OffChip => Some((2 * quarter, 2 * quarter)),
        }
    }

    /// Returns true if an address of any client's window belongs to the part for tables in this
    /// place.
    pub fn serves(&self, address: u32, place: TablePlace) -> bool {
        // All windows have the same size and follow one another, so the distance from this one's
        // base tells the offset in any.
        let offset = address.wrapping_sub(self.base) & ((1 << self.log2) - 1);
        self.part(place).is_some_and(|(first, bytes)| offset.wrapping_sub(first) < bytes)
    }

    /// Returns the lowest address at which so much can be mapped, or the one that it must have;
    /// `None` if there is none.
    ///
    /// # Time complexity
    /// A look at each record, and at each granule of a part (at most 256).
    #[inline(never)]
    pub fn pick(&self, place: TablePlace, wanted: &Wanted, held: &[Holding]) -> Option<u32> {
        let (offset, bytes) = self.part(place)?;
        let base = self.base + offset;
        let granules = bytes >> GRANULE_LOG2;
        let need = wanted.bytes.checked_add((1 << GRANULE_LOG2) - 1)? >> GRANULE_LOG2;
        let taken = taken(base, granules, held);
        let is_free = |granule: u32| taken[granule as usize / 32] >> (granule % 32) & 1 == 0;
        let align = wanted.align.max(if wanted.bytes >= SLOT { SLOT } else { 1 << GRANULE_LOG2 });
        let next = |granule: u32| {
            let address = base.checked_add(granule << GRANULE_LOG2)?.checked_next_multiple_of(align)?;
            Some((address - base) >> GRANULE_LOG2)
        };
        let (mut first, last) = match wanted.at {
            None => (next(0)?, granules),
            Some(at) if at.wrapping_sub(base) < bytes && at.is_multiple_of(1 << GRANULE_LOG2) => {
                let first = (at - base) >> GRANULE_LOG2;
                (first, first.checked_add(need)?)
            }
            Some(_) => return None,
        };
        let mut at = first;
        while at < last.min(granules) {
            at += 1;
            if !is_free(at - 1) {
                first = next(at)?;
                at = at.max(first);
            } else if at - first == need {
                return Some(base + (first << GRANULE_LOG2));
            }
        }
        None
    }
}

/// Returns a bit for each granule of addresses in use. Memory that is not clean yet still has its
/// addresses, because its record has nowhere else to keep them.
fn taken(base: u32, granules: u32, held: &[Holding]) -> [u32; WORDS] {
    let mut taken = [0; WORDS];
    for holding in held.iter().filter(|holding| holding.state != crate::State::Free) {
        let offset = holding.region.base.wrapping_sub(base) >> GRANULE_LOG2;
        if offset >= granules {
            continue;
        }
        let count = holding.region.bytes.div_ceil(1 << GRANULE_LOG2);
        for granule in offset..granules.min(offset + count) {
            taken[granule as usize / 32] |= 1 << (granule % 32);
        }
    }
    taken
}

/// Returns the number of second-level tables that a region needs and no other region of the client
/// does. A locked section needs none.
///
/// # Time complexity
/// A look at each record for each MiB.
#[inline(never)]
pub(crate) fn tables(region: &Region, terms: Terms, held: &[Holding]) -> u32 {
    let needs = |region: &Region, terms: Terms| !terms.pinned() || !region.bytes.is_multiple_of(UNITS[2]);
    if !needs(region, terms) {
        return 0;
    }
    let slot_of = |address: u32| address / SLOT;
    let (first, last) = (slot_of(region.base), slot_of(region.base.wrapping_add(region.bytes - 1)));
    let others = |holding: &&Holding| {
        holding.state.is_entered() && holding.region.base != region.base && needs(&holding.region, holding.terms)
    };
    let has = |slot: u32| {
        let mut others = held.iter().filter(others);
        others.any(|other| {
            let Region { base, bytes, .. } = other.region;
            (slot_of(base)..=slot_of(base.wrapping_add(bytes - 1))).contains(&slot)
        })
    };
    (first..=last).filter(|slot| !has(*slot)).count() as u32
}
