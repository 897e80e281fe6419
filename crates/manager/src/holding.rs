//! The holdings of each client. Each has a table of its own with a fixed number of records, so that
//! no client can use up another's.

use memory::pieces::PAGE_LOG2;

use crate::region::{Entry, Mapping, Mark, Piece, Region, Terms};
use crate::wire::access;

/// Most clients. Their numbers are bits of a word, so that one word says who may map shared memory.
pub const MAX_CLIENTS: usize = abi::MAX_DOMAINS;

/// The state of a record's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The record is free.
    #[default]
    Free,
    /// Granted to this client alone.
    Private,
    /// The client's own shared memory, in the record of shares with this index among its own.
    Owned(u8),
    /// Shared memory of another client: its number, and the index among its shares.
    Joined(u8, u8),
    /// Private or owned memory that is being taken from the client, piece by piece, because one
    /// request unmaps few.
    Leaving,
    /// Shared memory of another client that is being taken from this one: the owner's number, and the index among its shares.
    Parting(u8, u8),
    /// Released, and not yet clean. The client keeps it, so that clearing is at its expense.
    Dirty,
}

impl State {
    /// Returns true if the client has it: not what is free, or on its way out.
    pub const fn is_live(self) -> bool {
        matches!(self, State::Private | State::Owned(_) | State::Joined(..))
    }

    /// Returns true if it is on its way out.
    pub const fn is_going(self) -> bool {
        matches!(self, State::Leaving | State::Parting(..) | State::Dirty)
    }

    /// Returns true if some of it may still be in the client's table.
    pub const fn is_entered(self) -> bool {
        !matches!(self, State::Free | State::Dirty)
    }
}

/// One thing that a client holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The memory.
    pub region: Region,
    /// Its temporal specification, packed.
    pub spec: u32,
    /// State of the memory.
    pub state: State,
    /// True if the client may write.
    pub write: bool,
    /// How it is kept in the client's table.
    pub terms: Terms,
    /// Bytes that are mapped. In state [`State::Dirty`]: bytes that are clean already.
    pub done: u32,
    /// The piece that was mapped last. On the way out: the next piece to unmap or to clean.
    pub mark: Mark,
    /// On the way out: pages that have been unmapped already.
    pub pages_gone: u16,
    /// The piece behind what is mapped has been typed already. A request that the kernel refuses
    /// with `BUSY` after typing must not type it again.
    pub typed: bool,
}

impl Holding {
    /// The entry that the account admitted.
    pub const fn entry(&self) -> Entry {
        Entry { region: self.region, spec: self.spec, terms: self.terms }
    }

    /// Returns the mapping of a piece that begins `offset` bytes behind the beginning.
    pub const fn mapping(&self, offset: u32, piece: &Piece) -> Mapping {
        Mapping {
            at: self.region.base + offset,
            from: piece.base,
            bytes: piece.bytes,
            write: self.write,
            pinned: self.terms.pinned(),
            near: self.terms.near,
        }
    }

    /// Returns the bytes before the next piece, on the way out.
    pub fn gone(&self) -> u32 {
        u32::from(self.pages_gone) << PAGE_LOG2
    }

    /// Bytes that are still to be mapped.
    pub const fn unmapped(&self) -> u32 {
        self.region.bytes - self.done
    }
}

/// Shared memory that the manifest declares, as its owner's table has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Its name among its owner's, padded with zero bytes; all zero when nothing is declared.
    pub name: [u8; crate::wire::NAME_BYTES],
    /// Index of the owner's record, from when the owner has made it until it gives it back.
    pub holding: Option<u8>,
    /// The manifest lets at most these map it.
    pub declared: Who,
    /// The owner lets these map it now.
    pub permitted: Who,
    /// Clients that have mapped it, by number.
    pub members: u32,
}

/// Clients that may map shared memory: a bit for each, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// To read it.
    pub readers: u32,
    /// To read and write it.
    pub writers: u32,
}

impl Who {
    /// No client.
    pub const NOBODY: Who = Who { readers: 0, writers: 0 };

    /// Access rights of a client: bits of `wire::access`.
    pub const fn access(self, client: u8) -> u32 {
        let reads = (self.readers | self.writers) >> client & 1;
        let writes = self.writers >> client & 1;
        (reads * access::READ) | (writes * access::WRITE)
    }
}

impl Share {
    /// Nothing is declared.
    pub const NONE: Share = Share {
        name: [0; crate::wire::NAME_BYTES],
        holding: None,
        declared: Who::NOBODY,
        permitted: Who::NOBODY,
        members: 0,
    };

    /// Returns the access rights of a client to it: those that manifest and owner both permit.
    pub const fn access(&self, client: u8) -> u32 {
        self.declared.access(client) & self.permitted.access(client)
    }
}

/// A client: its name, and everything that it holds.
#[derive(Clone, Copy, Debug)]
pub struct Client<const EACH: usize, const SHARES: usize> {
    /// Its name, padded with zero bytes; all zero when there is no such client.
    pub name: [u8; crate::wire::NAME_BYTES],
    /// Memory that it holds.
    pub holdings: [Holding; EACH],
    /// Memory that it shares.
    pub shares: [Share; SHARES],
    /// Memory that its table was granted and has not been given yet.
    pub gift: Option<TableMemory>,
    /// How often it had been restarted when it got what it holds.
    pub life: u32,
}

/// Memory for a client's table: first address and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMemory {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
}

impl<const EACH: usize, const SHARES: usize> Client<EACH, SHARES> {
    /// A client that does not exist.
    pub const NONE: Self = Client {
        name: [0; crate::wire::NAME_BYTES],
        holdings: [Holding {
            region: Region { base: 0, bytes: 0, first: Mark::END, pool: 0 },
            spec: 0,
            state: State::Free,
            write: false,
            terms: Terms { slots: 0, place: 0, near: false },
            done: 0,
            mark: Mark::END,
            pages_gone: 0,
            typed: false,
        }; EACH],
        shares: [Share::NONE; SHARES],
        gift: None,
        life: 0,
    };

    /// Returns the index of the first record for which `holds` is true. One loop for all searches
    /// keeps the manager's code small.
    ///
    /// # Time complexity
    /// O(EACH), as for all that search records; O(SHARES) for shares.
    #[inline(never)]
    fn find(&self, holds: &dyn Fn(&Holding) -> bool) -> Option<usize> {
        self.holdings.iter().position(holds)
    }

    /// A free record.
    pub fn free(&self) -> Option<usize> {
        self.find(&|holding| holding.state == State::Free)
    }

    /// A record that is in use.
    pub fn in_use(&self) -> Option<usize> {
        self.find(&|holding| holding.state != State::Free)
    }

    /// The record of what begins at an address and is in use (or, with `going`, on its way out).
    pub fn at(&self, base: u32, going: bool) -> Option<usize> {
        self.find(&|holding| {
            holding.region.base == base && if going { holding.state.is_going() } else { holding.state.is_live() }
        })
    }

    /// The record of what is mapped around an address.
    pub fn around(&self, address: u32) -> Option<&Holding> {
        let found = self.find(&|holding| holding.state.is_live() && holding.region.contains(address))?;
        self.holdings.get(found)
    }

    /// Its shared memory of that name.
    #[inline(never)]
    pub fn share(&self, name: &[u8; crate::wire::NAME_BYTES]) -> Option<usize> {
        self.shares.iter().position(|share| share.name == *name && name[0] != 0)
    }

    /// Its record of having joined a share of another client.
    pub fn joined(&self, owner: u8, share: u8) -> Option<usize> {
        self.find(&|holding| holding.state == State::Joined(owner, share))
    }

    /// Its record of a share of another client, that it has joined or is leaving.
    pub fn member(&self, owner: u8, share: u8) -> Option<usize> {
        let states = [State::Joined(owner, share), State::Parting(owner, share)];
        self.find(&|holding| states.contains(&holding.state))
    }

    /// How many records are in use.
    pub fn used(&self) -> u32 {
        self.holdings.iter().filter(|holding| holding.state != State::Free).count() as u32
    }
}

// A client has tens of records, and all clients together hundreds, so each byte counts.
const _: () = assert!(size_of::<Holding>() <= 32);
