//! Insertion and removal. Each checks first and then cannot fail, or undoes what it did.

use super::keys::{Key, intersects, keys};
use super::{
    END, LEAF, LEAF_BYTES, LEAVES_PER_NODE, LOW, MAX_DEPTH, PREFIX, SHIFTS, Store, Trie, TrieError, child, window_log2,
};
use crate::pmsav7::{RegionRegs, SUBREGION_MIN_LOG2};

/// Where an entry is kept.
#[derive(Clone, Copy)]
enum Slot {
    Root,
    Word(u32),
}

/// The window in which a key of this size is one entry, or a run of entries.
fn level_of(size_log2: u32) -> u32 {
    SHIFTS.into_iter().find(|&shift| shift <= size_log2).unwrap_or(SHIFTS[MAX_DEPTH - 1])
}

/// The window in which two different addresses part.
fn parting_level(a: u32, b: u32) -> u32 {
    level_of(31 - (a ^ b | 1).leading_zeros())
}

/// Address bits above a window.
fn prefix(addr: u32, shift: u32) -> u32 {
    addr.checked_shr(window_log2(shift)).unwrap_or(0)
}

impl<S: Store> Trie<S> {
    /// Maps a region; the address of its leaf, which stays the same until it is removed.
    ///
    /// # Errors
    /// [`TrieError`]; the trie is then as it was.
    ///
    /// # Time complexity
    /// At most eight keys, each [`MAX_DEPTH`] nodes of 64 entries.
    pub fn insert(&mut self, regs: RegionRegs) -> Result<u32, TrieError> {
        if !regs.is_enabled() || !regs.is_well_formed() || regs.size_log2() < SUBREGION_MIN_LOG2 || regs.srd() == 0xff {
            return Err(TrieError::Misaligned);
        }
        if !self.has_leaf() {
            return Err(TrieError::NoLeaves { capacity: self.len() });
        }
        let regs = RegionRegs { rbar: regs.base(), rasr: regs.rasr };
        if let Some(with) = self.overlapping(regs) {
            return Err(TrieError::Overlap { with });
        }
        let available = self.free_nodes();
        let at = self.free_leaf;
        self.free_leaf = self.store.leaf(at).rbar;
        self.store.set_leaf(at, regs);
        self.count += 1;
        for key in keys(regs) {
            if self.insert_key(key, at).is_none() {
                self.discard(at);
                return Err(TrieError::NoNodes { available });
            }
        }
        Ok(at)
    }

    /// A region in the trie that has a byte in common with a well-formed one.
    ///
    /// # Time complexity
    /// As for insertion.
    pub fn overlapping(&self, regs: RegionRegs) -> Option<RegionRegs> {
        keys(regs).find_map(|key| self.overlap(key)).map(|with| RegionRegs { rbar: with.base(), rasr: with.rasr })
    }

    /// Whether there is a leaf, cutting up a node where that can be done.
    fn has_leaf(&mut self) -> bool {
        if self.free_leaf == END && S::UNIFORM && self.free_node != END {
            let node = self.free_node;
            self.free_node = self.store.word(node);
            self.free_nodes -= 1;
            (0..LEAVES_PER_NODE).rev().for_each(|index| self.give_leaf(node + index * LEAF_BYTES));
        }
        self.free_leaf != END
    }

    /// Unmaps a region given as it was inserted; its registers as last used, slot bits included if it was ever loaded.
    ///
    /// # Errors
    /// [`TrieError::NotMapped`] unless exactly this region is in the trie.
    ///
    /// # Time complexity
    /// As for insertion.
    pub fn remove(&mut self, regs: RegionRegs) -> Result<RegionRegs, TrieError> {
        if !regs.is_enabled() || !regs.is_well_formed() {
            return Err(TrieError::NotMapped);
        }
        let first = keys(regs).next().ok_or(TrieError::NotMapped)?;
        let (at, leaf) = self.find(first.base).ok_or(TrieError::NotMapped)?;
        if leaf.base() != regs.base() || leaf.rasr != regs.rasr {
            return Err(TrieError::NotMapped);
        }
        self.discard(at);
        Ok(leaf)
    }

    /// Takes a leaf's keys out, complete or not, and frees it.
    fn discard(&mut self, at: u32) {
        for key in keys(self.store.leaf(at)) {
            self.remove_key(key, at);
        }
        self.give_leaf(at);
        self.count -= 1;
    }

    fn entry(&self, slot: Slot) -> u32 {
        match slot {
            Slot::Root => self.root,
            Slot::Word(at) => self.store.word(at),
        }
    }

    fn set(&mut self, slot: Slot, entry: u32) {
        match slot {
            Slot::Root => self.root = entry,
            Slot::Word(at) => self.store.set_word(at, entry),
        }
    }

    /// The entry of nothing.
    pub(super) fn nothing(&self) -> u32 {
        self.store.nowhere() | LEAF
    }

    /// The words of a node.
    pub(super) fn words(&self, entry: u32) -> impl Iterator<Item = u32> + '_ {
        let node = entry & !LOW;
        (0..64).map(move |index| self.store.word(node + 4 * index))
    }

    /// The prefix of a node, kept behind its entries.
    fn prefix_of(&self, entry: u32) -> u32 {
        self.store.word((entry & !LOW) + 4 * PREFIX)
    }

    /// The first address below a node.
    pub(super) fn place(&self, entry: u32) -> u32 {
        self.prefix_of(entry).checked_shl(window_log2(entry & LOW)).unwrap_or(0)
    }

    /// Whether `addr` belongs below node `entry`.
    fn covers(&self, entry: u32, addr: u32) -> bool {
        prefix(addr, entry & LOW) == self.prefix_of(entry)
    }

    /// Address of the first entry that a key fills in a node at or below its own level, and how many it fills.
    fn run(entry: u32, key: Key) -> (u32, u32) {
        let shift = entry & LOW;
        (child(entry, key.base), 1 << (key.size_log2.min(window_log2(shift)) - shift))
    }

    fn fill(&mut self, (first, count): (u32, u32), entry: u32) {
        (0..count).for_each(|index| self.store.set_word(first + 4 * index, entry));
    }

    /// A leaf that has a byte of `key`.
    fn overlap(&self, key: Key) -> Option<RegionRegs> {
        let mut entry = self.root;
        while entry & LEAF == 0 {
            let shift = entry & LOW;
            if !self.covers(entry, key.base) {
                // The node lies inside the key, or beside it. Its prefix is its place.
                let place = self.place(entry);
                return (key.base <= place && place <= key.last()).then(|| self.some_leaf(entry)).flatten();
            }
            if key.size_log2 >= shift {
                let (first, count) =
                    if key.size_log2 >= window_log2(shift) { (entry & !LOW, 64) } else { Self::run(entry, key) };
                return (0..count).find_map(|index| match self.store.word(first + 4 * index) {
                    below if below & LEAF == 0 => self.some_leaf(below),
                    below => self.leaf_with(below, key),
                });
            }
            entry = self.store.word(child(entry, key.base));
        }
        self.leaf_with(entry, key)
    }

    fn leaf_with(&self, entry: u32, key: Key) -> Option<RegionRegs> {
        let leaf = self.store.leaf(entry - LEAF);
        intersects(leaf, key.base, key.last()).then_some(leaf)
    }

    /// Any leaf below a node.
    fn some_leaf(&self, entry: u32) -> Option<RegionRegs> {
        let mut entry = entry;
        while entry & LEAF == 0 {
            entry = self.words(entry).find(|&below| below != self.nothing())?;
        }
        Some(self.store.leaf(entry - LEAF))
    }

    fn take_node(&mut self, shift: u32, addr: u32) -> Option<u32> {
        let node = self.free_node;
        if node == END {
            return None;
        }
        self.free_node = self.store.word(node);
        self.free_nodes -= 1;
        self.fill((node, 64), self.nothing());
        self.store.set_word(node + 4 * PREFIX, prefix(addr, shift));
        Some(node | shift)
    }

    /// Enters a key that overlaps nothing; `None` when nodes ran out, with every other leaf still in place.
    fn insert_key(&mut self, key: Key, at: u32) -> Option<()> {
        let leaf = at | LEAF;
        let mut slot = Slot::Root;
        loop {
            let entry = self.entry(slot);
            if entry == self.nothing() || entry == leaf {
                self.set(slot, leaf);
                return Some(());
            }
            if entry & LEAF != 0 {
                self.push_down(slot, entry, key)?;
                continue;
            }
            if !self.covers(entry, key.base) {
                let place = self.place(entry);
                let above = self.take_node(parting_level(place, key.base), key.base)?;
                self.store.set_word(child(above, place), entry);
                self.set(slot, above);
                continue;
            }
            if key.size_log2 >= entry & LOW {
                self.fill(Self::run(entry, key), leaf);
                return Some(());
            }
            slot = Slot::Word(child(entry, key.base));
        }
    }

    /// Puts a node where `entry`, another leaf, stood for all of a slot, at the level where that leaf's part of the slot and
    /// `key` part; enters that part into it.
    fn push_down(&mut self, slot: Slot, entry: u32, key: Key) -> Option<()> {
        let other = self.store.leaf(entry - LEAF);
        let (first, last) = self.reach(slot, key.base);
        let (mut low, mut high) = (key.base, key.last());
        for part in keys(other).filter(|part| part.last() >= first && part.base <= last) {
            low = low.min(part.base.max(first));
            high = high.max(part.last().min(last));
        }
        let node = self.take_node(parting_level(low, high), key.base)?;
        self.set(slot, node);
        for part in keys(other).filter(|part| part.last() >= first && part.base <= last) {
            let (from, to) = (part.base.max(first), part.last().min(last));
            let run = (child(node, from), (child(node, to) - child(node, from)) / 4 + 1);
            self.fill(run, entry);
        }
        Some(())
    }

    /// The addresses that a slot on the path of `addr` stands for.
    fn reach(&self, slot: Slot, addr: u32) -> (u32, u32) {
        let Slot::Word(at) = slot else { return (0, u32::MAX) };
        let mut entry = self.root;
        while child(entry, addr) != at {
            entry = self.store.word(child(entry, addr));
        }
        let below = (1u32 << (entry & LOW)) - 1;
        (addr & !below, addr | below)
    }

    /// Takes one key of a leaf out, if it is there, and frees the nodes that no longer tell anything apart.
    fn remove_key(&mut self, key: Key, at: u32) {
        let leaf = at | LEAF;
        let mut path = [Slot::Root; MAX_DEPTH + 1];
        let mut depth = 0;
        loop {
            let entry = self.entry(path[depth]);
            if entry & LEAF != 0 {
                if entry == leaf {
                    self.set(path[depth], self.nothing());
                }
                break;
            }
            if !self.covers(entry, key.base) {
                break;
            }
            if key.size_log2 >= entry & LOW {
                let (first, count) = Self::run(entry, key);
                for word in (0..count).map(|index| first + 4 * index) {
                    if self.store.word(word) == leaf {
                        self.store.set_word(word, self.nothing());
                    }
                }
                depth += 1;
                break;
            }
            depth += 1;
            path[depth] = Slot::Word(child(entry, key.base));
        }
        for slot in path[..depth].iter().rev() {
            let entry = self.entry(*slot);
            let Some(single) = self.single(entry) else { return };
            self.set(*slot, single);
            self.give_node(entry & !LOW);
        }
    }

    /// What a node can be replaced by: the one thing below it, if there is at most one.
    fn single(&self, entry: u32) -> Option<u32> {
        let nothing = self.nothing();
        let mut found = nothing;
        for below in self.words(entry) {
            if below == nothing || (below == found && below & LEAF != 0) {
                continue;
            }
            if found != nothing {
                return None;
            }
            found = below;
        }
        Some(found)
    }
}
