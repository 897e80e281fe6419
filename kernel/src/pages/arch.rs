//! The interface to a processor with page tables.

use protect::vmsav7::{Asid, Maintenance, Placement, Split};
use units::{PhysAddr, VirtAddr};

use crate::arch::Arch;

/// A processor with page tables (VMSA, short descriptors).
///
/// # Safety
/// An implementation promises that unprivileged code can access exactly what the tables of the space that was loaded last translate, and
/// what the TLBs hold of them that they were not told to forget.
pub unsafe trait PageArch: Arch<Width = u32> + Maintenance {
    /// How much of the address space is the domains'.
    const SPLIT: Split;

    /// Reads the descriptor at a physical address.
    ///
    /// # Safety
    /// The word is part of memory that is typed as kernel memory and serves a domain's tables.
    unsafe fn table_word(at: PhysAddr<u32>) -> u32;

    /// Writes the descriptor at a physical address in one store, and cleans it to where walks look for it.
    ///
    /// # Safety
    /// As for [`PageArch::table_word`].
    unsafe fn set_table_word(at: PhysAddr<u32>, value: u32);

    /// Placement of tables at this physical address.
    fn placement(at: PhysAddr<u32>) -> Placement;

    /// Puts a domain's space in force, from the return from the kernel on: the first-level table at
    /// this physical address, with this identifier. With `None` nothing is translated but what is
    /// the kernel's.
    fn load_space(&mut self, space: Option<(PhysAddr<u32>, Asid)>);

    /// Locks the entry of the TLB that translates `address` in the space of these tables and this identifier, into a slot: performs
    /// [`protect::vmsav7::lockdown::lock_entry`]. The space that was loaded before is loaded again when it returns.
    fn lock_entry(&mut self, slot: usize, root: PhysAddr<u32>, asid: Asid, address: VirtAddr<u32>);
}
