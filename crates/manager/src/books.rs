//! The account that is kept on the target and on the host: the admission ledger, and the memory of each pool.

use memory::extents::ExtentError;
pub use memory::extents::words_for;
use spec::{
    Bound as Promise, Change, Charge, DecodeError, Grant, Ledger, Method, PLACES, Pages, Platform, Range, Refusal,
    Request, TablePlace, TemporalSpec, UNITS,
};

use crate::holding::{Holding, Who};
use crate::rule::{self, change, refuse};
use crate::seam::{Account, Admitted, Asked, Bound, Effort, Entry, Mark, Piece, Region, Terms, Wanted};
pub use crate::stock::shape;
use crate::stock::{Finder, Stock};
use crate::window::{self, Window};
use crate::wire::{NAME_BYTES, Refused, padded};

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
        PoolAt { base, bytes, name: padded(name) }
    }

    /// Its name; empty when that is no text.
    pub fn text(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        core::str::from_utf8(&self.name[..end]).unwrap_or("")
    }
}

/// Shared memory that the manifest declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Number of the domain that owns it.
    pub owner: u8,
    /// Clients that may map it at most.
    pub who: Who,
    /// Its name among the owner's, padded with zero bytes.
    pub name: [u8; NAME_BYTES],
}

/// The host hands this over: the ledger as it is when the system starts, the places of the pools, and the declared shared memory.
///
/// ```text
/// word 0, 1      pools, shares                             then
/// pools          base, bytes and name (4 words) of each    then
/// shares         owner, readers, writers and name of each  the ledger (`spec::Ledger::encode`)
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
    /// A pool cannot be divided into extents, or pages.
    Extents(ExtentError),
    /// Shared memory has no owner or no name.
    Shares,
}

impl HandOverError {
    /// What is wrong, in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            HandOverError::Short => "the hand-over is cut short",
            HandOverError::Ledger(_) => "the ledger that was handed over is not accepted",
            HandOverError::Pools => "the pools that were handed over are not the ledger's",
            HandOverError::Shares => "shared memory that was handed over has no owner or no name",
            HandOverError::Extents(_) => "a pool is too large, or no multiple of what it is divided into",
        }
    }
}

const WORD: usize = 4;
/// Bytes before the pools.
const HEAD: usize = 2 * WORD;
/// Bytes for each pool.
const POOL: usize = 2 * WORD + NAME_BYTES;
/// Bytes for each share.
const SHARE: usize = 3 * WORD + NAME_BYTES;

impl<'a> HandOver<'a> {
    /// Bytes of a hand-over.
    pub const fn bytes(domains: usize, pools: usize, shares: usize) -> usize {
        HEAD + pools * POOL + shares * SHARE + spec::block_bytes(domains, pools)
    }

    /// Writes a hand-over; returns the bytes used, `None` when `out` is shorter.
    pub fn encode<const D: usize, const P: usize>(
        ledger: &Ledger<D, P>,
        pools: &[PoolAt],
        shares: &[Declared],
        out: &mut [u8],
    ) -> Option<usize> {
        let (head, rest) = out.split_at_mut_checked(HEAD)?;
        let (first, rest) = rest.split_at_mut_checked(pools.len() * POOL)?;
        let (second, rest) = rest.split_at_mut_checked(shares.len() * SHARE)?;
        put(head, [pools.len() as u32, shares.len() as u32], &[]);
        for (slot, pool) in first.chunks_exact_mut(POOL).zip(pools) {
            put(slot, [pool.base, pool.bytes], &pool.name);
        }
        for (slot, Declared { owner, who, name }) in second.chunks_exact_mut(SHARE).zip(shares) {
            put(slot, [u32::from(*owner), who.readers, who.writers], name);
        }
        Some(head.len() + first.len() + second.len() + ledger.encode(rest)?)
    }

    /// Looks at bytes as a hand-over.
    pub const fn new(bytes: &'a [u8]) -> Self {
        HandOver { bytes }
    }

    /// Words from an offset in bytes on.
    fn words<const N: usize>(&self, at: usize) -> Result<[u32; N], HandOverError> {
        let mut words = [0; N];
        let found = self.bytes.get(at..at + N * WORD).ok_or(HandOverError::Short)?;
        for (word, bytes) in words.iter_mut().zip(found.chunks_exact(WORD)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(words)
    }

    fn name(&self, at: usize) -> Result<[u8; NAME_BYTES], HandOverError> {
        let found = self.bytes.get(at..at + NAME_BYTES).and_then(|name| name.try_into().ok());
        found.ok_or(HandOverError::Short)
    }

    /// Pools and shares, of each at most as many as there are bytes.
    fn counts(&self) -> Result<(usize, usize), HandOverError> {
        let [pools, shares] = self.words(0)?.map(|count: u32| count as usize);
        if pools > self.bytes.len() || shares > self.bytes.len() {
            Err(HandOverError::Short)
        } else {
            Ok((pools, shares))
        }
    }

    /// Where each pool lies.
    ///
    /// # Errors
    /// [`HandOverError::Short`], [`HandOverError::Pools`] when there are more than `P`.
    pub fn pools<const P: usize>(&self) -> Result<([PoolAt; P], usize), HandOverError> {
        let (count, _) = self.counts()?;
        let mut pools = [PoolAt::default(); P];
        for (index, pool) in pools.get_mut(..count).ok_or(HandOverError::Pools)?.iter_mut().enumerate() {
            let at = HEAD + index * POOL;
            let [base, bytes] = self.words(at)?;
            *pool = PoolAt { base, bytes, name: self.name(at + 2 * WORD)? };
        }
        Ok((pools, count))
    }

    /// The shared memory that the manifest declares.
    ///
    /// # Errors
    /// Each is [`HandOverError::Short`], or [`HandOverError::Shares`].
    pub fn shares(&self) -> impl Iterator<Item = Result<Declared, HandOverError>> + '_ {
        let (pools, count) = self.counts().unwrap_or((0, 0));
        (0..count).map(move |index| {
            let at = HEAD + pools * POOL + index * SHARE;
            let [owner, readers, writers] = self.words(at)?;
            let name = self.name(at + 3 * WORD)?;
            let owner = u8::try_from(owner).ok().filter(|_| name[0] != 0).ok_or(HandOverError::Shares)?;
            Ok(Declared { owner, who: Who { readers, writers }, name })
        })
    }

    fn ledger<const D: usize, const P: usize>(&self) -> Result<Ledger<D, P>, HandOverError> {
        let (pools, shares) = self.counts()?;
        let rest = self.bytes.get(HEAD + pools * POOL + shares * SHARE..).ok_or(HandOverError::Short)?;
        Ledger::decode(rest).map_err(HandOverError::Ledger)
    }
}

/// Writes words and a name, one behind the other.
fn put<const N: usize>(slot: &mut [u8], words: [u32; N], name: &[u8]) {
    let (first, rest) = slot.split_at_mut(N * WORD);
    for (to, word) in first.chunks_exact_mut(WORD).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    rest.copy_from_slice(name);
}

/// The account: a ledger of `D` domains and `P` pools, and for each pool `WORDS` words of extents, or `PAGE_WORDS` words and `PAGES` pages.
#[derive(Clone, Debug)]
pub struct Books<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize> {
    ledger: Ledger<D, P>,
    stock: Stock<P, WORDS, PAGE_WORDS, PAGES>,
    /// Where each pool lies.
    places: [PoolAt; P],
}

impl<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize>
    Books<D, P, WORDS, PAGE_WORDS, PAGES>
{
    const NOBODYS: Ledger<D, P> = Ledger::new(Platform::cortex_m7(0, 0), [0; PLACES]);

    /// An account of nobody, which admits nothing.
    pub const fn closed() -> Self {
        Books {
            ledger: Self::NOBODYS,
            stock: Stock::CLOSED,
            places: [PoolAt { base: 0, bytes: 0, name: [0; NAME_BYTES] }; P],
        }
    }

    /// Opens the account as it is at the start of the system, on the platform that the ledger is for.
    ///
    /// # Errors
    /// [`HandOverError`]; the account is closed then.
    pub fn open(&mut self, hand_over: HandOver) -> Result<(), HandOverError> {
        let opened = self.read(hand_over).and_then(|count| {
            let pages = self.ledger.platform().pages().is_some();
            self.stock.open(pages, &self.places[..count]).map_err(HandOverError::Extents)
        });
        if opened.is_err() {
            self.ledger = Self::NOBODYS;
        }
        opened
    }

    /// Reads the ledger and where its pools lie; how many there are. By itself, so that stacks hold one large value at a time.
    #[inline(never)]
    fn read(&mut self, hand_over: HandOver) -> Result<usize, HandOverError> {
        let (places, count) = hand_over.pools::<P>()?;
        self.ledger = hand_over.ledger()?;
        self.places = places;
        let agree = |(pool, at): (&spec::Pool, &PoolAt)| pool.clean.total == at.bytes && pool.clean.used == 0;
        let pools = self.ledger.pools();
        let all = pools.len() == count && pools.iter().zip(&places).all(agree);
        if all { Ok(count) } else { Err(HandOverError::Pools) }
    }

    /// The ledger.
    pub const fn ledger(&self) -> &Ledger<D, P> {
        &self.ledger
    }

    /// The pools' places, in the order of their numbers.
    pub fn pools(&self) -> impl Iterator<Item = &PoolAt> {
        self.places.iter().take(self.ledger.pools().len())
    }

    /// Bytes of a pool that are neither taken nor promised; 0 for a number that is none.
    pub fn left(&self, pool: u8) -> u32 {
        self.stock.left(pool)
    }

    fn admitted(&mut self, asked: (Request, Option<Region>), held: &[Holding]) -> Result<Admitted, Refused> {
        let (request, joined) = asked;
        let mut finder = Finder { stock: &mut self.stock, window: window_of(&self.ledger, &request), joined, held };
        let grant = self.ledger.admit_unexplained(&request, &mut finder).map_err(refused)?;
        let region = match joined {
            Some(region) => region,
            None => finder.region(&request, &grant),
        };
        let Grant { charge: Charge { slots, place, .. }, table, .. } = grant;
        Ok(Admitted {
            region,
            terms: Terms { slots, place: place as u8 },
            nodes: table.map(|range| (range.base, range.bytes)),
        })
    }

    /// Fresh memory as the ledger is asked for it.
    fn fresh(client: u8, wanted: &Wanted) -> Result<(Request, Option<Region>), Refused> {
        let Wanted { bytes, at, alignment: align, .. } = *wanted;
        if align == 0 || !align.is_power_of_two() {
            return Err(refuse(rule::ALIGNED, align, 0, change::ALIGNMENT, 1));
        }
        // What the extent will be, but for its address: its entry in the table depends on its shape only.
        let table_bytes = node_bytes(0, bytes);
        let frames = Some(spec::Wanted { bytes, align, at });
        Ok((Request { table_bytes, frames, ..request(client, wanted.spec)? }, None))
    }

    /// The same of memory that another client has, and where that is.
    fn theirs(&self, client: u8, theirs: &Entry) -> Result<(Request, Option<Region>), Refused> {
        let Entry { region, spec, terms } = *theirs;
        let is_paged = self.ledger.platform().pages().is_some();
        let (slots, table_bytes) = if is_paged { (terms.slots, 0) } else { (1, node_bytes(region.base, region.bytes)) };
        let descriptors = Self::descriptors(&region, terms);
        Ok((Request { slots, table_bytes, descriptors, ..request(client, spec)? }, Some(region)))
    }

    fn descriptors(region: &Region, terms: Terms) -> u32 {
        region.bytes / if terms.pinned() && region.bytes.is_multiple_of(UNITS[2]) { UNITS[2] } else { UNITS[0] }
    }
}

/// Nothing is promised.
const NOTHING: Bound = Bound { level: 0, method: 0, cycles: abi::info::UNBOUNDED };

fn promised(promise: Promise) -> Bound {
    Bound { level: promise.level as u8, method: promise.method as u8, cycles: promise.cycles }
}

fn place(terms: Terms) -> TablePlace {
    TablePlace::from_number(u32::from(terms.place)).unwrap_or(TablePlace::OffChip)
}

/// The window of the client that asks, where there are page tables.
fn window_of<const D: usize, const P: usize>(ledger: &Ledger<D, P>, request: &Request) -> Option<Window> {
    ledger.platform().pages().map(|pages| Window::of(pages, request.domain))
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

fn request(client: u8, spec: u32) -> Result<Request, Refused> {
    let spec = TemporalSpec::from_bits(spec).map_err(|_| unspecified(spec))?;
    Ok(Request { domain: client, spec, code: false, slots: 1, table_bytes: 0, descriptors: 0, misses: 0, frames: None })
}

/// Bytes of nodes and leaves that an extent takes in a table at most: a leaf, and one node for each run of open eighths.
fn node_bytes(base: u32, bytes: u32) -> u32 {
    let eighths = match shape(base, bytes) {
        None => return 0,
        Some((_, 0)) => 8,
        Some((_, srd)) => srd.trailing_zeros(),
    };
    eighths.count_ones() * u32::from(spec::NODE_BYTES) + 8
}

impl<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize> Account
    for Books<D, P, WORDS, PAGE_WORDS, PAGES>
{
    fn admit(&mut self, client: u8, wanted: &Wanted, held: &[Holding]) -> Result<Admitted, Refused> {
        self.admitted(Self::fresh(client, wanted)?, held)
    }

    fn join(&mut self, client: u8, theirs: &Entry, held: &[Holding]) -> Result<Admitted, Refused> {
        self.admitted(self.theirs(client, theirs)?, held)
    }

    fn explain(&mut self, client: u8, asked: &Asked, step: u16, held: &[Holding]) -> Result<(), Refused> {
        let (request, joined) = match asked {
            Asked::Fresh(wanted) => Self::fresh(client, wanted)?,
            Asked::Theirs(theirs) => self.theirs(client, theirs)?,
        };
        let mut finder = Finder { stock: &mut self.stock, window: window_of(&self.ledger, &request), joined, held };
        self.ledger.explain(&request, u32::from(step), &mut finder).map_err(refused)
    }

    fn leave(&mut self, client: u8, entry: &Entry, frames: bool, held: &[Holding]) {
        let Entry { region, terms, .. } = *entry;
        let table_bytes = match self.ledger.platform().pages() {
            Some(pages) => window::tables(&region, terms, held) * pages.table_bytes,
            None if terms.pinned() => 0,
            None => node_bytes(region.base, region.bytes),
        };
        let range = Range { pool: region.pool, base: region.base, bytes: region.bytes };
        self.ledger.release(&Charge {
            domain: client,
            code: false,
            slots: terms.slots,
            place: place(terms),
            table_bytes,
            misses: 0,
            frames: frames.then_some(range),
        });
        if frames {
            self.stock.soil(&region);
        }
    }

    fn maps_later(&self) -> bool {
        self.ledger.platform().pages().is_some()
    }

    fn draw(&mut self, region: &mut Region, done: u32, last: Mark) -> Option<Mark> {
        self.stock.draw(region, done, last)
    }

    fn piece(&self, region: &Region, mark: Mark) -> Option<Piece> {
        self.stock.piece(region, mark)
    }

    fn clean(&mut self, client: u8, region: &Region, piece: Option<Mark>, bytes: u32) {
        self.ledger.cleaned(client, Range { pool: region.pool, base: region.base, bytes });
        self.stock.clean(region, piece, bytes);
    }

    fn bound(&self, client: u8, terms: Terms) -> Bound {
        self.ledger.promised(client, terms.pinned(), place(terms)).map_or(NOTHING, promised)
    }

    fn effort(&self, region: &Region, terms: Terms) -> Effort {
        let Some(pages) = self.ledger.platform().pages() else { return Effort::default() };
        let spec::Effort { descriptors, map_cycles, release_cycles, method } =
            Pages::effort(pages, Self::descriptors(region, terms));
        Effort { descriptors, map_cycles, release_cycles, method: method as u8 }
    }
}

const _: () = assert!(Method::Derived as u8 != 0, "0 stands for nothing");
