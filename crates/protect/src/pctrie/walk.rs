//! Going through what is mapped, in the order of addresses.

use super::keys::keys;
use super::{LEAF, LOW, Store, Trie, child, window_log2};
use crate::pmsav7::RegionRegs;

impl<S: Store> Trie<S> {
    /// The first mapped address at or above `from`, with the region that it belongs to (without slot bits).
    ///
    /// # Time complexity
    /// At most twice [`super::MAX_DEPTH`] nodes of 64 entries.
    pub fn next(&self, from: u32) -> Option<(u32, RegionRegs)> {
        self.next_below(self.root, from, 0, u32::MAX)
    }

    /// As [`Trie::next`], of what an entry that stands for `first..=last` holds.
    fn next_below(&self, entry: u32, from: u32, first: u32, last: u32) -> Option<(u32, RegionRegs)> {
        if entry & LEAF != 0 {
            let leaf = self.store.leaf(entry - LEAF);
            let found = keys(leaf).find(|key| key.last() >= from.max(first) && key.base <= last)?;
            return Some((found.base.max(from).max(first), RegionRegs { rbar: leaf.base(), rasr: leaf.rasr }));
        }
        let (shift, place) = (entry & LOW, self.place(entry));
        let nothing = self.store.nowhere() | LEAF;
        let begin = from.saturating_sub(place) >> shift;
        (begin..1 << (window_log2(shift) - shift)).find_map(|index| {
            let low = place | index << shift;
            let high = low | ((1 << shift) - 1);
            let below = self.store.word(child(entry, low));
            // Most entries of most nodes; looking into them is what would take long.
            (below != nothing).then(|| self.next_below(below, from, low, high)).flatten()
        })
    }

    /// The regions in the trie, in the order of their first addresses, without slot bits.
    ///
    /// # Time complexity
    /// As [`Trie::next`] for each key.
    pub fn iter(&self) -> impl Iterator<Item = RegionRegs> + '_ {
        let mut from = Some(0u32);
        core::iter::from_fn(move || {
            while let Some(at) = from {
                let (found, regs) = self.next(at)?;
                let key = keys(regs).find(|key| key.base <= found && found <= key.last())?;
                from = key.last().checked_add(1);
                // A region with holes is met once for each of its keys.
                if keys(regs).next().is_some_and(|first| first.base == key.base) {
                    return Some(regs);
                }
            }
            None
        })
    }
}
