//! The memory of the pools: extents that one region register covers, or pieces for page tables.

use core::cell::Cell;

use memory::extents::{Extent, ExtentError, Extents};
use memory::pieces::Pieces;
use spec::{Frames, Grant, NotThere, PAGE_BYTES, Range, Request, TablePlace};

use crate::hand_over::PoolAt;
use crate::holding::Holding;
use crate::region::{Mark, Piece, Region, Terms};
use crate::sizes::GRANULE_LOG2;
use crate::tally::Tally;
use crate::window::{self, Window};

fn extent(base: u32, bytes: u32) -> Option<Extent> {
    Extent::new(base, bytes, GRANULE_LOG2)
}

/// Settings of a region register for an extent: the logarithm of the size, and the eighths that stay closed.
pub fn shape(base: u32, bytes: u32) -> Option<(u8, u8)> {
    extent(base, bytes).map(|extent| (extent.size_log2(), extent.srd()))
}

/// The memory of each pool.
#[derive(Clone, Debug)]
pub(crate) enum Stock<const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize> {
    Extents([Option<Extents<WORDS>>; P]),
    Pieces([Option<Pieces<PAGE_WORDS, PAGES>>; P]),
}

impl<const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize>
    Stock<P, WORDS, PAGE_WORDS, PAGES>
{
    pub const CLOSED: Self = Stock::Extents([const { None }; P]);

    /// Takes in all of the pools' memory, which is clean. The steps are functions of their own, so
    /// that the stack holds one large value at a time.
    pub fn open(&mut self, scatters: bool, pools: &[PoolAt]) -> Result<(), ExtentError> {
        self.close(scatters);
        pools.iter().enumerate().try_for_each(|(index, at)| match self {
            Stock::Extents(all) => Self::open_extents(&mut all[index], at),
            Stock::Pieces(all) => Self::open_pieces(&mut all[index], at),
        })
    }

    #[inline(never)]
    fn close(&mut self, scatters: bool) {
        match self {
            Stock::Extents(all) if !scatters => all.iter_mut().for_each(|pool| *pool = None),
            _ if scatters => *self = Stock::Pieces([const { None }; P]),
            _ => *self = Self::CLOSED,
        }
    }

    #[inline(never)]
    fn open_extents(pool: &mut Option<Extents<WORDS>>, at: &PoolAt) -> Result<(), ExtentError> {
        *pool = Some(Extents::new(at.base, at.bytes, GRANULE_LOG2)?);
        Ok(())
    }

    #[inline(never)]
    fn open_pieces(pool: &mut Option<Pieces<PAGE_WORDS, PAGES>>, at: &PoolAt) -> Result<(), ExtentError> {
        *pool = Some(Pieces::new(at.base, at.bytes)?);
        Ok(())
    }

    fn extents(&mut self, pool: u8) -> Option<&mut Extents<WORDS>> {
        match self {
            Stock::Extents(all) => all.get_mut(usize::from(pool))?.as_mut(),
            Stock::Pieces(_) => None,
        }
    }

    fn pieces(&self, pool: u8) -> Option<&Pieces<PAGE_WORDS, PAGES>> {
        match self {
            Stock::Extents(_) => None,
            Stock::Pieces(all) => all.get(usize::from(pool))?.as_ref(),
        }
    }

    fn pieces_mut(&mut self, pool: u8) -> Option<&mut Pieces<PAGE_WORDS, PAGES>> {
        match self {
            Stock::Extents(_) => None,
            Stock::Pieces(all) => all.get_mut(usize::from(pool))?.as_mut(),
        }
    }

    /// Bytes that are neither taken nor promised.
    pub fn left(&self, pool: u8) -> u32 {
        match self {
            Stock::Extents(all) => all.get(usize::from(pool)).and_then(Option::as_ref).map_or(0, Extents::free_bytes),
            Stock::Pieces(_) => self.pieces(pool).map_or(0, Pieces::left),
        }
    }

    /// Notes that the memory of a region is dirty, so that it is not granted before it has been
    /// cleared.
    pub fn soil(&mut self, region: &Region) {
        if let (Some(extents), Some(extent)) = (self.extents(region.pool), extent(region.base, region.bytes)) {
            // Cannot fail: the extent is reserved and live.
            let _ = extents.soil(extent);
        }
    }

    /// Returns the piece of a region that follows `done` bytes and the piece `last`, if it has been
    /// drawn already.
    pub fn drawn(&self, region: &Region, done: u32, last: Mark) -> Option<Mark> {
        let next = match self.pieces(region.pool) {
            _ if done == 0 => region.first,
            Some(pieces) => pieces.at(last)?.next,
            None => return None,
        };
        (!next.is_end() || matches!(self, Stock::Extents(_))).then_some(next)
    }

    /// Draws the piece that follows `done` bytes and the piece `last`.
    pub fn draw(&mut self, region: &mut Region, done: u32, last: Mark) -> Option<Mark> {
        let after = if done == 0 { Mark::END } else { last };
        let at = region.base.wrapping_add(done);
        let drawn = self.pieces_mut(region.pool)?.draw(at, region.bytes - done, after)?;
        if done == 0 {
            region.first = drawn;
        }
        Some(drawn)
    }

    /// Returns the number of pieces of memory that was taken just now. Promised memory has none
    /// yet, because pieces are chosen when they are mapped.
    #[inline(never)]
    pub fn count(&self, range: &Range) -> u32 {
        let Some(pieces) = self.pieces(range.pool) else { return 1 };
        if range.base == PROMISED {
            return 0;
        }
        // All pieces of a chain are as large as the first, because they were reserved so.
        let first = pieces.at(pieces.chain(range.base)).map_or(range.bytes, |piece| piece.bytes);
        // They are powers of two; a division would be long where the processor has none.
        range.bytes >> first.max(1).ilog2()
    }

    /// Gives memory back that was taken just now. It is still clean, because no client has had it.
    pub fn give(&mut self, range: Range) {
        if let Some(pieces) = self.pieces_mut(range.pool) {
            if range.base == PROMISED { pieces.forgo(range.bytes) } else { pieces.give_all(pieces.chain(range.base)) }
        } else if let (Some(extents), Some(extent)) = (self.extents(range.pool), extent(range.base, range.bytes)) {
            // Cannot fail: it was taken just now.
            let _ = extents.release(extent);
        }
    }

    pub fn piece(&self, region: &Region, mark: Mark) -> Option<Piece> {
        match self {
            Stock::Extents(_) if mark.is_end() => None,
            Stock::Extents(_) => Some(Piece { base: region.base, bytes: region.bytes, next: Mark::END }),
            Stock::Pieces(_) => self.pieces(region.pool)?.at(mark),
        }
    }

    pub fn clean(&mut self, region: &Region, piece: Option<Mark>, bytes: u32) {
        match (self.pieces_mut(region.pool), piece) {
            (Some(pieces), Some(mark)) => pieces.give(mark),
            (Some(pieces), None) => pieces.forgo(bytes),
            (None, _) => {
                if let (Some(extents), Some(extent)) = (self.extents(region.pool), extent(region.base, region.bytes)) {
                    // Cannot fail: the extent is dirty.
                    let _ = extents.cleaned(extent);
                }
            }
        }
    }
}

/// Finds memory for one request of a client, and addresses for it, while the ledger decides. The
/// ledger knows sums only; whether memory is in pieces that serve is known here.
pub(crate) struct Finder<
    'a,
    const D: usize,
    const P: usize,
    const WORDS: usize,
    const PAGE_WORDS: usize,
    const PAGES: usize,
> {
    pub stock: &'a mut Stock<P, WORDS, PAGE_WORDS, PAGES>,
    pub tallies: &'a mut [Tally<D>; P],
    pub client: u8,
    /// There was memory, but the client has no marks left for one more piece. Then the remedy is
    /// another one.
    pub scattered: bool,
    /// Addresses of the client's window, if there are page tables.
    pub window: Option<Window>,
    /// Shared memory that the client joins. It exists, so it is not looked for; its address is its
    /// owner's.
    pub joined: Option<Region>,
    /// Memory that the client holds.
    pub held: &'a [Holding],
    /// The address that was found last, and the place of its tables: `table_bytes` finds it for
    /// each place that the ledger tries, and what is granted has the last one.
    pub found: Cell<Option<(TablePlace, u32)>>,
}

impl<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize>
    Finder<'_, D, P, WORDS, PAGE_WORDS, PAGES>
{
    /// Takes memory in one piece, or in pieces of `piece` bytes.
    fn reserve(&mut self, pool: u8, wanted: &spec::Wanted, piece: u32) -> Result<Range, NotThere> {
        let spec::Wanted { bytes, align, at } = *wanted;
        if let Some(pieces) = self.stock.pieces_mut(pool) {
            let first = pieces.reserve(bytes, if piece == 0 { bytes } else { piece });
            let first = first.map_err(|largest| NotThere { largest })?;
            return Ok(Range { pool, base: pieces.at(first).map_or(0, |piece| piece.base), bytes });
        }
        let extents = self.stock.extents(pool).ok_or(NotThere::default())?;
        let found = match at {
            Some(at) => extents.reserve_at(at, bytes),
            None => extents.reserve_aligned(bytes, align),
        };
        match found {
            Ok(extent) => Ok(Range { pool, base: extent.base(), bytes: extent.bytes() }),
            Err(ExtentError::Full { largest, .. }) => Err(NotThere { largest }),
            // No extent is so large. A smaller one may be free, and the client is told of it.
            Err(_) => Err(NotThere { largest: if at.is_some() { 0 } else { extents.largest() } }),
        }
    }

    /// The region of a grant, where `table_bytes` found its address.
    ///
    /// # Time complexity
    /// Constant.
    pub fn region(&self, request: &Request, grant: &Grant) -> Region {
        let charge = &grant.charge;
        let Range { pool, base, bytes } = charge.frames.unwrap_or(Range { pool: 0, base: 0, bytes: 0 });
        let (Some(window), Some(pieces)) = (&self.window, self.stock.pieces(pool)) else {
            return Region { base, bytes, pool, first: Mark::default() };
        };
        let at = self.found.get().filter(|(place, _)| *place == charge.place).map_or(0, |(_, at)| at);
        debug_assert!(request.frames.is_some_and(|wanted| {
            let wanted = spec::Wanted { bytes, ..wanted };
            window.pick(charge.place, &wanted, self.held) == Some(at)
        }));
        let first = if base == PROMISED { Mark::END } else { pieces.chain(base) };
        Region { base: at, bytes, pool, first }
    }
}

/// Stands for the address of memory that is promised and not chosen yet.
const PROMISED: u32 = 0;

impl<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize> Frames
    for Finder<'_, D, P, WORDS, PAGE_WORDS, PAGES>
{
    #[inline(never)]
    fn take(&mut self, pool: u8, wanted: &spec::Wanted, piece: u32) -> Result<Range, NotThere> {
        if let Some(pieces) = self.stock.pieces_mut(pool).filter(|_| piece == PAGE_BYTES) {
            // Its pieces are not known yet, so they are counted when they are drawn.
            let promised = pieces.promise(wanted.bytes).map_err(|largest| NotThere { largest });
            return promised.map(|()| Range { pool, base: PROMISED, bytes: wanted.bytes });
        }
        let range = self.reserve(pool, wanted, piece)?;
        let pieces = self.stock.count(&range);
        if self.tallies.get_mut(usize::from(pool)).is_some_and(|tally| tally.take(self.client, pieces)) {
            return Ok(range);
        }
        self.scattered = true;
        self.stock.give(range);
        Err(NotThere::default())
    }

    #[inline(never)]
    fn give(&mut self, range: Range) {
        let pieces = self.stock.count(&range);
        if let Some(tally) = self.tallies.get_mut(usize::from(range.pool)) {
            tally.give(self.client, pieces);
        }
        self.stock.give(range);
    }

    fn within(&self, pool: u8, bytes: u32, piece: u32) -> u32 {
        match self.stock.pieces(pool) {
            // In one piece it is a power of two.
            Some(_) if piece == 0 => bytes.checked_ilog2().map_or(0, |log2| 1 << log2),
            // A mask does for a remainder, because a piece is a power of two.
            Some(_) => bytes & !(piece - 1),
            None => Extent::within(bytes, GRANULE_LOG2),
        }
    }

    fn table_bytes(
        &self,
        request: &Request,
        place: TablePlace,
        wanted: Option<&spec::Wanted>,
        piece: u32,
    ) -> Option<u32> {
        let Some(window) = &self.window else { return Some(request.table_bytes) };
        let region = match (self.joined, wanted) {
            (Some(region), _) => Some(region).filter(|region| window.serves(region.base, place))?,
            (None, Some(wanted)) => {
                let base = window.pick(place, wanted, self.held)?;
                self.found.set(Some((place, base)));
                Region { base, bytes: wanted.bytes, ..Region::default() }
            }
            (None, None) => return None,
        };
        let slots = u8::from(self.joined.is_some() && request.slots > 0 || piece > PAGE_BYTES);
        Some(
            window::tables(&region, Terms { slots, place: place as u8, ..Terms::default() }, self.held)
                * window.table_bytes,
        )
    }
}
