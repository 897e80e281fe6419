//! Insertion and removal. Each checks first and then cannot fail, or undoes what it did.

use super::keys::{Key, intersects, keys};
use super::{EMPTY, LEAF, MAX_DEPTH, NODE_WORDS, PcTrie, SHIFTS, TrieError, child_offset, leaf_entry, leaf_index};
use crate::pmsav7::{RegionRegs, SUBREGION_MIN_LOG2};

/// Where an entry is kept.
#[derive(Clone, Copy)]
enum Slot {
    Root,
    Word(usize),
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
    if shift == SHIFTS[0] { 0 } else { addr >> (shift + 6) }
}

impl PcTrie<'_> {
    /// Maps a region; the index of its leaf, which stays the same until it is removed.
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
        if self.free_leaf == EMPTY {
            return Err(TrieError::NoLeaves { capacity: self.leaves.len() });
        }
        let regs = RegionRegs { rbar: regs.base(), rasr: regs.rasr };
        for key in keys(regs) {
            if let Some(with) = self.overlap(key) {
                return Err(TrieError::Overlap { with });
            }
        }
        let available = self.free_nodes();
        let index = self.free_leaf;
        self.free_leaf = self.leaves[index as usize].rbar;
        self.leaves[index as usize] = regs;
        self.count += 1;
        for key in keys(regs) {
            if self.insert_key(key, index).is_none() {
                self.discard(index);
                return Err(TrieError::NoNodes { available });
            }
        }
        Ok(index)
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
        let index = self.find(first.base).ok_or(TrieError::NotMapped)?;
        let leaf = self.leaves[index as usize];
        if leaf.base() != regs.base() || leaf.rasr != regs.rasr {
            return Err(TrieError::NotMapped);
        }
        self.discard(index);
        Ok(leaf)
    }

    /// Takes a leaf's keys out, complete or not, and frees it.
    fn discard(&mut self, index: u32) {
        for key in keys(self.leaves[index as usize]) {
            self.remove_key(key, index);
        }
        self.leaves[index as usize] = RegionRegs { rbar: self.free_leaf, rasr: 0 };
        self.free_leaf = index;
        self.count -= 1;
    }

    fn entry(&self, slot: Slot) -> u32 {
        match slot {
            Slot::Root => self.root,
            Slot::Word(offset) => self.words[offset],
        }
    }

    fn set(&mut self, slot: Slot, entry: u32) {
        match slot {
            Slot::Root => self.root = entry,
            Slot::Word(offset) => self.words[offset] = entry,
        }
    }

    /// The prefix of a node, kept behind its entries.
    fn prefix_of(&self, entry: u32) -> u32 {
        self.words[(entry >> 8) as usize + NODE_WORDS - 1]
    }

    /// Whether `addr` belongs below node `entry`.
    fn covers(&self, entry: u32, addr: u32) -> bool {
        prefix(addr, entry & 31) == self.prefix_of(entry)
    }

    /// The words of the entries that a key fills in a node at or below its own level.
    fn run(entry: u32, key: Key) -> core::ops::Range<usize> {
        let first = child_offset(entry, key.base);
        let wide = key.size_log2 - (entry & 31);
        first..first + if entry & 31 == SHIFTS[0] { 1 << wide.min(4) } else { 1 << wide.min(6) }
    }

    /// A leaf that has a byte of `key`.
    fn overlap(&self, key: Key) -> Option<RegionRegs> {
        let mut entry = self.root;
        while entry & LEAF == 0 {
            let shift = entry & 31;
            if !self.covers(entry, key.base) {
                // The node lies inside the key, or beside it. Its prefix is its place.
                let place = self.prefix_of(entry) << (shift + 6);
                return (key.base <= place && place <= key.last()).then(|| self.some_leaf(entry)).flatten();
            }
            if key.size_log2 >= shift {
                let run = if key.size_log2 >= shift + 6 {
                    (entry >> 8) as usize..(entry >> 8) as usize + 64
                } else {
                    Self::run(entry, key)
                };
                return self.words[run].iter().find_map(|&below| match below & LEAF {
                    0 => self.some_leaf(below),
                    _ => self.leaf_with(below, key),
                });
            }
            entry = self.words[child_offset(entry, key.base)];
        }
        self.leaf_with(entry, key)
    }

    fn leaf_with(&self, entry: u32, key: Key) -> Option<RegionRegs> {
        let leaf = *self.leaves.get(leaf_index(entry) as usize)?;
        intersects(leaf, key.base, key.last()).then_some(leaf)
    }

    /// Any leaf below a node.
    fn some_leaf(&self, entry: u32) -> Option<RegionRegs> {
        let mut entry = entry;
        while entry & LEAF == 0 {
            let node = (entry >> 8) as usize;
            entry = *self.words[node..node + 64].iter().find(|&&below| below != EMPTY)?;
        }
        self.leaves.get(leaf_index(entry) as usize).copied()
    }

    fn take_node(&mut self, shift: u32, addr: u32) -> Option<u32> {
        let node = self.free_node as usize;
        self.free_node = *self.words.get(node)?;
        self.free_nodes -= 1;
        self.words[node..node + 64].fill(EMPTY);
        self.words[node + NODE_WORDS - 1] = prefix(addr, shift);
        Some((node as u32) << 8 | shift)
    }

    fn free_node(&mut self, entry: u32) {
        self.words[(entry >> 8) as usize] = self.free_node;
        self.free_node = entry >> 8;
        self.free_nodes += 1;
    }

    /// Enters a key that overlaps nothing; `None` when nodes ran out, with every other leaf still in place.
    fn insert_key(&mut self, key: Key, index: u32) -> Option<()> {
        let leaf = leaf_entry(index, self.leaves[index as usize]);
        let mut slot = Slot::Root;
        loop {
            let entry = self.entry(slot);
            if entry == EMPTY || entry == leaf {
                self.set(slot, leaf);
                return Some(());
            }
            if entry & LEAF != 0 {
                self.push_down(slot, entry, key)?;
                continue;
            }
            let shift = entry & 31;
            if !self.covers(entry, key.base) {
                let place = self.prefix_of(entry) << (shift + 6);
                let above = self.take_node(parting_level(place, key.base), key.base)?;
                self.words[child_offset(above, place)] = entry;
                self.set(slot, above);
                continue;
            }
            if key.size_log2 >= shift {
                let run = Self::run(entry, key);
                self.words[run].fill(leaf);
                return Some(());
            }
            slot = Slot::Word(child_offset(entry, key.base));
        }
    }

    /// Puts a node where `entry`, another leaf, stood for all of a slot, at the level where that leaf's part of the slot and
    /// `key` part; enters that part into it.
    fn push_down(&mut self, slot: Slot, entry: u32, key: Key) -> Option<()> {
        let other = self.leaves[leaf_index(entry) as usize];
        let (first, last) = self.reach(slot, key.base);
        let (mut low, mut high) = (key.base, key.last());
        for part in keys(other).filter(|part| part.last() >= first && part.base <= last) {
            low = low.min(part.base.max(first));
            high = high.max(part.last().min(last));
        }
        let node = self.take_node(parting_level(low, high), key.base)?;
        self.set(slot, node);
        let shift = node & 31;
        for part in keys(other).filter(|part| part.last() >= first && part.base <= last) {
            let (from, to) = (part.base.max(first), part.last().min(last));
            self.words[child_offset(node, from)..=child_offset(node, to)].fill(entry);
            debug_assert_eq!(prefix(from, shift), prefix(to, shift));
        }
        Some(())
    }

    /// The addresses that a slot on the path of `addr` stands for.
    fn reach(&self, slot: Slot, addr: u32) -> (u32, u32) {
        let Slot::Word(offset) = slot else { return (0, u32::MAX) };
        let mut entry = self.root;
        while child_offset(entry, addr) != offset {
            entry = self.words[child_offset(entry, addr)];
        }
        let below = (1u32 << (entry & 31)) - 1;
        (addr & !below, addr | below)
    }

    /// Takes one key of a leaf out, if it is there, and frees the nodes that no longer tell anything apart.
    fn remove_key(&mut self, key: Key, index: u32) {
        let leaf = leaf_entry(index, self.leaves[index as usize]);
        let mut path = [Slot::Root; MAX_DEPTH + 1];
        let mut depth = 0;
        loop {
            let entry = self.entry(path[depth]);
            if entry & LEAF != 0 {
                if entry == leaf {
                    self.set(path[depth], EMPTY);
                }
                break;
            }
            if !self.covers(entry, key.base) {
                break;
            }
            if key.size_log2 >= entry & 31 {
                let run = Self::run(entry, key);
                self.words[run].iter_mut().filter(|word| **word == leaf).for_each(|word| *word = EMPTY);
                depth += 1;
                break;
            }
            depth += 1;
            path[depth] = Slot::Word(child_offset(entry, key.base));
        }
        for slot in path[..depth].iter().rev() {
            let entry = self.entry(*slot);
            let Some(single) = self.single(entry) else { return };
            self.set(*slot, single);
            self.free_node(entry);
        }
    }

    /// What a node can be replaced by: the one thing below it, if there is at most one.
    fn single(&self, entry: u32) -> Option<u32> {
        let node = (entry >> 8) as usize;
        let mut found = EMPTY;
        for &below in &self.words[node..node + 64] {
            if below == EMPTY || (below == found && below & LEAF != 0) {
                continue;
            }
            if found != EMPTY {
                return None;
            }
            found = below;
        }
        Some(found)
    }
}
