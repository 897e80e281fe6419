//! Going through what is mapped, in the order of addresses.

use super::{LEAF, LOW, Store, Trie, child, window_log2};
use crate::regions::Registers;

/// Result of one step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<R> {
    /// The first mapped address at or above the one asked for, with the region that it belongs to (without slot bits).
    Found(u32, R),
    /// Nothing below this address, which is above the one asked for: the search goes on from it.
    From(u32),
    /// Nothing more.
    End,
}

impl<S: Store> Trie<S> {
    /// The first mapped address at or above `from`, with the region that it belongs to (without slot bits).
    ///
    /// # Time complexity
    /// [`Trie::next_step`] until it has found something.
    pub fn next(&self, from: u32) -> Option<(u32, S::Regs)> {
        let mut from = from;
        loop {
            match self.next_step(from) {
                Next::Found(at, regs) => return Some((at, regs)),
                Next::From(later) => from = later,
                Next::End => return None,
            }
        }
    }

    /// One step of [`Trie::next`].
    ///
    /// # Time complexity
    /// A path, and 64 entries.
    pub fn next_step(&self, from: u32) -> Next<S::Regs> {
        let (mut entry, mut from, mut first, mut last) = (self.root, from, 0, u32::MAX);
        while entry & LEAF == 0 {
            let (shift, place) = (entry & LOW, self.place(entry));
            let end = place | ((1u64 << window_log2(shift).min(32)) - 1) as u32;
            if end < from {
                return past(last);
            }
            from = from.max(place);
            (first, last) = (from >> shift << shift, from | ((1 << shift) - 1));
            let found = self.store.word(child(entry, first));
            if found == self.nothing() {
                return self.skip(entry, first, end);
            }
            entry = found;
        }
        let leaf = self.store.leaf(entry - LEAF);
        let key = leaf.keys().find(|key| key.meets(from.max(first), last));
        key.map_or_else(|| past(last), |key| Next::Found(key.base.max(from).max(first), leaf.plain()))
    }

    /// The first address behind an empty entry whose entry is not empty.
    fn skip(&self, entry: u32, empty: u32, end: u32) -> Next<S::Regs> {
        let step = 1 << (entry & LOW);
        let (nothing, mut at) = (self.nothing(), empty);
        // Bounded by the entries of a node.
        while let Some(next) = at.checked_add(step).filter(|next| *next <= end) {
            if self.store.word(child(entry, next)) != nothing {
                return Next::From(next);
            }
            at = next;
        }
        past(end)
    }

    /// The regions in the trie, in the order of their first addresses, without slot bits.
    ///
    /// # Time complexity
    /// As [`Trie::next`] for each key.
    pub fn iter(&self) -> impl Iterator<Item = S::Regs> + '_ {
        let mut from = Some(0u32);
        core::iter::from_fn(move || {
            while let Some(at) = from {
                let (found, regs) = self.next(at)?;
                let key = regs.keys().find(|key| key.meets(found, found))?;
                from = key.last.checked_add(1);
                // A region is met once for each of its keys.
                if regs.keys().next().is_some_and(|first| first.base == key.base) {
                    return Some(regs);
                }
            }
            None
        })
    }
}

fn past<R>(last: u32) -> Next<R> {
    last.checked_add(1).map_or(Next::End, Next::From)
}
