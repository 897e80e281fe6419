//! Tables and trees of domains, as the processor has them.

use core::marker::PhantomData;

use rtmmu::{Space, Words};
use units::{Bytes, PhysAddr};

use super::RtmmuArch;

/// Words one behind the other, by physical address.
///
/// # Safety argument
/// The maker takes its place from the validated block: entries that are one domain's alone, or kernel memory that is set aside for its tree.
/// Nothing else uses either, and no domain can be given access to it.
#[derive(Debug)]
pub struct TableWords<A> {
    base: PhysAddr<u32>,
    count: u32,
    processor: PhantomData<A>,
}

/// A space, as the processor has it.
pub(super) type DomainSpace<A> = Space<<A as RtmmuArch>::Tables, TableWords<A>>;

impl<A> TableWords<A> {
    /// The `count` words from `base` on, which is a multiple of 4.
    pub fn new(base: PhysAddr<u32>, count: u32) -> Self {
        TableWords { base, count, processor: PhantomData }
    }

    fn place(&self, index: usize) -> PhysAddr<u32> {
        assert!(index < self.count as usize);
        self.base.plus(Bytes(4 * index as u32))
    }
}

impl<A: RtmmuArch> Words for TableWords<A> {
    #[inline]
    fn get(&self, index: usize) -> u32 {
        // SAFETY: see the type; the index is within.
        unsafe { A::table_word(self.place(index)) }
    }

    #[inline]
    fn set(&mut self, index: usize, word: u32) {
        // SAFETY: as in `get`.
        unsafe { A::set_table_word(self.place(index), word) };
    }

    fn forget(&mut self) {
        A::forget_entries();
    }
}
