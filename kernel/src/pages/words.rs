//! The memory of the domains' tables, as the processor has it.

use core::marker::PhantomData;

use protect::vmsav7::{Placement, TableMemory};
use units::PhysAddr;

use super::PageArch;

/// Kernel memory, by physical address.
///
/// # Safety argument
/// Tables ask only for addresses that they were given. Code that gives memory to tables of this
/// kind has it from the validated block, where it is kernel memory of this domain alone, or has
/// retyped it as kernel memory: nothing else uses it, and no domain can be given access to it.
#[derive(Debug)]
pub(super) struct TableWords<A>(PhantomData<A>);

impl<A> TableWords<A> {
    pub fn new() -> Self {
        TableWords(PhantomData)
    }
}

impl<A: PageArch> TableMemory for TableWords<A> {
    #[inline]
    fn word(&self, at: PhysAddr<u32>) -> u32 {
        // SAFETY: see the type; descriptors are aligned.
        unsafe { A::table_word(at) }
    }

    #[inline]
    fn set_word(&mut self, at: PhysAddr<u32>, value: u32) {
        // SAFETY: as in `word`.
        unsafe { A::set_table_word(at, value) };
    }

    fn placement(&self, at: PhysAddr<u32>) -> Placement {
        A::placement(at)
    }
}
