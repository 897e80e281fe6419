//! The block in which the host hands over the ledger, the pools, and the shared memory that the manifest declares.

use memory::extents::ExtentError;
use spec::{DecodeError, Ledger};

use crate::holding::Who;
use crate::wire::{NAME_BYTES, padded};

/// The place of a pool in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolAt {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Marks of the kernel's frame table that can be inside it.
    pub marks: u32,
    /// Name of the frames in the manifest, padded with zero bytes. The manager holds its capability
    /// under the same name, and finds it so.
    pub name: [u8; NAME_BYTES],
}

impl PoolAt {
    /// A pool that is never short of marks. Only the first 16 bytes of the name count.
    pub fn new(name: &str, base: u32, bytes: u32) -> PoolAt {
        PoolAt { base, bytes, marks: u32::MAX, name: padded(name) }
    }

    /// Returns its name, or nothing if that is no text.
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

/// What the host hands over: the ledger as it is when the system starts, the places of the pools,
/// and the declared shared memory. The manager starts from it, so that it knows what the host has
/// already granted.
///
/// ```text
/// word 0, 1      pools, shares                             then
/// pools          base, bytes, marks and name of each       then
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
    /// A pool has fewer marks than its quotas keep.
    Marks,
}

impl HandOverError {
    /// The error in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            HandOverError::Short => "the hand-over is cut short",
            HandOverError::Ledger(_) => "the ledger that was handed over is not accepted",
            HandOverError::Pools => "the pools that were handed over are not the ledger's",
            HandOverError::Shares => "shared memory that was handed over has no owner or no name",
            HandOverError::Marks => "a pool that was handed over has fewer marks than its quotas keep",
            HandOverError::Extents(_) => "a pool is too large, or no multiple of what it is divided into",
        }
    }
}

const WORD: usize = 4;
/// Bytes before the pools.
const HEAD: usize = 2 * WORD;
/// Bytes for each pool.
const POOL: usize = 3 * WORD + NAME_BYTES;
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
            put(slot, [pool.base, pool.bytes, pool.marks], &pool.name);
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

    /// Returns the numbers of pools and of shares. Each is at most the number of bytes, so that no
    /// offset that is computed from them can wrap.
    fn counts(&self) -> Result<(usize, usize), HandOverError> {
        let [pools, shares] = self.words(0)?.map(|count: u32| count as usize);
        if pools > self.bytes.len() || shares > self.bytes.len() {
            Err(HandOverError::Short)
        } else {
            Ok((pools, shares))
        }
    }

    /// Location of each pool.
    ///
    /// # Errors
    /// [`HandOverError::Short`], [`HandOverError::Pools`] when there are more than `P`.
    pub fn pools<const P: usize>(&self) -> Result<([PoolAt; P], usize), HandOverError> {
        let (count, _) = self.counts()?;
        let mut pools = [PoolAt::default(); P];
        for (index, pool) in pools.get_mut(..count).ok_or(HandOverError::Pools)?.iter_mut().enumerate() {
            let at = HEAD + index * POOL;
            let [base, bytes, marks] = self.words(at)?;
            *pool = PoolAt { base, bytes, marks, name: self.name(at + 3 * WORD)? };
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

    pub(crate) fn ledger<const D: usize, const P: usize>(&self) -> Result<Ledger<D, P>, HandOverError> {
        let (pools, shares) = self.counts()?;
        let rest = self.bytes.get(HEAD + pools * POOL + shares * SHARE..).ok_or(HandOverError::Short)?;
        Ledger::decode(rest).map_err(HandOverError::Ledger)
    }
}

fn put<const N: usize>(slot: &mut [u8], words: [u32; N], name: &[u8]) {
    let (first, rest) = slot.split_at_mut(N * WORD);
    for (to, word) in first.chunks_exact_mut(WORD).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    rest.copy_from_slice(name);
}
