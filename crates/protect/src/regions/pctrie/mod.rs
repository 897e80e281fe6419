//! A path-compressed radix trie from addresses to the regions of paged memory.
//!
//! # Shape
//! A node has 64 entries and one word for its prefix. Six bits of the address at the node's *shift*
//! select an entry (only four of them count at the level where the window above begins earlier).
//! Shifts are [`SHIFTS`]: windows at fixed places, so that 64 KiB frames are one step below 4 MiB
//! blocks. Levels at which all mapped addresses agree have no node.
//!
//! An entry is one word. It is the address of a leaf, with bit 0 set, or that of a node, with its
//! shift in the low bits. Shifts are even, so bit 0 tells the two apart, and a rotation by the
//! entry itself brings the window to the bottom. *Nothing* is a leaf that contains no address: so a
//! look-up need not compare entries with 0.
//!
//! Nodes do not compare prefixes on the way down. The leaf at the end says whether it contains the
//! address, so a look-up never returns a region that does not.
//!
//! # Memory
//! Nodes and leaves lie in a [`Store`]: slices ([`PcTrie`]) or whatever memory a kernel has. More can be given at any time.
//!
//! # Bounds
//! Shifts strictly decrease along every path and there are five of them: at most [`MAX_DEPTH`]
//! nodes are visited. There are fewer if granules (regions, or eighths of them) are large: at most
//! 4 from 1 KiB on, 3 from 64 KiB on. Path compression makes it one node if all of a domain's paged
//! memory lies in one aligned 4 MiB block.
//!
//! Insertion and removal go in steps ([`Trie::insert_step`], [`Trie::remove_step`]), so that a
//! kernel entry can take a few. Each makes or frees one node at most and looks at no more than a
//! path and 96 entries. Between steps the region is found as a whole or not at all.
//!
//! # Invariant
//! Everything mapped below an entry that holds a leaf belongs to that leaf. A region is entered as
//! a few keys ([`Key`](super::Key)). A key is a run of entries of one node, which all hold the same
//! leaf. A block with eighths that can be left out has at most four keys, one for each quarter. A
//! region whose bounds are any multiples of 32 has at most nine, one for each level up and one for
//! each down.

mod edit;
mod store;
mod walk;

use super::Registers;

pub use edit::{Edit, Obstacle, Withdrawn};
pub use store::{Arena, NODE_WORDS, Node, Store};
pub use walk::Next;

/// Bytes of a node.
pub const NODE_BYTES: u32 = 4 * NODE_WORDS as u32;
/// Bytes of a leaf.
pub const LEAF_BYTES: u32 = 8;
/// Leaves that a node can be cut up into, where the store is uniform.
pub const LEAVES_PER_NODE: u32 = NODE_BYTES / LEAF_BYTES;
/// Index of the word that holds a node's prefix.
const PREFIX: u32 = 64;
/// The address bit at which each level's window starts, root first; a window reaches up to that of the level above.
pub const SHIFTS: [u32; 5] = [26, 22, 16, 10, 4];
/// The most nodes on any path.
pub const MAX_DEPTH: usize = SHIFTS.len();

/// log2 of the addresses below a node with this shift.
pub const fn window_log2(shift: u32) -> u32 {
    // Between 64 MiB and 4 MiB there are four bits.
    if shift == SHIFTS[1] { SHIFTS[0] } else { shift + 6 }
}

/// Why the trie is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrieError<R> {
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
        with: R,
    },
    /// The region is off, empty, cannot be paged ([`Registers::can_be_paged`]), or breaks the scheme's rules.
    Misaligned,
    /// The region to remove is not in the trie.
    NotMapped,
}

/// Set in an entry that holds the address of a leaf.
const LEAF: u32 = 1;
/// The bits of an entry that are not a node's address.
const LOW: u32 = 31;
/// The end of a list of free nodes or leaves.
const END: u32 = u32::MAX;

/// The trie over memory in `S`. The entry of the root comes first, for code in assembly.
#[derive(Debug)]
#[repr(C)]
pub struct Trie<S: Store> {
    pub(crate) root: u32,
    free_node: u32,
    free_nodes: u32,
    free_leaf: u32,
    count: u32,
    pub(crate) store: S,
}

/// Offset of the entry of the root, for code in assembly.
pub const fn root_offset<S: Store>() -> usize {
    core::mem::offset_of!(Trie<S>, root)
}

/// The trie over slices that the caller provides.
pub type PcTrie<'a, R> = Trie<Arena<'a, R>>;

impl<'a, R: Registers> PcTrie<'a, R> {
    /// An empty trie over `nodes` and `leaves`, both overwritten. Nodes beyond 1 GiB and leaves beyond 2^26 are not used.
    ///
    /// # Time complexity
    /// Linear in the arenas.
    pub fn new(nodes: &'a mut [Node], leaves: &'a mut [R]) -> Self {
        let mut trie = Self::empty(Arena::new(nodes, leaves));
        (0..trie.store.nodes() as u32).rev().for_each(|index| trie.give_node(index * NODE_BYTES));
        (0..trie.store.leaves() as u32).rev().for_each(|index| trie.give_leaf(index * LEAF_BYTES));
        trie
    }
}

impl<S: Store> Trie<S> {
    /// An empty trie without memory.
    pub fn empty(store: S) -> Self {
        let root = store.nowhere() | LEAF;
        Self { store, root, free_node: END, free_nodes: 0, free_leaf: END, count: 0 }
    }

    /// Adds memory for one node at `at`, a multiple of 32, which is the trie's from now on.
    pub fn give_node(&mut self, at: u32) {
        self.store.set_word(at, self.free_node);
        self.free_node = at;
        self.free_nodes += 1;
    }

    /// Adds memory for one leaf at `at`, a multiple of 8, which is the trie's from now on.
    pub fn give_leaf(&mut self, at: u32) {
        self.store.set_leaf(at, S::Regs::link(self.free_leaf));
        self.free_leaf = at;
    }

    /// The address of the leaf that contains `addr`, with its contents.
    ///
    /// # Time complexity
    /// At most [`MAX_DEPTH`] nodes; on Thumb-2 six instructions for each, and eleven to load and check the leaf.
    #[inline(always)]
    pub fn find(&self, addr: u32) -> Option<(u32, S::Regs)> {
        let mut entry = self.root;
        while entry & LEAF == 0 {
            entry = self.store.word(child(entry, addr));
        }
        let at = entry - LEAF;
        let leaf = self.store.leaf(at);
        leaf.contains(addr).then_some((at, leaf))
    }

    /// The region that contains `addr`, without slot bits.
    pub fn lookup(&self, addr: u32) -> Option<S::Regs> {
        self.find(addr).map(|(_, leaf)| leaf.plain())
    }

    /// Regions in the trie.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns true if nothing is mapped.
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
            entry = self.store.word(child(entry, addr));
            depth += 1;
        }
        depth
    }
}

/// Address of the word for `addr` in node `entry`.
#[inline(always)]
const fn child(entry: u32, addr: u32) -> u32 {
    // The shift is below 32, so that a rotation by all of the entry is one by the shift.
    (entry & !LOW) + ((addr.rotate_right(entry & LOW) & 63) << 2)
}

#[cfg(test)]
mod tests;
