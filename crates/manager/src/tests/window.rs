//! Windows: the search for addresses beside one that walks from granule to granule, and the count of tables beside one that
//! looks at each slot. Both results are the same for every history, so that what was granted before is granted now.

use std::vec::Vec;

use spec::{Costs, Linear, Method, Pages, Sizes, TablePlace, UNITS, Wanted, Work};

use crate::holding::{Holding, State};
use crate::region::{Region, Terms};
use crate::window::{Window, tables};

const WINDOW: u32 = 0x4000_0000;
const GRANULE: u32 = 64 << 10;
const SLOT: u32 = 1 << 20;
const PLACES: [TablePlace; 3] = [TablePlace::OnChip, TablePlace::LockedWays, TablePlace::OffChip];

/// xorshift32 (Marsaglia 2003).
struct Rng(u32);

impl Rng {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % limit
    }

    /// Sizes from a page to more than a part has, small ones more often.
    fn bytes(&mut self) -> u32 {
        let log2 = 12 + self.below(13);
        let more = self.below(2) * self.below(1 << log2);
        ((1 << log2) + more).saturating_sub(self.below(3) * 4096).max(1)
    }
}

fn pages(log2: u8) -> Pages {
    let work =
        Work { method: Method::Observed, map: Linear { base: 0, each: 0 }, release: Linear { base: 0, each: 0 } };
    let sizes = Sizes { lock_slots: 4, ways: 8, way_bytes: 64 << 10, window_base: WINDOW };
    let costs = Costs { main_tlb: 6, walk_on_chip: 60, walk_locked_ways: 70 };
    Pages { window_log2: log2, ..Pages::new(costs, work, sizes) }
}

/// First address and bytes of a part.
fn part(log2: u8, client: u32, place: TablePlace) -> (u32, u32) {
    let (base, quarter) = (WINDOW + (client << log2), 1 << (log2 - 2));
    match place {
        TablePlace::OnChip => (base, quarter),
        TablePlace::LockedWays => (base + quarter, quarter),
        _ => (base + 2 * quarter, 2 * quarter),
    }
}

/// The search as it was before: it marks each granule in use, and walks from granule to granule.
fn plain_pick((base, bytes): (u32, u32), wanted: &Wanted, held: &[Holding]) -> Option<u32> {
    let granules = bytes / GRANULE;
    let need = wanted.bytes.div_ceil(GRANULE);
    let mut taken = [false; 256];
    for holding in held.iter().filter(|holding| holding.state != State::Free) {
        let first = holding.region.base.wrapping_sub(base) / GRANULE;
        let end = granules.min(first.saturating_add(holding.region.bytes.div_ceil(GRANULE)));
        (first..end).for_each(|granule| taken[granule as usize] = true);
    }
    let align = wanted.align.max(if wanted.bytes >= SLOT { SLOT } else { GRANULE });
    let next = |granule: u32| {
        let address = base.checked_add(granule * GRANULE)?.checked_next_multiple_of(align)?;
        Some((address - base) / GRANULE)
    };
    let (mut first, last) = match wanted.at {
        None => (next(0)?, granules),
        Some(at) if at.wrapping_sub(base) < bytes && at % GRANULE == 0 => {
            ((at - base) / GRANULE, (at - base) / GRANULE + need)
        }
        Some(_) => return None,
    };
    let mut at = first;
    while at < last.min(granules) {
        at += 1;
        if taken[at as usize - 1] {
            first = next(at)?;
            at = at.max(first);
        } else if at - first == need {
            return Some(base + first * GRANULE);
        }
    }
    None
}

fn needs(region: &Region, terms: Terms) -> bool {
    !terms.pinned() || !region.bytes.is_multiple_of(UNITS[2])
}

fn plain_tables(region: &Region, terms: Terms, held: &[Holding]) -> u32 {
    let slots = |region: &Region| region.base / SLOT..=(region.base + (region.bytes - 1)) / SLOT;
    let others: Vec<&Holding> = held
        .iter()
        .filter(|other| other.state.is_entered() && other.region.base != region.base)
        .filter(|other| needs(&other.region, other.terms))
        .collect();
    let is_new = |slot: &u32| !others.iter().any(|other| slots(&other.region).contains(slot));
    if needs(region, terms) { slots(region).filter(is_new).count() as u32 } else { 0 }
}

fn state(rng: &mut Rng) -> State {
    [State::Private, State::Owned(0), State::Leaving, State::Dirty, State::Free][rng.below(5) as usize]
}

fn wanted(rng: &mut Rng, (base, bytes): (u32, u32)) -> Wanted {
    let at = match rng.below(8) {
        0 => Some(base + rng.below(bytes / GRANULE + 8) * GRANULE),
        1 => Some(base.wrapping_sub(GRANULE) + rng.below(bytes)),
        _ => None,
    };
    let align = if rng.below(3) == 0 { 1 << rng.below(32) } else { 1 };
    Wanted { bytes: rng.bytes(), align, at }
}

/// Grants and releases in a window of each size, with holes of a granule and runs over all of a part. Memory of another
/// client is among what is held.
#[test]
fn addresses_and_tables_are_those_of_a_plain_search() {
    let (mut found, mut none, mut shared) = (0, 0, 0);
    for seed in 1..=400u32 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9));
        let (log2, client) = (22 + (seed % 4) as u8, rng.below(8));
        let window = Window::of(&pages(log2), client as u8);
        let mut held = [Holding::default(); 32];
        for _ in 0..60 {
            let place = PLACES[rng.below(3) as usize];
            let here = part(log2, client, place);
            let mut wanted = wanted(&mut rng, here);
            if seed % 3 == 0 {
                wanted.bytes = wanted.bytes.min(1 + rng.below(2 * GRANULE));
            }
            let picked = window.pick(place, &wanted, &held);
            assert_eq!(picked, plain_pick(here, &wanted, &held), "seed {seed}: {place:?} {wanted:?} {held:#x?}");
            let terms = Terms { slots: u8::from(rng.below(4) == 0), ..Terms::default() };
            let theirs = WINDOW + ((8 + rng.below(4)) << log2) + rng.below(60) * GRANULE;
            let base = if rng.below(6) == 0 { Some(theirs) } else { picked };
            let Some(base) = base else {
                none += 1;
                continue;
            };
            found += 1;
            let bytes = wanted.bytes.min(16 << 20);
            let region = Region { base, bytes, ..Region::default() };
            let counted = tables(&region, terms, &held);
            assert_eq!(counted, plain_tables(&region, terms, &held), "seed {seed}: {region:#x?} {held:#x?}");
            shared += u32::from(counted == 0);
            // One record is overwritten, which makes a hole somewhere.
            held[rng.below(32) as usize] = Holding { region, terms, state: state(&mut rng), ..Holding::default() };
        }
    }
    assert!(found > 5000 && none > 2000 && shared > 500, "{found} {none} {shared}");
}

#[test]
fn nothing_is_found_for_nothing_or_for_more_than_a_part() {
    let window = Window::of(&pages(25), 0);
    for bytes in [0, (16 << 20) + 1, u32::MAX] {
        assert_eq!(window.pick(TablePlace::OffChip, &Wanted { bytes, align: 1, at: None }, &[]), None);
    }
    let all = Wanted { bytes: 16 << 20, align: 1, at: None };
    assert_eq!(window.pick(TablePlace::OffChip, &all, &[]), Some(WINDOW + (16 << 20)));
    assert_eq!(window.pick(TablePlace::Tcm, &all, &[]), None);
}
