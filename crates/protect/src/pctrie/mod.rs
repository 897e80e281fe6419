//! A path-compressed radix trie from addresses to the regions of paged memory.
//!
//! # Shape
//! A node is 64 entries, selected by six bits of the address at the node's *shift*, and one word for its prefix. Shifts are
//! [`SHIFTS`]: windows at fixed places, so that 64 KiB frames are one step below 4 MiB blocks. Levels at which all mapped
//! addresses agree have no node. An entry is one word: nothing, a leaf, or a node (word offset and shift, so that the
//! look-up is shift, mask, add, load, test). Nodes do not compare prefixes on the way down; the leaf at the end says
//! whether it contains the address, so a look-up never returns a region that does not.
//!
//! # Bounds
//! Shifts strictly decrease along every path and there are five of them: at most [`MAX_DEPTH`] nodes are visited, and at most
//! [`depth_bound`] when no granule (region, or eighth of one) is smaller than a given size: 3 from 64 KiB on, 2 from 4 MiB on.
//! Path compression makes it one node when all of a domain's paged memory lies in one aligned 4 MiB block. Insertion and
//! removal look at no more than `8 * MAX_DEPTH * 64` entries.
//!
//! # Invariant
//! Everything mapped below an entry that holds a leaf belongs to that leaf. A region with disabled sub-regions has one key for
//! each aligned power-of-two run of enabled ones, at most eight; all its keys hold the same leaf.

mod edit;
mod keys;

use crate::pmsav7::RegionRegs;

/// Words of a node: 64 entries, then the prefix.
pub const NODE_WORDS: usize = 65;
/// A node as the caller provides it. Its contents before use do not matter.
pub type Node = [u32; NODE_WORDS];
/// The address bit at which each level's six-bit window starts, root first. (The first window has four bits.)
pub const SHIFTS: [u32; 5] = [28, 22, 16, 10, 4];
/// The most nodes on any path.
pub const MAX_DEPTH: usize = SHIFTS.len();

/// The most nodes on a path when no granule is smaller than `2^granule_log2` bytes.
pub const fn depth_bound(granule_log2: u32) -> usize {
    let mut depth = 0;
    while depth < MAX_DEPTH {
        if depth > 0 && SHIFTS[depth - 1] <= granule_log2 {
            return depth;
        }
        depth += 1;
    }
    MAX_DEPTH
}

/// Why the trie is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrieError {
    /// The arena of nodes is used up; `available` nodes are free.
    NoNodes {
        /// Free nodes.
        available: usize,
    },
    /// The arena of leaves is used up.
    NoLeaves {
        /// Leaves in the arena.
        capacity: usize,
    },
    /// Some byte of the region is mapped already, by this leaf.
    Overlap {
        /// The region in the way.
        with: RegionRegs,
    },
    /// The region is off, empty, below 256 bytes (an eighth of 256 bytes says the same), or breaks PMSAv7's rules of size, alignment
    /// and sub-regions.
    Misaligned,
    /// The region to remove is not in the trie.
    NotMapped,
}

/// Nothing is mapped below an entry with this value: a leaf whose index is out of range.
const EMPTY: u32 = u32::MAX;
/// Set in an entry that holds a leaf (or nothing): then bits 30..8 are its index and bits 4..0 log2 of an eighth of it. In the
/// entry of a node the same bits are the word offset and the shift.
const LEAF: u32 = 1 << 31;

/// The entry of a leaf.
const fn leaf_entry(index: u32, regs: RegionRegs) -> u32 {
    LEAF | index << 8 | (regs.size_log2() - 3)
}

/// The index in the entry of a leaf; out of range for [`EMPTY`].
const fn leaf_index(entry: u32) -> u32 {
    entry << 1 >> 9
}

/// The trie over arenas that the caller provides.
#[derive(Debug)]
pub struct PcTrie<'a> {
    pub(crate) words: &'a mut [u32],
    pub(crate) leaves: &'a mut [RegionRegs],
    pub(crate) root: u32,
    free_node: u32,
    free_nodes: u32,
    free_leaf: u32,
    count: u32,
}

impl<'a> PcTrie<'a> {
    /// An empty trie over `nodes` and `leaves`, both overwritten. What is beyond 2^23 words of nodes or 2^20 leaves
    /// is not used.
    ///
    /// # Time complexity
    /// Linear in the arenas.
    pub fn new(nodes: &'a mut [Node], leaves: &'a mut [RegionRegs]) -> Self {
        let usable = nodes.len().min((1 << 23) / NODE_WORDS);
        let words = nodes[..usable].as_flattened_mut();
        let most = leaves.len().min(1 << 20);
        let leaves = &mut leaves[..most];
        // Free nodes and free leaves are chained through their first word.
        for (i, node) in words.chunks_exact_mut(NODE_WORDS).enumerate() {
            node[0] = if i + 1 < usable { ((i + 1) * NODE_WORDS) as u32 } else { EMPTY };
        }
        for (i, leaf) in leaves.iter_mut().enumerate() {
            *leaf = RegionRegs { rbar: if i + 1 < most { i as u32 + 1 } else { EMPTY }, rasr: 0 };
        }
        Self {
            free_node: if usable > 0 { 0 } else { EMPTY },
            free_leaf: if most > 0 { 0 } else { EMPTY },
            words,
            leaves,
            root: EMPTY,
            free_nodes: usable as u32,
            count: 0,
        }
    }

    /// The index of the leaf that contains `addr`.
    ///
    /// # Time complexity
    /// At most [`MAX_DEPTH`] nodes; on Thumb-2 nine instructions for each, and sixteen to load and check the leaf.
    #[inline(always)]
    pub fn find(&self, addr: u32) -> Option<u32> {
        let mut entry = self.root;
        for _ in 0..MAX_DEPTH {
            if entry & LEAF != 0 {
                break;
            }
            let window = addr >> (entry & 31) & 63;
            entry = *self.words.get((entry >> 8) as usize + window as usize)?;
        }
        let index = leaf_index(entry);
        let leaf = self.leaves.get(index as usize)?;
        // Equal above the block and in an enabled eighth of it. Slot bits are below the smallest eighth.
        let eighth = (addr ^ leaf.rbar) >> (entry & 31);
        (eighth < 8 && leaf.rasr >> (8 + eighth) & 1 == 0).then_some(index)
    }

    /// The region that contains `addr`, without slot bits.
    pub fn lookup(&self, addr: u32) -> Option<RegionRegs> {
        let leaf = self.leaves[self.find(addr)? as usize];
        Some(RegionRegs { rbar: leaf.base(), rasr: leaf.rasr })
    }

    /// The regions in the trie, in no particular order, without slot bits.
    pub fn iter(&self) -> impl Iterator<Item = RegionRegs> + '_ {
        self.leaves
            .iter()
            .filter(|leaf| leaf.is_enabled())
            .map(|leaf| RegionRegs { rbar: leaf.base(), rasr: leaf.rasr })
    }

    /// Regions in the trie.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether nothing is mapped.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Nodes not in use.
    pub const fn free_nodes(&self) -> usize {
        self.free_nodes as usize
    }

    /// Nodes on the path of `addr`: what a look-up of it visits.
    pub fn depth_of(&self, addr: u32) -> usize {
        let mut entry = self.root;
        let mut depth = 0;
        while entry & LEAF == 0 {
            entry = self.words[child_offset(entry, addr)];
            depth += 1;
        }
        depth
    }
}

/// Word offset of the child of node `entry` on the path of `addr`.
const fn child_offset(entry: u32, addr: u32) -> usize {
    ((entry >> 8) + (addr >> (entry & 31) & 63)) as usize
}

#[cfg(test)]
mod tests;
