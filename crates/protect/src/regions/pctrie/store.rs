//! The memory that a trie is made of. A trie names nodes and leaves by *address*: a word that means something to its store only.

use crate::regions::Registers;

/// Words of a node: 64 entries, the prefix, and padding to a multiple of 32 bytes.
pub const NODE_WORDS: usize = 72;

/// A node as the caller provides it. Its contents before use do not matter.
pub type Node = [u32; NODE_WORDS];

/// Memory for nodes and leaves. Nodes are at multiples of 32, leaves at multiples of 8; the lower bits of an address are the
/// trie's.
pub trait Store {
    /// A leaf: the registers of a region.
    type Regs: Registers;

    /// True if nodes can be cut up into leaves: both have addresses of one kind.
    const UNIFORM: bool;

    /// Reads a word of a node; `at` is the node's address plus four times its index.
    fn word(&self, at: u32) -> u32;

    /// Writes a word of a node.
    fn set_word(&mut self, at: u32, value: u32);

    /// Reads a leaf.
    fn leaf(&self, at: u32) -> Self::Regs;

    /// Writes a leaf.
    fn set_leaf(&mut self, at: u32, leaf: Self::Regs);

    /// Address of a leaf that is [`Registers::NOWHERE`] and never written.
    fn nowhere(&self) -> u32;
}

/// A store over slices: every access is checked.
#[derive(Debug)]
pub struct Arena<'a, R> {
    words: &'a mut [u32],
    leaves: &'a mut [R],
}

impl<'a, R> Arena<'a, R> {
    /// A store over nodes and leaves. It uses no more of them than it has addresses for.
    pub(super) fn new(nodes: &'a mut [Node], leaves: &'a mut [R]) -> Self {
        let most_nodes = nodes.len().min((1 << 30) / (4 * NODE_WORDS));
        let most_leaves = leaves.len().min(1 << 26);
        Self { words: nodes[..most_nodes].as_flattened_mut(), leaves: &mut leaves[..most_leaves] }
    }

    pub(super) fn nodes(&self) -> usize {
        self.words.len() / NODE_WORDS
    }

    pub(super) fn leaves(&self) -> usize {
        self.leaves.len()
    }
}

impl<R: Registers> Store for Arena<'_, R> {
    type Regs = R;
    const UNIFORM: bool = false;

    #[inline(always)]
    fn word(&self, at: u32) -> u32 {
        self.words[(at >> 2) as usize]
    }

    #[inline(always)]
    fn set_word(&mut self, at: u32, value: u32) {
        self.words[(at >> 2) as usize] = value;
    }

    #[inline(always)]
    fn leaf(&self, at: u32) -> R {
        self.leaves.get((at >> 3) as usize).copied().unwrap_or(R::NOWHERE)
    }

    #[inline(always)]
    fn set_leaf(&mut self, at: u32, leaf: R) {
        self.leaves[(at >> 3) as usize] = leaf;
    }

    #[inline(always)]
    fn nowhere(&self) -> u32 {
        (self.leaves.len() as u32) << 3
    }
}
