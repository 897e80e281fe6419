//! Addresses of memory that a client gets at run time, with page tables.
//!
//! Each client has a window of addresses of its own. A window has three parts, and each part is
//! translated by tables in one place, so that one table never serves two promises. Shared memory
//! has its owner's address in every client.

use spec::{Pages, TablePlace, UNITS, Wanted};

use crate::State;
use crate::holding::Holding;
use crate::region::{Region, Terms};

/// Unit in which addresses are given out: the bytes that one large page translates, so that two
/// regions never share one.
const GRANULE_LOG2: u32 = 16;
/// Base-two logarithm of the bytes that one table translates.
const SLOT_LOG2: u32 = 20;
/// Words of bits, one for each granule of a part. A part is half of a window, and a window has at
/// most 32 MiB.
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
    /// `None` if there is none. `wanted.align` is a power of two.
    ///
    /// # Time complexity
    /// O(`held.len()` `WORDS` + `WORDS` log(32 `WORDS`)): a look at each record, and eight passes over the
    /// eight words at most. Neither what is held nor what is asked makes more.
    #[inline(never)]
    pub fn pick(&self, place: TablePlace, wanted: &Wanted, held: &[Holding]) -> Option<u32> {
        let (offset, bytes) = self.part(place)?;
        let base = self.base + offset;
        let granules = bytes >> GRANULE_LOG2;
        let need = wanted.bytes.checked_add((1 << GRANULE_LOG2) - 1)? >> GRANULE_LOG2;
        if need == 0 || need > granules {
            return None;
        }
        let mut fits = Granules::free(base, granules, held);
        fits.keep_runs(need);
        match wanted.at {
            None => {
                let whole = if wanted.bytes >> SLOT_LOG2 > 0 { SLOT_LOG2 } else { GRANULE_LOG2 };
                fits.keep_aligned(base, wanted.align.max(1 << whole));
            }
            Some(at) if at.wrapping_sub(base) < bytes && at.is_multiple_of(1 << GRANULE_LOG2) => {
                fits.keep_one((at - base) >> GRANULE_LOG2);
            }
            Some(_) => return None,
        }
        fits.first().map(|granule| base + (granule << GRANULE_LOG2))
    }
}

/// A set of granules of a part, by number, in as many words as the part needs.
struct Granules {
    words: [u32; WORDS],
    used: usize,
}

impl Granules {
    /// Returns the granules whose addresses are not in use. Memory that is not clean yet still has
    /// its addresses, because its record has nowhere else to keep them.
    fn free(base: u32, granules: u32, held: &[Holding]) -> Granules {
        let used = granules.div_ceil(32) as usize;
        let mut free = Granules { words: [0; WORDS], used: used.min(WORDS) };
        free.set(0, granules, u32::MAX);
        for holding in held.iter().filter(|holding| holding.state != State::Free) {
            let offset = holding.region.base.wrapping_sub(base) >> GRANULE_LOG2;
            if offset < granules {
                let count = holding.region.bytes.div_ceil(1 << GRANULE_LOG2);
                free.set(offset, granules.min(offset + count), 0);
            }
        }
        free
    }

    /// Puts granules `first..end` in (`bits` is all ones) or takes them out (`bits` is 0): at most
    /// one step for each word.
    fn set(&mut self, first: u32, end: u32, bits: u32) {
        let mut at = first;
        while at < end {
            let Some(word) = self.words.get_mut((at / 32) as usize) else { return };
            let next = (at | 31) + 1;
            let low = u32::MAX << (at % 32);
            let high = if next <= end { u32::MAX } else { (1 << (end % 32)) - 1 };
            *word = *word & !(low & high) | bits & low & high;
            at = next;
        }
    }

    /// Leaves those from which on `need` granules follow one another in the set.
    fn keep_runs(&mut self, need: u32) {
        // Each of the set begins a run of `have`; two such runs that follow one another, or overlap,
        // are a longer one. So `have` doubles each time, up to the number of granules.
        let mut have = 1;
        while have < need {
            let more = have.min(need - have);
            let (words, bits) = ((more / 32) as usize, more % 32);
            for index in 0..self.used {
                let at = |index: usize| self.words.get(index).copied().unwrap_or(0);
                let (low, high) = (at(index + words), at(index + words + 1));
                // In two steps, because a shift by 32 is none.
                self.words[index] &= low >> bits | high << 1 << (31 - bits);
            }
            have += more;
        }
    }

    /// Leaves those whose address is a multiple of `align`: a granule at least, a power of two.
    fn keep_aligned(&mut self, base: u32, align: u32) {
        let first = (base.wrapping_neg() & (align - 1)) >> GRANULE_LOG2;
        let step = align >> GRANULE_LOG2;
        // Multiples lie in every word, or in one bit of every few words.
        let mut mask = 1u32 << (first % 32);
        let mut by = step;
        while by < 32 {
            mask |= mask << by;
            by *= 2;
        }
        let between = (step / 32).saturating_sub(1);
        for (index, word) in (0u32..).zip(&mut self.words[..self.used]) {
            let begins = index >= first / 32 && (index - first / 32) & between == 0;
            *word &= if begins { mask } else { 0 };
        }
    }

    /// Leaves one granule, if it is in the set.
    fn keep_one(&mut self, granule: u32) {
        for (index, word) in (0u32..).zip(&mut self.words[..self.used]) {
            *word &= if index == granule / 32 { 1 << (granule % 32) } else { 0 };
        }
    }

    fn first(&self) -> Option<u32> {
        let (index, word) = (0u32..).zip(&self.words[..self.used]).find(|(_, word)| **word != 0)?;
        Some(32 * index + word.trailing_zeros())
    }
}

/// Returns the number of second-level tables that a region needs and no other region of the client
/// does. A locked section needs none. A region lies in one part of a window, so it reaches into at
/// most 16 MiB.
///
/// # Time complexity
/// O(`held.len()`): a look at each record.
#[inline(never)]
pub(crate) fn tables(region: &Region, terms: Terms, held: &[Holding]) -> u32 {
    let needs = |region: &Region, terms: Terms| !terms.pinned() || !region.bytes.is_multiple_of(UNITS[2]);
    if !needs(region, terms) {
        return 0;
    }
    let slots = |region: &Region| {
        let first = region.base >> SLOT_LOG2;
        (first, region.base.wrapping_add(region.bytes.wrapping_sub(1)) >> SLOT_LOG2)
    };
    let (first, last) = slots(region);
    let Some(more) = last.checked_sub(first) else { return 0 };
    let mut without = up_to(more);
    for other in held {
        let (from, to) = slots(&other.region);
        let counts = other.state.is_entered() && other.region.base != region.base;
        if counts && from <= last && to >= first && from <= to && needs(&other.region, other.terms) {
            without &= !(up_to(to.min(last) - first) & (u32::MAX << (from.max(first) - first)));
        }
    }
    without.count_ones()
}

/// Returns the bits 0 to `last`.
fn up_to(last: u32) -> u32 {
    u32::MAX >> (31 - last.min(31))
}
