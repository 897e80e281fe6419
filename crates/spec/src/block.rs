//! A ledger as a block of little-endian words: magic, version, words in total, checksum, domains, pools, and what the ledger says.

/// Why bytes are no ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Too short, or the wrong magic or version.
    Header,
    /// The checksum does not match.
    Checksum,
    /// More domains or pools than this ledger has room for.
    Capacity,
    /// A value that has no meaning, or more promised than there is.
    Inconsistent,
}

/// Words before the ledger's own.
pub(crate) const HEAD: usize = 6;
/// Bytes that the checksum does not cover.
const UNCHECKED: usize = 16;

fn word(bytes: &[u8], index: usize) -> Result<u32, DecodeError> {
    let found = bytes.get(4 * index..4 * index + 4).and_then(|bytes| bytes.try_into().ok());
    found.map(u32::from_le_bytes).ok_or(DecodeError::Header)
}

/// FNV-1a: detects damage, not forgery.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Kind of a block.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub magic: u32,
    pub version: u32,
    /// Bytes of a block with so many domains and pools.
    pub bytes: fn(usize, usize) -> usize,
}

impl Kind {
    /// Writes a block to the front of `out`; returns its bytes, `None` when `out` is shorter.
    pub(crate) fn write(
        self,
        domains: usize,
        pools: usize,
        words: impl Iterator<Item = u32>,
        out: &mut [u8],
    ) -> Option<usize> {
        let length = (self.bytes)(domains, pools);
        let out = out.get_mut(..length)?;
        let head = [self.magic, self.version, (length / 4) as u32, 0, domains as u32, pools as u32];
        for (slot, word) in out.chunks_exact_mut(4).zip(head.into_iter().chain(words)) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        let sum = checksum(&out[UNCHECKED..]);
        out[12..UNCHECKED].copy_from_slice(&sum.to_le_bytes());
        Some(length)
    }

    /// Domains, pools and the ledger's own words of a block with at most so many.
    pub(crate) fn read(self, bytes: &[u8], most: (usize, usize)) -> Result<(usize, usize, Words<'_>), DecodeError> {
        let word_at = |index| word(bytes, index);
        let length = word_at(2)? as usize;
        if word_at(0)? != self.magic || word_at(1)? != self.version {
            return Err(DecodeError::Header);
        }
        let (domains, pools) = (word_at(4)? as usize, word_at(5)? as usize);
        if domains > most.0 || pools > most.1 {
            return Err(DecodeError::Capacity);
        }
        let block = bytes.get(..(self.bytes)(domains, pools)).ok_or(DecodeError::Header)?;
        if length * 4 != block.len() {
            return Err(DecodeError::Header);
        }
        if checksum(&block[UNCHECKED..]) != word_at(3)? {
            return Err(DecodeError::Checksum);
        }
        Ok((domains, pools, Words(block[4 * HEAD..].chunks_exact(4))))
    }
}

/// The words of a block behind its head. A ledger is read once, and word by word, so that the code is small rather than quick.
pub(crate) struct Words<'a>(core::slice::ChunksExact<'a, u8>);

impl Iterator for Words<'_> {
    type Item = u32;

    #[inline(never)]
    fn next(&mut self) -> Option<u32> {
        let chunk = self.0.next()?;
        Some(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
    }
}

/// The next words.
pub(crate) fn take<const N: usize>(words: &mut Words) -> Option<[u32; N]> {
    let mut taken = [0; N];
    words.fill(&mut taken).then_some(taken)
}

impl Words<'_> {
    /// Reads so many words; false when there are fewer.
    #[inline(never)]
    fn fill(&mut self, into: &mut [u32]) -> bool {
        into.iter_mut().all(|slot| self.next().map(|word| *slot = word).is_some())
    }
}
