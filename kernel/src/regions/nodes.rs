//! The memory of the domains' tables: nodes of [`protect::regions::pctrie`] at physical addresses, in whatever memory was set aside or given
//! for them.

use core::marker::PhantomData;

use protect::regions::Registers;
use protect::regions::pctrie::{LEAF_BYTES, NODE_BYTES, Store};
use system::objects::Size;
use units::PhysAddr;

use super::{RegionArch, Regs};

/// Memory of a table's node.
pub(super) const NODE: Size = Size { bytes: NODE_BYTES, align: 32 };
/// Memory of the leaf that stands for nothing.
pub(super) const NOWHERE: Size = Size { bytes: LEAF_BYTES, align: LEAF_BYTES };

/// Kernel memory, by physical address.
///
/// # Safety argument
/// A trie asks only for addresses that it was given as nodes or leaves, and for the leaf that
/// stands for nothing. Code that gives memory to a trie of this store has taken it from the
/// kernel's pools, or has retyped it as kernel memory: nothing else uses it, and no domain can be
/// given access to it.
#[derive(Debug)]
pub struct NodeMemory<A> {
    empty_leaf: PhysAddr<u32>,
    arch: PhantomData<A>,
}

impl<A: RegionArch> NodeMemory<A> {
    /// A store whose leaf of nothing is at `empty_leaf`.
    pub(super) fn new(empty_leaf: PhysAddr<u32>) -> Self {
        NodeMemory { empty_leaf, arch: PhantomData }
    }

    pub(super) fn prepare(&mut self) {
        self.set_leaf(self.empty_leaf.0, Regs::<A>::NOWHERE);
    }
}

impl<A: RegionArch> Store for NodeMemory<A> {
    type Regs = Regs<A>;

    const UNIFORM: bool = true;

    #[inline(always)]
    fn word(&self, at: u32) -> u32 {
        // SAFETY: see the type; words are aligned.
        unsafe { A::kernel_memory(PhysAddr(at)).cast::<u32>().read() }
    }

    #[inline(always)]
    fn set_word(&mut self, at: u32, value: u32) {
        // SAFETY: as in `word`.
        unsafe { A::kernel_memory(PhysAddr(at)).cast::<u32>().write(value) }
    }

    #[inline(always)]
    fn leaf(&self, at: u32) -> Regs<A> {
        // SAFETY: as in `word`; leaves are aligned, and any bits are a leaf.
        unsafe { A::kernel_memory(PhysAddr(at)).cast::<Regs<A>>().read() }
    }

    #[inline(always)]
    fn set_leaf(&mut self, at: u32, leaf: Regs<A>) {
        // SAFETY: as in `leaf`.
        unsafe { A::kernel_memory(PhysAddr(at)).cast::<Regs<A>>().write(leaf) }
    }

    #[inline(always)]
    fn nowhere(&self) -> u32 {
        self.empty_leaf.0
    }
}
