//! Insertion and removal, in steps that look at a few dozen entries each.

use super::{
    END, LEAF, LEAF_BYTES, LEAVES_PER_NODE, LOW, MAX_DEPTH, PREFIX, SHIFTS, Store, Trie, TrieError, child, window_log2,
};
use crate::regions::{Key, Registers};

/// Location of an entry.
#[derive(Clone, Copy)]
enum Slot {
    Root,
    Word(u32),
}

/// The level at which blocks of this size are whole entries.
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

impl Key {
    /// The level at which it is one entry, or a run of entries of one node.
    fn level(self) -> u32 {
        level_of(self.block_log2())
    }
}

/// A region on its way into the trie, or out of it. Until that is complete its leaf contains no
/// address, so that no part of it is found.
#[derive(Clone, Copy, Debug)]
pub struct Edit<R> {
    /// Address of its leaf.
    at: u32,
    regs: R,
    /// Keys that were compared with what is in the trie.
    compared: u8,
    /// Keys that were entered, or begun.
    entered: u8,
}

/// A region on its way out, and its registers as last used.
pub type Withdrawn<R> = (Edit<R>, R);

/// Why a step of an insertion could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A byte of the region is mapped already.
    Occupied,
    /// There is no node left.
    NoNodes,
}

impl<S: Store> Trie<S> {
    /// Maps a region; the address of its leaf, which stays the same until it is removed.
    ///
    /// # Errors
    /// [`TrieError`]; the trie is then as it was.
    ///
    /// # Time complexity
    /// All steps of [`Trie::insert_step`]: for each key a comparison and two nodes.
    pub fn insert(&mut self, regs: S::Regs) -> Result<u32, TrieError<S::Regs>> {
        let available = self.free_nodes();
        let mut edit = self.begin(regs)?;
        loop {
            match self.insert_step(&mut edit) {
                Ok(false) => {}
                Ok(true) => return Ok(edit.at),
                Err(obstacle) => {
                    while !self.remove_step(&mut edit) {}
                    return Err(match (obstacle, self.overlapping(regs)) {
                        (Obstacle::Occupied, Some(with)) => TrieError::Overlap { with },
                        _ => TrieError::NoNodes { available },
                    });
                }
            }
        }
    }

    /// Begins to map a region: takes a leaf for it. [`Trie::insert_step`] goes on.
    ///
    /// # Errors
    /// [`TrieError::Misaligned`] and [`TrieError::NoLeaves`].
    ///
    /// # Time complexity
    /// O(1): at most [`LEAVES_PER_NODE`] leaves are made of a node.
    pub fn begin(&mut self, regs: S::Regs) -> Result<Edit<S::Regs>, TrieError<S::Regs>> {
        if !regs.is_enabled() || !regs.is_well_formed() || !regs.can_be_paged() {
            return Err(TrieError::Misaligned);
        }
        if !self.has_leaf() {
            return Err(TrieError::NoLeaves { capacity: self.len() });
        }
        let at = self.free_leaf;
        self.free_leaf = self.store.leaf(at).next();
        self.store.set_leaf(at, S::Regs::NOWHERE);
        self.count += 1;
        Ok(Edit { at, regs: regs.plain(), compared: 0, entered: 0 })
    }

    /// Takes one step of mapping a region. Returns true if it was the last; from then on the region
    /// is found, all of it at once. Nothing else may be inserted or removed between the steps.
    ///
    /// # Errors
    /// [`Obstacle`]: the region must be taken back by [`Trie::remove_step`].
    ///
    /// # Time complexity
    /// A path, and one key compared (at most 63 entries) or one node made and filled, or 63 entries set.
    pub fn insert_step(&mut self, edit: &mut Edit<S::Regs>) -> Result<bool, Obstacle> {
        if let Some(occupied) = self.meets_key(edit.regs, edit.compared) {
            edit.compared += 1;
            return if occupied { Err(Obstacle::Occupied) } else { Ok(false) };
        }
        let Some(key) = edit.regs.keys().nth(usize::from(edit.entered)) else {
            self.store.set_leaf(edit.at, edit.regs);
            return Ok(true);
        };
        match self.insert_key(key, edit.at) {
            Some(done) => edit.entered += u8::from(done),
            None => {
                // Nodes made for this key are found by a walk along its path when the region is taken back.
                edit.entered += 1;
                return Err(Obstacle::NoNodes);
            }
        }
        Ok(false)
    }

    /// Says whether something mapped has a byte of this key of a well-formed region; keys are
    /// numbered from the first one. `None` if the region has no such key.
    ///
    /// # Time complexity
    /// A path, and 63 entries.
    pub fn meets_key(&self, regs: S::Regs, number: u8) -> Option<bool> {
        regs.keys().nth(usize::from(number)).map(|key| self.overlap(key).is_some())
    }

    /// A region in the trie that has a byte in common with a well-formed one.
    ///
    /// # Time complexity
    /// For each key as [`Trie::meets_key`], and a path of nodes of 64 entries.
    pub fn overlapping(&self, regs: S::Regs) -> Option<S::Regs> {
        let found = regs.keys().find_map(|key| self.overlap(key))?;
        self.some_leaf(found).map(S::Regs::plain)
    }

    /// Returns true if there is a leaf, cutting up a node where that can be done.
    fn has_leaf(&mut self) -> bool {
        if self.free_leaf == END && S::UNIFORM && self.free_node != END {
            let node = self.free_node;
            self.free_node = self.store.word(node);
            self.free_nodes -= 1;
            (0..LEAVES_PER_NODE).rev().for_each(|index| self.give_leaf(node + index * LEAF_BYTES));
        }
        self.free_leaf != END
    }

    /// Unmaps a region, which is given as it was inserted. Returns its registers as last used, with
    /// slot bits if it was ever loaded.
    ///
    /// # Errors
    /// [`TrieError::NotMapped`] unless exactly this region is in the trie.
    ///
    /// # Time complexity
    /// All steps of [`Trie::remove_step`].
    pub fn remove(&mut self, regs: S::Regs) -> Result<S::Regs, TrieError<S::Regs>> {
        let (mut edit, leaf) = self.withdraw(regs)?;
        while !self.remove_step(&mut edit) {}
        Ok(leaf)
    }

    /// Begins to unmap a region, which is not found from then on. Returns its registers as
    /// [`Trie::remove`] does; [`Trie::remove_step`] goes on.
    ///
    /// # Errors
    /// [`TrieError::NotMapped`] unless exactly this region is in the trie.
    ///
    /// # Time complexity
    /// One look-up.
    pub fn withdraw(&mut self, regs: S::Regs) -> Result<Withdrawn<S::Regs>, TrieError<S::Regs>> {
        if !regs.is_enabled() || !regs.is_well_formed() {
            return Err(TrieError::NotMapped);
        }
        let first = regs.keys().next().ok_or(TrieError::NotMapped)?;
        let (at, leaf) = self.find(first.base).ok_or(TrieError::NotMapped)?;
        if leaf.plain() != regs.plain() {
            return Err(TrieError::NotMapped);
        }
        self.store.set_leaf(at, S::Regs::NOWHERE);
        Ok((Edit { at, regs: regs.plain(), compared: 0, entered: regs.keys().count() as u8 }, leaf))
    }

    /// Takes one step of unmapping a region, whether it was entered completely or not. Returns true
    /// if it was the last. Cannot fail. Nothing else may be inserted or removed between the steps.
    ///
    /// # Time complexity
    /// A path, at most 63 entries of a key, and 64 entries of one node looked at.
    pub fn remove_step(&mut self, edit: &mut Edit<S::Regs>) -> bool {
        let last = edit.entered.checked_sub(1).and_then(|number| edit.regs.keys().nth(usize::from(number)));
        let Some(key) = last else {
            self.give_leaf(edit.at);
            self.count -= 1;
            return true;
        };
        edit.entered -= u8::from(self.remove_key(key, edit.at));
        false
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

    /// Returns true if `addr` belongs below node `entry`.
    fn covers(&self, entry: u32, addr: u32) -> bool {
        prefix(addr, entry & LOW) == self.prefix_of(entry)
    }

    /// Address of the first entry that a key fills in a node at or below its own level, and how many it fills.
    fn run(entry: u32, key: Key) -> (u32, u32) {
        let shift = entry & LOW;
        // A key larger than the node's window fills all of it.
        let end = key.base | ((1u64 << window_log2(shift).min(32)) - 1) as u32;
        (child(entry, key.base), ((key.last.min(end) - key.base) >> shift) + 1)
    }

    fn fill(&mut self, (first, count): (u32, u32), entry: u32) {
        (0..count).for_each(|index| self.store.set_word(first + 4 * index, entry));
    }

    /// An entry that holds a leaf with a byte of `key`, or nodes with nothing else.
    fn overlap(&self, key: Key) -> Option<u32> {
        let mut entry = self.root;
        while entry & LEAF == 0 {
            let shift = entry & LOW;
            if !self.covers(entry, key.base) {
                // The node lies inside the key, or beside it. Its prefix says which.
                let place = self.place(entry);
                return key.meets(place, place).then_some(entry);
            }
            if key.level() > shift {
                return Some(entry);
            }
            if key.level() == shift {
                // Each of these entries lies all in the key, so a leaf in one of them has a byte of
                // the key.
                let (first, count) = Self::run(entry, key);
                let nothing = self.nothing();
                return (0..count).map(|index| self.store.word(first + 4 * index)).find(|below| *below != nothing);
            }
            entry = self.store.word(child(entry, key.base));
        }
        self.store.leaf(entry - LEAF).keys().any(|part| part.meets(key.base, key.last)).then_some(entry)
    }

    /// Any leaf below a node.
    fn some_leaf(&self, entry: u32) -> Option<S::Regs> {
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

    /// Enters a key that overlaps nothing, or makes one node for it. Returns true if the key is
    /// entered, and `None` if there is no node left; every other leaf is still in place then.
    fn insert_key(&mut self, key: Key, at: u32) -> Option<bool> {
        let leaf = at | LEAF;
        let mut slot = Slot::Root;
        loop {
            let entry = self.entry(slot);
            if entry == self.nothing() || entry == leaf {
                self.set(slot, leaf);
                return Some(true);
            }
            if entry & LEAF != 0 {
                self.push_down(slot, entry, key)?;
                return Some(false);
            }
            if !self.covers(entry, key.base) {
                let place = self.place(entry);
                let above = self.take_node(parting_level(place, key.base), key.base)?;
                self.store.set_word(child(above, place), entry);
                self.set(slot, above);
                return Some(false);
            }
            if key.level() >= entry & LOW {
                self.fill(Self::run(entry, key), leaf);
                return Some(true);
            }
            slot = Slot::Word(child(entry, key.base));
        }
    }

    /// Makes a node in a slot that held only `entry`, another leaf. The node is at the level at
    /// which that leaf's part of the slot and `key` differ, and gets that part.
    fn push_down(&mut self, slot: Slot, entry: u32, key: Key) -> Option<()> {
        let other = self.store.leaf(entry - LEAF);
        let (first, last) = self.reach(slot, key.base);
        let (mut low, mut high) = (key.base, key.last);
        for part in other.keys().filter(|part| part.meets(first, last)) {
            low = low.min(part.base.max(first));
            high = high.max(part.last.min(last));
        }
        let node = self.take_node(parting_level(low, high), key.base)?;
        self.set(slot, node);
        for part in other.keys().filter(|part| part.meets(first, last)) {
            let (from, to) = (part.base.max(first), part.last.min(last));
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

    /// Takes one key of a leaf out, if it is there, and frees the innermost node on its path if
    /// that no longer tells anything apart. Returns true if nothing is left to be done.
    fn remove_key(&mut self, key: Key, at: u32) -> bool {
        let leaf = at | LEAF;
        let (mut slot, mut above) = (Slot::Root, None);
        loop {
            let entry = self.entry(slot);
            if entry & LEAF != 0 {
                if entry == leaf {
                    self.set(slot, self.nothing());
                }
                break;
            }
            if !self.covers(entry, key.base) {
                break;
            }
            above = Some(slot);
            if key.level() >= entry & LOW {
                let (first, count) = Self::run(entry, key);
                for word in (0..count).map(|index| first + 4 * index) {
                    if self.store.word(word) == leaf {
                        self.store.set_word(word, self.nothing());
                    }
                }
                break;
            }
            slot = Slot::Word(child(entry, key.base));
        }
        let Some(slot) = above else { return true };
        let entry = self.entry(slot);
        let Some(single) = self.single(entry) else { return true };
        self.set(slot, single);
        self.give_node(entry & !LOW);
        false
    }

    /// Returns what can replace a node: the one entry below it, if there is at most one.
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
