//! Envelopes: what a domain may have allocated at once from the arena of one specification.

use crate::temporal::TemporalSpec;

/// A domain's declaration of its allocations with one specification. The arena that is sized for it can then not refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The specification of the arena.
    pub spec: TemporalSpec,
    /// Bytes that are allocated at once at most.
    pub live: u32,
    /// The largest block in bytes.
    pub largest: u32,
    /// Blocks that are allocated at once at most.
    pub count: u32,
}

/// Why figures are no envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeError {
    /// No bytes, no block, or blocks of no size.
    Empty,
    /// The largest block is larger than everything together.
    LargestAboveLive,
    /// So many bytes do not fit into so many blocks of at most the largest size.
    LiveAboveBlocks {
        /// Bytes that fit.
        most: u64,
    },
}

impl Envelope {
    /// Checks that the figures can be true together.
    ///
    /// # Errors
    /// [`EnvelopeError`].
    pub const fn check(&self) -> Result<(), EnvelopeError> {
        if self.live == 0 || self.largest == 0 || self.count == 0 {
            return Err(EnvelopeError::Empty);
        }
        if self.largest > self.live {
            return Err(EnvelopeError::LargestAboveLive);
        }
        let most = self.largest as u64 * self.count as u64;
        if (self.live as u64) > most {
            return Err(EnvelopeError::LiveAboveBlocks { most });
        }
        Ok(())
    }
}

/// The largest value in `low..=high` for which `fits` holds; it holds for all below one for which it does. `None` if not even for
/// `low`. For the smallest change of an envelope that is too big.
///
/// # Time complexity
/// At most 33 calls.
pub fn largest_that(low: u32, high: u32, mut fits: impl FnMut(u32) -> bool) -> Option<u32> {
    if low > high || !fits(low) {
        return None;
    }
    let (mut good, mut end) = (low, high);
    while good < end {
        let middle = end - (end - good) / 2;
        if fits(middle) { good = middle } else { end = middle - 1 }
    }
    Some(good)
}
