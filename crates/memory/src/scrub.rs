//! Clearing memory in bounded steps: the cursor says which bytes to clear next and only moves when told that they are.

use units::{Bytes, PhysAddr, PhysRange};

/// Progress of clearing one range. Only [`crate::frames::FrameTable`] makes one, and takes it back when it is done, so that a
/// finished cursor cannot vouch for memory that was used again since.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the range stays unusable until the scrub is finished or abandoned"]
pub struct Scrub {
    range: PhysRange,
    next: PhysAddr,
}

impl Scrub {
    pub(crate) const fn new(range: PhysRange) -> Self {
        Self { range, next: range.base() }
    }

    /// All of the range.
    pub const fn range(&self) -> PhysRange {
        self.range
    }

    /// The next piece to clear, at most `most` bytes; empty when all is clear. Asking again gives the same piece, so a step that
    /// was interrupted is simply repeated.
    ///
    /// # Time complexity
    /// Constant; the caller's step is linear in `most`.
    pub fn piece(&self, most: Bytes) -> PhysRange {
        let left = self.range.end().0 - self.next.0;
        let end = PhysAddr(self.next.0 + left.min(most.0));
        // `next <= end` by construction; an empty range otherwise would be as safe.
        PhysRange::from_bounds(self.next, end).unwrap_or(self.range)
    }

    /// Records that `piece` is clear. Ignored unless it is where the cursor stands.
    pub fn cleared(&mut self, piece: PhysRange) {
        if piece.base() == self.next && piece.end() <= self.range.end() {
            self.next = piece.end();
        }
    }

    /// Whether all of it is clear.
    pub fn is_done(&self) -> bool {
        self.next == self.range.end()
    }
}
