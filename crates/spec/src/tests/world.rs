//! Frames as a plain list of free ranges, and a shadow of the ledger that is told only what was granted.

use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

use crate::*;

/// Pools of frames: first fit at multiples of 32 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists(pub Vec<Vec<(u32, u32)>>);

impl Lists {
    fn place(free: (u32, u32), wanted: &Wanted, piece: u32) -> Option<(u32, u32)> {
        let align = wanted.align.max(32).max(piece);
        let base = match wanted.at {
            Some(at) => at,
            None => free.0.checked_next_multiple_of(align)?,
        };
        let room = (free.0 + free.1).checked_sub(base)?;
        (base >= free.0 && base.is_multiple_of(align) && room >= 32).then_some((base, room / 32 * 32))
    }

    /// Puts a range back, joined with its neighbours.
    pub fn put(&mut self, range: Range) {
        let list = &mut self.0[usize::from(range.pool)];
        list.push((range.base, range.bytes));
        list.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (base, bytes) in list.drain(..) {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 == base => last.1 += bytes,
                _ => joined.push((base, bytes)),
            }
        }
        *list = joined;
    }
}

impl Frames for Lists {
    fn take(&mut self, pool: u8, wanted: &Wanted, piece: u32) -> Result<Range, NotThere> {
        let list = &mut self.0[usize::from(pool)];
        let bytes = wanted.bytes.next_multiple_of(32);
        let mut largest = 0;
        for index in 0..list.len() {
            let free = list[index];
            let Some((base, room)) = Lists::place(free, wanted, piece) else { continue };
            if room < bytes {
                largest = largest.max(room);
                continue;
            }
            list.remove(index);
            let rests = [(free.0, base - free.0), (base + bytes, free.0 + free.1 - base - bytes)];
            list.extend(rests.into_iter().filter(|rest| rest.1 > 0));
            list.sort_unstable();
            return Ok(Range { pool, base, bytes });
        }
        Err(NotThere { largest })
    }

    fn give(&mut self, range: Range) {
        self.put(range);
    }
}

/// Pools of pages: whatever pieces are free, wherever they are. A page is at its number times [`PAGE_BYTES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scattered {
    free: Vec<Vec<bool>>,
    /// First pages of the pieces of what was taken, and how many each has, by pool and first address.
    taken: BTreeMap<(u8, u32), (Vec<usize>, usize)>,
}

impl Scattered {
    pub fn of(bytes: &[u32]) -> Scattered {
        let pages = |bytes: &u32| vec![true; (bytes / PAGE_BYTES) as usize];
        Scattered { free: bytes.iter().map(pages).collect(), taken: BTreeMap::new() }
    }

    /// Pages of what was taken, in the order in which they are mapped.
    pub fn pages(&self, range: Range) -> Vec<usize> {
        let (pieces, each) = &self.taken[&(range.pool, range.base)];
        pieces.iter().flat_map(|first| *first..first + each).collect()
    }
}

impl Frames for Scattered {
    fn take(&mut self, pool: u8, wanted: &Wanted, piece: u32) -> Result<Range, NotThere> {
        let piece = if piece == 0 { wanted.bytes } else { piece };
        assert!(piece.is_power_of_two() && wanted.bytes.is_multiple_of(piece), "{wanted:?} {piece}");
        let each = (piece / PAGE_BYTES) as usize;
        let free = &mut self.free[usize::from(pool)];
        let suits = |first: &usize| free.get(*first..first + each).is_some_and(|pages| pages.iter().all(|free| *free));
        let found: Vec<usize> = (0..free.len()).step_by(each).filter(suits).collect();
        let Some(pieces) = found.get(..(wanted.bytes / piece) as usize) else {
            return Err(NotThere { largest: found.len() as u32 * piece });
        };
        pieces.iter().for_each(|first| free[*first..first + each].fill(false));
        let base = pieces[0] as u32 * PAGE_BYTES;
        self.taken.insert((pool, base), (pieces.to_vec(), each));
        Ok(Range { pool, base, bytes: wanted.bytes })
    }

    fn give(&mut self, range: Range) {
        let pages = self.pages(range);
        pages.into_iter().for_each(|page| self.free[usize::from(range.pool)][page] = true);
        self.taken.remove(&(range.pool, range.base));
    }
}

/// Sums that a naive reader of the rules would form from the grants alone.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    pub grants: Vec<Grant>,
    pub dirty: Vec<(u8, Range)>,
    /// Memory that tables were given; they keep it.
    pub tables: Vec<Range>,
}

impl Shadow {
    pub fn granted(&mut self, grant: Grant) {
        self.tables.extend(grant.table);
        self.grants.push(grant);
    }

    pub fn of(&self, domain: u8) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(move |grant| grant.charge.domain == domain)
    }

    pub fn registers(&self, domain: u8) -> u32 {
        self.of(domain).map(|grant| u32::from(grant.charge.slots)).sum()
    }

    /// Registers that paging needs.
    pub fn slots(&self, domain: u8) -> u32 {
        let paged = self.of(domain).filter(|grant| grant.charge.slots == 0);
        paged.map(|grant| if grant.charge.code { 4 } else { 2 }).max().unwrap_or(0)
    }

    pub fn table(&self, domain: u8) -> u32 {
        self.of(domain).map(|grant| grant.charge.table_bytes).sum()
    }

    pub fn misses(&self, domain: u8) -> u32 {
        self.of(domain).map(|grant| grant.charge.misses).sum()
    }

    /// No two ranges that are granted or dirty have a byte in common.
    pub fn disjoint(&self) -> bool {
        let granted = self.grants.iter().filter_map(|grant| grant.charge.frames);
        let mut all: Vec<Range> =
            granted.chain(self.dirty.iter().map(|(_, range)| *range)).chain(self.tables.iter().copied()).collect();
        all.sort_unstable_by_key(|range| (range.pool, range.base));
        all.windows(2).all(|pair| pair[0].pool != pair[1].pool || pair[0].base + pair[0].bytes <= pair[1].base)
    }
}

/// Counts what a decision takes most of its time for.
struct Counted<'a, F> {
    frames: &'a mut F,
    takes: usize,
}

impl<F: Frames> Frames for Counted<'_, F> {
    fn take(&mut self, pool: u8, wanted: &Wanted, piece: u32) -> Result<Range, NotThere> {
        self.takes += 1;
        self.frames.take(pool, wanted, piece)
    }

    fn give(&mut self, range: Range) {
        self.frames.give(range);
    }

    fn within(&self, pool: u8, bytes: u32, piece: u32) -> u32 {
        self.frames.within(pool, bytes, piece)
    }

    fn table_bytes(&self, request: &Request, place: TablePlace, wanted: Option<&Wanted>, piece: u32) -> Option<u32> {
        self.frames.table_bytes(request, place, wanted, piece)
    }
}

/// The refusal of a request, step by step as a memory manager with a bound to keep tells it.
///
/// # Panics
/// When it is admitted, or a step takes more than is stated.
pub fn refused_in_steps<const D: usize, const P: usize>(
    book: &mut Ledger<D, P>,
    request: &Request,
    frames: &mut impl Frames,
) -> Refusal {
    let mut counted = Counted { frames, takes: 0 };
    let mut refusal = book.admit_unexplained(request, &mut counted).unwrap_err();
    assert_eq!(refusal.change, Change::Unknown(0));
    assert!(counted.takes <= 2 * P, "one decision, and {} takes: {request:?}", counted.takes);
    while let Change::Unknown(step) = refusal.change {
        counted.takes = 0;
        refusal = book.explain(request, step, &mut counted).unwrap_err();
        assert!(counted.takes <= 4 * P, "two decisions, and {} takes: step {step} of {request:?}", counted.takes);
        assert!(!matches!(refusal.change, Change::Unknown(next) if next <= step));
    }
    refusal
}
