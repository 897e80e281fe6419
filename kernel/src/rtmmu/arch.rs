//! The interface to a processor with RTMMU, or with page tables that it is compared with.

use rtmmu::Translation;
use system::rtmmu::{Mmu, Space};
use units::PhysAddr;

use crate::arch::Arch;

/// A part of a domain's tables that the processor is told: where they begin, and how many pages they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Number of the first entry in each table; with Sv32, the page of the first level.
    pub first: u32,
    /// Base-two logarithm of the entries.
    pub pages_log2: u32,
}

/// A processor with such tables.
///
/// # Safety
/// An implementation promises that unprivileged code can access exactly what the entries of the space that was loaded last translate, as they are
/// at the moment of the access: nothing of them is kept elsewhere.
pub unsafe trait RtmmuArch: Arch<Width = u32> {
    /// Tables of a domain, as the processor reads them.
    type Tables: Translation;

    /// The MMU, as the block names it.
    const MMU: Mmu;

    /// The tables that the block gives to a domain, as they are to be loaded. With more than one level, all but the last are complete.
    ///
    /// # Safety
    /// The block is valid, and the tables are made once.
    unsafe fn tables(own: &Space) -> (Self::Tables, Loaded);

    /// Reads a word of a table, or of a virtual regions tree.
    ///
    /// # Safety
    /// The word is part of the hardware's tables, or of memory that is typed as kernel memory and serves a domain's tree.
    unsafe fn table_word(at: PhysAddr<u32>) -> u32;

    /// Writes such a word in one store. Stores reach the hardware in their order.
    ///
    /// # Safety
    /// As for [`RtmmuArch::table_word`].
    unsafe fn set_table_word(at: PhysAddr<u32>, value: u32);

    /// Entries of tables were removed: copies that the hardware keeps of some are dropped, before user mode runs.
    fn forget_entries();

    /// Returns true if there is memory at a physical address, and no register: the kernel reads and
    /// writes registers on no domain's behalf.
    fn is_memory(at: PhysAddr<u32>) -> bool;

    /// Puts a domain's tables in force, from the return from the kernel on. With `None` nothing is
    /// translated, as for the idle loop.
    fn load_space(&mut self, space: Option<Loaded>);
}
