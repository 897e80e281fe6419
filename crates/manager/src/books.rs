//! The account that is kept on the target and on the host: the admission ledger, and the extents of each pool.

pub use memory::extents::words_for;
use memory::extents::{Extent, ExtentError, Extents};
use spec::{
    Bound as Promise, Change, Charge, DecodeError, Frames, Grant, Ledger, NotThere, PLACES, Platform, Range, Refusal,
    Request, TablePlace, TemporalSpec,
};

use crate::rule::{self, change, refuse};
use crate::seam::{Account, Admitted, Bound, Entry, Region, Wanted};
use crate::wire::{NAME_BYTES, Refused};

/// Base-two logarithm of what extents are made of: the smallest region that is paged.
pub const GRANULE_LOG2: u8 = 8;

/// Where a pool lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolAt {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Name of the frames in the manifest, padded with zero bytes; the manager holds its capability under the same name.
    pub name: [u8; NAME_BYTES],
}

impl PoolAt {
    /// A pool, of whose name the first 16 bytes count.
    pub fn new(name: &str, base: u32, bytes: u32) -> PoolAt {
        let mut pool = PoolAt { base, bytes, name: [0; NAME_BYTES] };
        for (to, from) in pool.name.iter_mut().zip(name.bytes()) {
            *to = from;
        }
        pool
    }

    /// Its name; empty when that is no text.
    pub fn text(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        core::str::from_utf8(&self.name[..end]).unwrap_or("")
    }
}

/// What the host hands over: the ledger as it is when the system starts, and where the pools lie.
///
/// ```text
/// word 0        1..1 + 6 * pools                         then
/// pools         base, bytes and name (4 words) of each   the ledger (`spec::Ledger::encode`)
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HandOver<'a> {
    bytes: &'a [u8],
}

/// Why a hand-over was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOverError {
    /// It is cut short.
    Short,
    /// The ledger is none.
    Ledger(DecodeError),
    /// The ledger has another number of pools, or pools of other sizes.
    Pools,
    /// A pool cannot be divided into extents.
    Extents(ExtentError),
}

const WORD: usize = 4;
/// Bytes for each pool.
const POOL: usize = 2 * WORD + NAME_BYTES;

impl<'a> HandOver<'a> {
    /// Bytes of a hand-over.
    pub const fn bytes(domains: usize, pools: usize) -> usize {
        WORD + pools * POOL + spec::block_bytes(domains, pools)
    }

    /// Writes a hand-over; returns the bytes used, `None` when `out` is shorter.
    pub fn encode<const D: usize, const P: usize>(
        ledger: &Ledger<D, P>,
        pools: &[PoolAt],
        out: &mut [u8],
    ) -> Option<usize> {
        let (head, rest) = out.split_at_mut_checked(WORD + pools.len() * POOL)?;
        head[..WORD].copy_from_slice(&(pools.len() as u32).to_le_bytes());
        for (slot, pool) in head[WORD..].chunks_exact_mut(POOL).zip(pools) {
            slot[..WORD].copy_from_slice(&pool.base.to_le_bytes());
            slot[WORD..2 * WORD].copy_from_slice(&pool.bytes.to_le_bytes());
            slot[2 * WORD..].copy_from_slice(&pool.name);
        }
        Some(head.len() + ledger.encode(rest)?)
    }

    /// Looks at bytes as a hand-over.
    pub const fn new(bytes: &'a [u8]) -> Self {
        HandOver { bytes }
    }

    fn word(&self, index: usize) -> Result<u32, HandOverError> {
        let found = self.bytes.get(WORD * index..WORD * (index + 1)).and_then(|bytes| bytes.try_into().ok());
        found.map(u32::from_le_bytes).ok_or(HandOverError::Short)
    }

    /// Where each pool lies.
    ///
    /// # Errors
    /// [`HandOverError::Short`], [`HandOverError::Pools`] when there are more than `P`.
    pub fn pools<const P: usize>(&self) -> Result<([PoolAt; P], usize), HandOverError> {
        let count = self.word(0)? as usize;
        let mut pools = [PoolAt::default(); P];
        for (index, pool) in pools.get_mut(..count).ok_or(HandOverError::Pools)?.iter_mut().enumerate() {
            let word = 1 + index * POOL / WORD;
            let name = self.bytes.get(WORD * (word + 2)..WORD + (index + 1) * POOL).ok_or(HandOverError::Short)?;
            let name = name.try_into().map_err(|_| HandOverError::Short)?;
            *pool = PoolAt { base: self.word(word)?, bytes: self.word(word + 1)?, name };
        }
        Ok((pools, count))
    }

    fn ledger<const D: usize, const P: usize>(&self) -> Result<Ledger<D, P>, HandOverError> {
        let pools = self.word(0)? as usize;
        let rest = self.bytes.get(WORD + pools * POOL..).ok_or(HandOverError::Short)?;
        Ledger::decode(rest).map_err(HandOverError::Ledger)
    }
}

/// Memory of the pools, as the ledger finds it.
#[derive(Clone, Debug)]
struct Pools<const P: usize, const WORDS: usize>([Option<Extents<WORDS>>; P]);

impl<const P: usize, const WORDS: usize> Frames for Pools<P, WORDS> {
    fn take(&mut self, pool: u8, wanted: &spec::Wanted, _piece: u32) -> Result<Range, NotThere> {
        let extents = self.0.get_mut(usize::from(pool)).and_then(Option::as_mut).ok_or(NotThere::default())?;
        let found = match wanted.at {
            Some(at) => extents.reserve_at(at, wanted.bytes),
            None => extents.reserve_aligned(wanted.bytes, wanted.align),
        };
        match found {
            Ok(extent) => Ok(Range { pool, base: extent.base(), bytes: extent.bytes() }),
            Err(ExtentError::Full { largest, .. }) => Err(NotThere { largest }),
            Err(_) => Err(NotThere::default()),
        }
    }

    fn give(&mut self, range: Range) {
        let extents = self.0.get_mut(usize::from(range.pool)).and_then(Option::as_mut);
        if let (Some(extents), Some(extent)) = (extents, extent(range.base, range.bytes)) {
            // Cannot fail: it was taken just now.
            let _ = extents.release(extent);
        }
    }
}

fn extent(base: u32, bytes: u32) -> Option<Extent> {
    Extent::new(base, bytes, GRANULE_LOG2)
}

fn region(extent: Extent) -> Region {
    Region { base: extent.base(), size_log2: extent.size_log2(), srd: extent.srd(), bytes: extent.bytes() }
}

/// The account: a ledger of `D` domains and `P` pools, and `WORDS` words for the extents of each pool.
#[derive(Clone, Debug)]
pub struct Books<const D: usize, const P: usize, const WORDS: usize> {
    ledger: Ledger<D, P>,
    pools: Pools<P, WORDS>,
    /// Where each pool lies.
    places: [PoolAt; P],
}

impl<const D: usize, const P: usize, const WORDS: usize> Books<D, P, WORDS> {
    /// An account of nobody, which admits nothing.
    pub const fn closed() -> Self {
        let ledger = Ledger::new(Platform::cortex_m7(0, 0), [0; PLACES]);
        Books {
            ledger,
            pools: Pools([const { None }; P]),
            places: [PoolAt { base: 0, bytes: 0, name: [0; NAME_BYTES] }; P],
        }
    }

    /// Opens the account as it is at the start of the system.
    ///
    /// # Errors
    /// [`HandOverError`]; the account is closed then.
    pub fn open(&mut self, hand_over: HandOver) -> Result<(), HandOverError> {
        let ledger: Ledger<D, P> = hand_over.ledger()?;
        let (places, count) = hand_over.pools::<P>()?;
        let agree = |(pool, at): (&spec::Pool, &PoolAt)| pool.clean.total == at.bytes && pool.clean.used == 0;
        if ledger.pools().len() != count || !ledger.pools().iter().zip(&places).all(agree) {
            return Err(HandOverError::Pools);
        }
        for (slot, at) in self.pools.0.iter_mut().zip(&places[..count]) {
            *slot = Some(Extents::new(at.base, at.bytes, GRANULE_LOG2).map_err(HandOverError::Extents)?);
        }
        (self.ledger, self.places) = (ledger, places);
        Ok(())
    }

    /// The ledger.
    pub const fn ledger(&self) -> &Ledger<D, P> {
        &self.ledger
    }

    fn pool_of(&self, base: u32) -> Option<u8> {
        let inside = |at: &PoolAt| base.wrapping_sub(at.base) < at.bytes;
        self.places.iter().position(inside).map(|index| index as u8)
    }

    fn range(&self, region: Region) -> Option<Range> {
        Some(Range { pool: self.pool_of(region.base)?, base: region.base, bytes: region.bytes })
    }

    fn admitted(&mut self, request: &Request, region_of: impl FnOnce(&Grant) -> Region) -> Result<Admitted, Refused> {
        let grant = self.ledger.admit(request, &mut self.pools).map_err(refused)?;
        Ok(Admitted {
            region: region_of(&grant),
            pinned: grant.charge.slots > 0,
            bound: grant.bound.map_or(Bound::default(), bound),
            nodes: grant.table.map(|range| (range.base, range.bytes)),
        })
    }
}

fn bound(promise: Promise) -> Bound {
    Bound { level: promise.level as u8, method: promise.method as u8, cycles: promise.cycles }
}

fn refused(refusal: Refusal) -> Refused {
    let (change, value) = refusal.change.numbers();
    refuse(refusal.rule.number(), refusal.asked, refusal.left, change, value)
}

/// Bits that are no specification: no rule of the ledger's is broken, for it never sees them.
fn unspecified(bits: u32) -> Refused {
    let (kind, value) = Change::Spec(TemporalSpec::default()).numbers();
    debug_assert!(kind < change::NONE);
    refuse(rule::SPECIFIED, bits, 0, kind, value)
}

fn request(client: u8, spec: u32, region: Option<Region>, frames: Option<spec::Wanted>) -> Result<Request, Refused> {
    let spec = TemporalSpec::from_bits(spec).map_err(|_| unspecified(spec))?;
    let table_bytes = region.map_or(0, |region| table_bytes(&region));
    Ok(Request { domain: client, spec, code: false, slots: 1, table_bytes, descriptors: 0, misses: 0, frames })
}

/// Bytes of nodes and leaves that a region takes in a table at most: a leaf, and one node for each run of open eighths.
fn table_bytes(region: &Region) -> u32 {
    let eighths = if region.srd == 0 { 8 } else { region.srd.trailing_zeros() };
    eighths.count_ones() * u32::from(spec::NODE_BYTES) + 8
}

impl<const D: usize, const P: usize, const WORDS: usize> Account for Books<D, P, WORDS> {
    fn admit(&mut self, client: u8, wanted: &Wanted) -> Result<Admitted, Refused> {
        let Wanted { bytes, at, alignment, .. } = *wanted;
        // What the extent will be, but for its address: its entry in the table depends on its shape only.
        let shape = extent(0, bytes).map_or(Region::default(), region);
        if alignment == 0 || !alignment.is_power_of_two() {
            return Err(refuse(rule::ALIGNED, alignment, 0, change::ALIGNMENT, 1));
        }
        let frames = spec::Wanted { bytes, align: alignment, at };
        let request = request(client, wanted.spec, Some(shape), Some(frames))?;
        self.admitted(&request, |grant| {
            let range = grant.charge.frames.unwrap_or(Range { pool: 0, base: 0, bytes: 0 });
            extent(range.base, range.bytes).map_or(Region::default(), region)
        })
    }

    fn join(&mut self, client: u8, region: Region, spec: u32) -> Result<Admitted, Refused> {
        let request = request(client, spec, Some(region), None)?;
        self.admitted(&request, |_| region)
    }

    fn leave(&mut self, client: u8, entry: &Entry, frames: bool) {
        let Ok(spec) = TemporalSpec::from_bits(entry.spec) else { return };
        let range = self.range(entry.region).filter(|_| frames);
        debug_assert!(self.ledger.platform().meaning(spec).is_ok());
        let charge = Charge {
            domain: client,
            code: false,
            slots: u8::from(entry.pinned),
            place: self.ledger.accounts().get(usize::from(client)).map_or(TablePlace::OnChip, |account| account.root),
            table_bytes: if entry.pinned { 0 } else { table_bytes(&entry.region) },
            misses: 0,
            frames: range,
        };
        self.ledger.release(&charge);
        if let (Some(range), Some(extent)) = (range, extent(entry.region.base, entry.region.bytes))
            && let Some(extents) = &mut self.pools.0[usize::from(range.pool)]
        {
            // Cannot fail: the extent is reserved and live.
            let _ = extents.soil(extent);
        }
    }

    fn clean(&mut self, client: u8, region: Region) {
        let Some(range) = self.range(region) else { return };
        self.ledger.cleaned(client, range);
        if let (Some(extents), Some(extent)) =
            (&mut self.pools.0[usize::from(range.pool)], extent(region.base, region.bytes))
        {
            // Cannot fail: the extent is dirty.
            let _ = extents.cleaned(extent);
        }
    }
}
