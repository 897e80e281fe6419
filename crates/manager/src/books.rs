//! The account of memory. The ledger (`spec`) decides what is admitted; the host made it by the
//! same code and hands it over, so that both decide alike. The stock knows which memory is free.
//! The tallies count pieces, because each takes marks of the kernel's frame table. A test on the
//! host gives this account the history of a run, and compares
//! (`tests/suites/tests/memory_history.rs`).

use core::cell::Cell;

use abi::Error;
pub use memory::extents::words_for;
use spec::{
    Bound as Promise, Change, Charge, Grant, Ledger, Method, PLACES, Platform, Range, Refusal, Request, Rule,
    TablePlace, TemporalSpec, UNITS,
};

use crate::account::{Account, Admitted, Asked, Bound, Effort, Fresh};
use crate::hand_over::{HandOver, HandOverError, PoolAt};
use crate::holding::Holding;
use crate::region::{Entry, Mark, Piece, Region, Terms};
use crate::rule::{self, change, refuse};
pub use crate::stock::shape;
use crate::stock::{Finder, Stock};
use crate::tally::Tally;
use crate::window::{self, Window};
use crate::wire::{NAME_BYTES, Refused};

/// The account: a ledger of `D` domains and `P` pools, and for each pool its free memory. With
/// region registers that takes `WORDS` words of extents, with page tables `PAGE_WORDS` words and
/// `PAGES` pages.
#[derive(Clone, Debug)]
pub struct Books<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize> {
    ledger: Ledger<D, P>,
    stock: Stock<P, WORDS, PAGE_WORDS, PAGES>,
    /// Pieces of each pool's memory that each domain has, counted because each takes marks.
    tallies: [Tally<D>; P],
    /// Where each pool lies, its name, and its marks.
    places: [PoolAt; P],
}

impl<const D: usize, const P: usize, const WORDS: usize, const PAGE_WORDS: usize, const PAGES: usize>
    Books<D, P, WORDS, PAGE_WORDS, PAGES>
{
    const EMPTY_LEDGER: Ledger<D, P> = Ledger::new(Platform::NONE, [0; PLACES]);

    /// An account that admits nothing, until [`Books::open`].
    pub const fn closed() -> Self {
        Books {
            ledger: Self::EMPTY_LEDGER,
            stock: Stock::CLOSED,
            tallies: [const { Tally::NONE }; P],
            places: [PoolAt { base: 0, bytes: 0, marks: 0, name: [0; NAME_BYTES] }; P],
        }
    }

    /// Opens the account as it is at the start of the system, on the platform that the ledger is
    /// for. The ledger is read first: it says whether memory comes in extents or in pieces.
    ///
    /// # Errors
    /// [`HandOverError`]; the account is closed then. To empty the ledger is enough for that,
    /// because nothing is granted that it has not admitted.
    pub fn open(&mut self, hand_over: HandOver) -> Result<(), HandOverError> {
        let opened = self.read(hand_over).and_then(|count| {
            let scatters = self.ledger.platform().scheme().scatters;
            self.tally(scatters, count)?;
            self.stock.open(scatters, &self.places[..count]).map_err(HandOverError::Extents)
        });
        if opened.is_err() {
            self.ledger = Self::EMPTY_LEDGER;
        }
        opened
    }

    /// Reads the ledger and the places of its pools, and compares the two: both must name the same
    /// pools, of the same sizes, and nothing may be granted yet. Returns the number of pools. It is
    /// a function of its own so that the stack holds one large value at a time.
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

    /// Divides the marks of each pool among its domains. Each gets as many as its quota can need,
    /// and domains without a quota share the rest. Otherwise a quota of bytes would be worth
    /// nothing when others have used up the marks.
    fn tally(&mut self, scatters: bool, count: usize) -> Result<(), HandOverError> {
        let pools = (0u8..).zip(&self.places[..count]).zip(&mut self.tallies);
        for ((number, at), tally) in pools {
            let domains = 0..self.ledger.accounts().len() as u8;
            let quotas = domains.map(|domain| self.ledger.quota(domain, number).most.unwrap_or(0));
            *tally = Tally::new(at.marks, at.bytes, scatters, quotas).ok_or(HandOverError::Marks)?;
        }
        Ok(())
    }

    /// The ledger.
    pub const fn ledger(&self) -> &Ledger<D, P> {
        &self.ledger
    }

    /// The pools' places, in the order of their numbers.
    pub fn pools(&self) -> impl Iterator<Item = &PoolAt> {
        self.places.iter().take(self.ledger.pools().len())
    }

    /// Bytes of a pool that are neither taken nor promised; 0 if there is no such pool.
    pub fn left(&self, pool: u8) -> u32 {
        self.stock.left(pool)
    }

    /// Returns the number of pieces of a pool that are in use. Each takes marks of the kernel's
    /// frame table.
    pub fn pieces(&self, pool: u8) -> u32 {
        self.tallies.get(usize::from(pool)).map_or(0, Tally::used)
    }

    /// Splits the books into the ledger, which decides a request, and the finder, which it asks for
    /// memory and addresses while it decides. They are borrowed apart, because the ledger changes
    /// while it holds the finder. `joined` is another client's memory that is to be shared: the
    /// finder then takes none. `held` is what the client has already.
    fn finder<'a>(
        &'a mut self,
        request: &Request,
        joined: Option<Region>,
        held: &'a [Holding],
    ) -> (&'a mut Ledger<D, P>, Finder<'a, D, P, WORDS, PAGE_WORDS, PAGES>) {
        let Books { ledger, stock, tallies, .. } = self;
        let window = window_of(ledger, request);
        let (client, found) = (request.domain, Cell::new(None));
        (ledger, Finder { stock, tallies, client, scattered: false, window, joined, held, found })
    }

    /// Translates what a client asks for into a request to the ledger, with the region of the
    /// memory if another client owns it.
    fn requested(&self, client: u8, asked: &Asked) -> Result<(Request, Option<Region>), Refused> {
        match asked {
            Asked::Fresh(wanted) => Ok((Self::fresh(client, wanted)?, None)),
            Asked::Theirs(theirs) => Ok((self.theirs(client, theirs)?, Some(theirs.region))),
        }
    }

    /// The request for new memory. The alignment is tested here, because the ledger counts on it.
    fn fresh(client: u8, wanted: &Fresh) -> Result<Request, Refused> {
        let Fresh { bytes, at, alignment: align, .. } = *wanted;
        if align == 0 || !align.is_power_of_two() {
            return Err(refuse(rule::ALIGNED, align, 0, change::ALIGNMENT, 1));
        }
        // No address has been chosen yet. None is needed, because what the entry takes in the table
        // depends on the extent's shape alone, and address 0 restricts that least.
        let table_bytes = node_bytes(0, bytes);
        let frames = Some(spec::Wanted { bytes, align, at });
        Ok(Request { table_bytes, frames, ..request(client, wanted.spec)? })
    }

    /// The request for another client's memory, on its owner's terms. It asks for no frames,
    /// because the owner has paid for those. It takes what the client needs to reach it: a slot,
    /// and room in its table. With page tables the finder computes that room, from what the client
    /// has mapped.
    fn theirs(&self, client: u8, theirs: &Entry) -> Result<Request, Refused> {
        let Entry { region, spec, terms } = *theirs;
        let scatters = self.ledger.platform().scheme().scatters;
        let (slots, table_bytes) = if scatters { (terms.slots, 0) } else { (1, node_bytes(region.base, region.bytes)) };
        let descriptors = Self::descriptors(&region, terms);
        Ok(Request { slots, table_bytes, descriptors, ..request(client, spec)? })
    }

    /// Descriptors that map a region: sections of 1 MiB if it is pinned and consists of them,
    /// otherwise the smallest pages, because its pieces can turn out to be as small.
    fn descriptors(region: &Region, terms: Terms) -> u32 {
        let sections = terms.pinned() && region.bytes.is_multiple_of(UNITS[2]);
        if sections { region.bytes / UNITS[2] } else { region.bytes / UNITS[0] }
    }
}

/// The answer when the ledger promises nothing: no level, no method, and cycles without a bound.
const NOTHING: Bound = Bound { level: 0, method: 0, cycles: abi::info::UNBOUNDED };

/// A promise of the ledger in the numbers of the messages.
fn promised(promise: Promise) -> Bound {
    Bound { level: promise.level as u8, method: promise.method as u8, cycles: promise.cycles }
}

/// Returns where the tables lie on these terms. A number that names no place counts as the slowest
/// one, so that nothing is promised by mistake.
fn place(terms: Terms) -> TablePlace {
    TablePlace::from_number(u32::from(terms.place)).unwrap_or(TablePlace::OffChip)
}

fn window_of<const D: usize, const P: usize>(ledger: &Ledger<D, P>, request: &Request) -> Option<Window> {
    ledger.platform().pages().map(|pages| Window::of(pages, request.domain))
}

/// A refusal of the ledger in the numbers of the messages.
fn refused(refusal: Refusal) -> Refused {
    let (change, value) = refusal.change.numbers();
    refuse(refusal.rule.number(), refusal.asked, refusal.left, change, value)
}

/// Refuses bits that are no specification. The rule is the manager's, because the ledger never sees
/// such bits.
fn unspecified(bits: u32) -> Refused {
    let (kind, value) = Change::Spec(TemporalSpec::default()).numbers();
    debug_assert!(kind < change::NONE);
    refuse(rule::SPECIFIED, bits, 0, kind, value)
}

/// A request that has a specification and nothing else yet.
fn request(client: u8, spec: u32) -> Result<Request, Refused> {
    let spec = TemporalSpec::from_bits(spec).map_err(|_| unspecified(spec))?;
    Ok(Request::new(client, spec))
}

/// Returns the most bytes of a table that an extent takes: 8 for its leaf, and the nodes that lead
/// to it. An extent of several eighths is entered as powers of two (5 eighths are 4 and 1), and
/// each of these makes one node at most. Returns 0 for what is no extent, because the finder
/// refuses that.
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
    fn admit(&mut self, client: u8, asked: &Asked, held: &[Holding]) -> Result<Admitted, Refused> {
        let (request, joined) = self.requested(client, asked)?;
        let (ledger, mut finder) = self.finder(&request, joined, held);
        // The ledger knows only that no memory was found, and would name a rule about bytes. If the
        // finder had memory but no marks for it, the client has to hear that: the remedy is to
        // release a piece, not to ask for fewer bytes.
        let grant = ledger.admit_unexplained(&request, &mut finder).map_err(|refusal| match refusal.rule {
            Rule::Frames | Rule::FramesNotClean | Rule::Pages | Rule::TableMemory if finder.scattered => {
                refuse(rule::MARKS, 1, 0, change::RELEASE, 1)
            }
            _ => refused(refusal),
        })?;
        let region = match joined {
            Some(region) => region,
            None => finder.region(&request, &grant),
        };
        let Grant { charge: Charge { slots, place, .. }, table, .. } = grant;
        Ok(Admitted {
            region,
            terms: Terms { slots, place: place as u8, near: self.ledger.platform().scheme().near(place) },
            nodes: table.map(|range| (range.base, range.bytes)),
        })
    }

    fn explain(&mut self, client: u8, asked: &Asked, step: u16, held: &[Holding]) -> Result<(), Refused> {
        let (request, joined) = self.requested(client, asked)?;
        let (ledger, mut finder) = self.finder(&request, joined, held);
        ledger.explain(&request, u32::from(step), &mut finder).map_err(refused)
    }

    fn leave(&mut self, client: u8, entry: &Entry, frames: bool, held: &[Holding]) {
        let Entry { region, terms, .. } = *entry;
        // Gives back what was charged for the table. With page tables that is the tables that no
        // other region of the client needs. With region registers it is the nodes; a pinned region
        // has none.
        let table_bytes = match self.ledger.platform().pages() {
            Some(pages) => window::tables(&region, terms, held) * pages.new_table_bytes(),
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
            // Dirty memory is granted to no client before it has been cleared.
            self.stock.soil(&region);
        }
    }

    fn maps_later(&self) -> bool {
        self.ledger.platform().scheme().scatters
    }

    fn draw(&mut self, client: u8, region: &mut Region, done: u32, last: Mark) -> Result<Mark, Error> {
        // The piece is drawn and counted already in two cases: the memory is shared, and its owner
        // has drawn all of it before another client joins; or a call failed after the piece was
        // drawn.
        if let Some(known) = self.stock.drawn(region, done, last) {
            return Ok(known);
        }
        let tally = self.tallies.get_mut(usize::from(region.pool)).ok_or(Error::BadState)?;
        // The grant has promised the bytes but not the piece: into how many pieces they would fall
        // was not known then.
        if !tally.take(client, 1) {
            return Err(Error::Full);
        }
        self.stock.draw(region, done, last).ok_or(Error::BadState)
    }

    fn piece(&self, region: &Region, mark: Mark) -> Option<Piece> {
        self.stock.piece(region, mark)
    }

    fn clean(&mut self, client: u8, region: &Region, piece: Option<Mark>, bytes: u32) {
        self.ledger.cleaned(client, Range { pool: region.pool, base: region.base, bytes });
        // Memory that was promised and never drawn has no piece, and so no marks to give back.
        if let Some(tally) = self.tallies.get_mut(usize::from(region.pool)).filter(|_| piece.is_some()) {
            tally.give(client, 1);
        }
        self.stock.clean(region, piece, bytes);
    }

    fn bound(&self, client: u8, terms: Terms) -> Bound {
        self.ledger.promised(client, terms.pinned(), place(terms)).map_or(NOTHING, promised)
    }

    fn effort(&self, region: &Region, terms: Terms) -> Effort {
        let told = self.ledger.platform().effort(Self::descriptors(region, terms));
        told.map_or(Effort::default(), |effort| {
            let spec::Effort { descriptors, map_cycles, release_cycles, method } = effort;
            Effort { descriptors, map_cycles, release_cycles, method: method as u8 }
        })
    }
}

const _: () = assert!(Method::Derived as u8 != 0, "0 stands for nothing");
