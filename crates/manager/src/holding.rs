//! What each client holds: a table of a fixed number of records for each, so that nobody can use up another's.

use crate::seam::{Bound, Entry, Mapping, Region};

/// What a record says about its memory.
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
    /// Released, and not yet clean.
    Dirty,
}

/// One thing that a client holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The memory.
    pub region: Region,
    /// Its temporal specification, packed.
    pub spec: u32,
    /// Its bound.
    pub bound: Bound,
    /// What is the case.
    pub state: State,
    /// Whether the client may write.
    pub write: bool,
    /// Whether a region register is pinned for it.
    pub pinned: bool,
}

impl Holding {
    /// What the account admitted.
    pub const fn entry(&self) -> Entry {
        Entry { region: self.region, spec: self.spec, pinned: self.pinned }
    }

    /// How the client's table has it.
    pub const fn mapping(&self) -> Mapping {
        Mapping { region: self.region, write: self.write, pinned: self.pinned }
    }
}

/// Shared memory, as its owner's table has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Whether the record is in use.
    pub used: bool,
    /// Under which name other domains find it.
    pub id: u32,
    /// Index of the owner's record.
    pub holding: u8,
    /// Clients that may map it to read, by number.
    pub readers: u32,
    /// Clients that may map it to write, by number.
    pub writers: u32,
    /// Clients that have mapped it, by number.
    pub members: u32,
}

impl Share {
    /// Whether a client may map it so.
    pub const fn permits(&self, client: u8, write: bool) -> bool {
        let allowed = if write { self.writers } else { self.readers | self.writers };
        allowed >> client & 1 != 0
    }
}

/// A client: its name, and everything that it holds.
#[derive(Clone, Copy, Debug)]
pub struct Client<const EACH: usize, const SHARES: usize> {
    /// Its name, padded with zero bytes; all zero when there is no such client.
    pub name: [u8; crate::wire::NAME_BYTES],
    /// What it holds.
    pub holdings: [Holding; EACH],
    /// What it shares.
    pub shares: [Share; SHARES],
}

impl<const EACH: usize, const SHARES: usize> Client<EACH, SHARES> {
    /// A client that does not exist.
    pub const NONE: Self = Client {
        name: [0; crate::wire::NAME_BYTES],
        holdings: [Holding {
            region: Region { base: 0, size_log2: 0, srd: 0, bytes: 0 },
            spec: 0,
            bound: Bound { level: 0, method: 0, cycles: 0 },
            state: State::Free,
            write: false,
            pinned: false,
        }; EACH],
        shares: [Share { used: false, id: 0, holding: 0, readers: 0, writers: 0, members: 0 }; SHARES],
    };

    /// A free record.
    ///
    /// # Time complexity
    /// O(EACH), as for the other searches; O(SHARES) for shares.
    pub fn free(&self) -> Option<usize> {
        self.holdings.iter().position(|holding| holding.state == State::Free)
    }

    /// The record of what begins at an address and is in use (or, with `dirty`, waits to be scrubbed).
    pub fn at(&self, base: u32, dirty: bool) -> Option<usize> {
        self.holdings.iter().position(|holding| {
            holding.region.base == base && holding.state != State::Free && (holding.state == State::Dirty) == dirty
        })
    }

    /// The record of what is mapped around an address.
    pub fn around(&self, address: u32) -> Option<&Holding> {
        let mapped = |holding: &&Holding| !matches!(holding.state, State::Free | State::Dirty);
        self.holdings.iter().filter(mapped).find(|holding| holding.region.contains(address))
    }

    /// Its shared memory of that id.
    pub fn share(&self, id: u32) -> Option<usize> {
        self.shares.iter().position(|share| share.used && share.id == id)
    }

    /// Its record of having joined a share of another client.
    pub fn joined(&self, owner: u8, share: u8) -> Option<usize> {
        self.holdings.iter().position(|holding| holding.state == State::Joined(owner, share))
    }

    /// How many records are in use.
    pub fn used(&self) -> u32 {
        self.holdings.iter().filter(|holding| holding.state != State::Free).count() as u32
    }
}
