//! The synthetic history: of its actions 10 % are allocations, 10 % releases, 40 % loads and 40 % stores, each of a block or at a place chosen at random.

use crate::action::{Action, Envelope};

/// Most blocks at once.
pub const COUNT: usize = 640;

/// Its envelope. The paper does not state sizes; these keep a history within the memory of the board.
pub const ENVELOPE: Envelope = Envelope { live: 12 << 20, largest: 48 << 10, count: COUNT as u32 };

/// Larger blocks: a touch seldom meets a page of one twice. With them as many pages are mapped at
/// once as in the paper, when pages are given back. Pages that are kept are bounded by the heap,
/// whose pieces have 64 MiB at most.
pub const LARGE: Envelope = Envelope { live: 44 << 20, largest: 160 << 10, count: COUNT as u32 };

/// A history of so many actions.
#[derive(Clone, Debug)]
pub struct Synthetic {
    envelope: Envelope,
    state: u32,
    left: u32,
    /// The numbers of all slots, those of live blocks first.
    slots: [u16; COUNT],
    bytes: [u32; COUNT],
    live: usize,
    held: u32,
}

impl Synthetic {
    /// Actions, as the paper has them.
    pub const ACTIONS: u32 = 1_000_000;
    /// Within [`ENVELOPE`] so many actions map no more pages at once.
    pub const PAGES: u32 = 3328;

    /// A history within [`ENVELOPE`]. The same seed makes the same history.
    pub const fn new(actions: u32, seed: u32) -> Self {
        Self::within(ENVELOPE, actions, seed)
    }

    /// As [`Synthetic::new`], within an envelope of at most [`COUNT`] blocks.
    pub const fn within(envelope: Envelope, actions: u32, seed: u32) -> Self {
        let mut slots = [0; COUNT];
        let mut slot = 0;
        while slot < COUNT {
            slots[slot] = slot as u16;
            slot += 1;
        }
        Synthetic { envelope, state: seed | 1, left: actions, slots, bytes: [0; COUNT], live: 0, held: 0 }
    }

    /// A number below `n` (xorshift32: Marsaglia, "Xorshift RNGs", 2003).
    const fn below(&mut self, n: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        ((self.state as u64 * n as u64) >> 32) as u32
    }

    fn alloc(&mut self) -> Action {
        let bytes = 1 + self.below(self.envelope.largest);
        if self.live == COUNT || self.held + bytes > self.envelope.live {
            return self.free();
        }
        let slot = self.slots[self.live];
        self.live += 1;
        self.held += bytes;
        self.bytes[usize::from(slot)] = bytes;
        Action::Alloc { slot: slot.into(), bytes }
    }

    fn free(&mut self) -> Action {
        let place = self.below(self.live as u32) as usize;
        self.live -= 1;
        self.slots.swap(place, self.live);
        let slot = self.slots[self.live];
        self.held -= self.bytes[usize::from(slot)];
        Action::Free { slot: slot.into() }
    }

    fn touch(&mut self, write: bool) -> Action {
        let slot = self.slots[self.below(self.live as u32) as usize];
        let offset = self.below(self.bytes[usize::from(slot)]);
        Action::Touch { slot: slot.into(), offset, write }
    }
}

impl Iterator for Synthetic {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.below(10) {
            0 => self.alloc(),
            // Nothing is live that could be released or used.
            _ if self.live == 0 => self.alloc(),
            1 => self.free(),
            number => self.touch(number < 6),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_within_its_envelope_and_has_the_shares_of_the_paper() {
        let (mut live, mut held, mut peak, mut shares) = (std::collections::BTreeMap::new(), 0, 0, [0; 4]);
        for action in Synthetic::new(Synthetic::ACTIONS, 1) {
            let share = match action {
                Action::Alloc { slot, bytes } => {
                    assert!((1..=ENVELOPE.largest).contains(&bytes) && slot < ENVELOPE.count);
                    assert_eq!(live.insert(slot, bytes), None);
                    held += bytes;
                    0
                }
                Action::Free { slot } => {
                    held -= live.remove(&slot).unwrap();
                    1
                }
                Action::Touch { slot, offset, write } => {
                    assert!(offset < live[&slot]);
                    if write { 3 } else { 2 }
                }
            };
            shares[share] += 1;
            assert!(held <= ENVELOPE.live && live.len() <= COUNT);
            peak = peak.max(held);
        }
        assert!(peak > ENVELOPE.live / 2, "{peak}");
        for (share, percent) in shares.into_iter().zip([10, 10, 40, 40]) {
            assert!((percent * 9_800..percent * 10_200).contains(&share), "{shares:?}");
        }
    }
}
