//! The memory management unit: address spaces, what the kernel maps for itself, and the maintenance that changes of tables owe.
//! `protect::vmsav7` decides what the tables hold; this applies them.
//!
//! `TTBR0` translates the lower part of the address space ([`SPLIT`]) for the domain that runs, with entries of its ASID. `TTBR1`
//! translates the rest for the kernel: global, for privileged accesses only, data never executable.

use protect::MemType;
use protect::vmsav7::{self, Asid, Attributes, Base, First, Maintenance, PAGE_BYTES, Rights, Second, Split};
use units::{Bytes, PhysAddr, VirtAddr};

use crate::block::Block;
use crate::cp15::{self, dsb, isb};

/// How much of the address space is the domains': 2 GiB.
pub const SPLIT: Split = Split::Half;

/// The first address that is the kernel's.
pub const KERNEL_BASE: u32 = 0x8000_0000;

/// Attributes of table walks in `TTBR0` and `TTBR1` (DDI 0406C B4.1.154, with the multiprocessing extensions): inner and outer
/// write-back, write-allocate; not shareable, as the tables are mapped.
pub(crate) const WALKS: u32 = 1 << 6 | 1 << 3;

/// A domain's address space: the values of `TTBR0` and `CONTEXTIDR` while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Space {
    ttbr0: u32,
    asid: u32,
}

impl Space {
    /// A space with its first-level table at a physical address ([`Split::table_bytes`] of [`SPLIT`] say how it is aligned).
    pub const fn new(PhysAddr(root): PhysAddr<u32>, asid: Asid) -> Space {
        Space { ttbr0: root | WALKS, asid: asid.number() as u32 }
    }

    /// The space in which nothing is mapped but the kernel: the lower half of the kernel's own first-level table is empty.
    pub const fn nobody(PhysAddr(kernel_root): PhysAddr<u32>) -> Space {
        Space { ttbr0: kernel_root | WALKS, asid: 0 }
    }

    /// The space that is loaded.
    pub fn loaded() -> Space {
        Space { ttbr0: cp15::ttbr0::read(), asid: cp15::contextidr::read() }
    }

    /// Returns true if this space is loaded. The identifier tells, because each belongs to one
    /// space.
    #[inline]
    pub fn is_loaded(self) -> bool {
        cp15::contextidr::read() == self.asid
    }

    /// Loads this space for the domain that runs after the return from the kernel.
    ///
    /// Identifier and table cannot change together. Between them the identifier is 0, which no
    /// domain has, so that no walk of either space is kept under the other's identifier (DDI 0406C
    /// B3.10.4). Barriers stand before each change of the identifier, because a walk that was begun
    /// under the old one must not end under the new one (Cortex-A9 erratum 754322, r2p0 to r3p0).
    /// The last synchronization is the return from the exception; until then the kernel accesses
    /// only global mappings.
    #[inline]
    pub fn load(self) {
        // SAFETY: the kernel's own addresses are translated by TTBR1, whatever the domain.
        unsafe {
            dsb();
            cp15::contextidr::write(0);
            isb();
            cp15::ttbr0::write(self.ttbr0);
            isb();
            dsb();
            cp15::contextidr::write(self.asid);
        }
    }
}

/// The form in which the entry code hands a space on: two registers.
impl From<Space> for u64 {
    fn from(space: Space) -> u64 {
        u64::from(space.asid) << 32 | u64::from(space.ttbr0)
    }
}

impl From<u64> for Space {
    fn from(words: u64) -> Space {
        Space { ttbr0: words as u32, asid: (words >> 32) as u32 }
    }
}

/// A range that the kernel maps for itself.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// First virtual address, at least [`KERNEL_BASE`].
    pub base: VirtAddr<u32>,
    /// First physical address.
    pub physical: PhysAddr<u32>,
    /// Bytes.
    pub bytes: Bytes<u32>,
    /// The kernel's rights.
    pub rights: Rights,
    /// Type of the memory.
    pub memory: MemType,
}

/// The kernel's first-level table. Its lower part, which `TTBR1` does not use, stays empty: see [`Space::nobody`].
#[repr(C, align(16384))]
#[derive(Debug)]
pub struct Root([u32; 4096]);

/// A second-level table of the kernel's.
#[repr(C, align(1024))]
#[derive(Clone, Copy, Debug)]
pub struct Leaves([u32; 256]);

impl Root {
    /// Nothing mapped.
    pub const EMPTY: Root = Root([0; 4096]);

    /// Its address; the kernel maps memory of tables at its physical address.
    pub fn address(&self) -> PhysAddr<u32> {
        PhysAddr((&raw const *self) as u32)
    }
}

impl Leaves {
    /// Nothing mapped.
    pub const EMPTY: Leaves = Leaves([0; 256]);
}

/// The kernel's own mappings: in sections, and in large pages and pages as far as there are second-level tables, each for 1 MiB.
#[derive(Debug)]
pub struct KernelTables<'a> {
    root: &'a mut Root,
    leaves: &'a mut [Leaves],
    used: usize,
}

/// Why a [`Mapping`] cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Below [`KERNEL_BASE`], or past the end.
    Outside,
    /// Not made of pages, or of a type that its rights do not fit.
    Malformed,
    /// Something is mapped there.
    Mapped,
    /// More parts in pages than there are tables for.
    Tables,
}

impl<'a> KernelTables<'a> {
    /// Nothing mapped.
    pub fn new(root: &'a mut Root, leaves: &'a mut [Leaves]) -> Self {
        root.0.fill(0);
        leaves.fill(Leaves::EMPTY);
        KernelTables { root, leaves, used: 0 }
    }

    /// Returns the physical address of the first-level table. It is not changed any more.
    pub fn finish(self) -> PhysAddr<u32> {
        self.root.address()
    }

    /// Adds a mapping, before the MMU is on.
    ///
    /// # Errors
    /// [`Wrong`]; some of the mapping may have been made.
    pub fn map(&mut self, mapping: &Mapping) -> Result<(), Wrong> {
        const SECTION: u32 = 1 << 20;
        const LARGE: u32 = 1 << 16;
        let Mapping { base: VirtAddr(base), physical: PhysAddr(physical), bytes: Bytes(bytes), rights, memory } =
            *mapping;
        let end = u64::from(base) + u64::from(bytes);
        if base < KERNEL_BASE || end > 1 << 32 {
            return Err(Wrong::Outside);
        }
        let malformed = (base | physical | bytes) % PAGE_BYTES != 0 || rights.is_user();
        let attributes = Attributes::new(rights, memory, false, true).filter(|_| !malformed).ok_or(Wrong::Malformed)?;
        let mut at = 0;
        while at < bytes {
            let (virt, phys) = (base + at, physical.wrapping_add(at));
            if (virt | phys) % SECTION == 0 && bytes - at >= SECTION {
                self.set(virt, First::Section(Base::of(phys), attributes))?;
                at += SECTION;
            } else if (virt | phys) % LARGE == 0 && bytes - at >= LARGE {
                // A large page takes one entry of a TLB instead of sixteen. Its word stands in
                // sixteen descriptors (DDI 0406C B3.5.2).
                let word = Second::Large(Base::of(phys), attributes);
                (0..LARGE / PAGE_BYTES).try_for_each(|page| self.page(virt + page * PAGE_BYTES, word))?;
                at += LARGE;
            } else {
                self.page(virt, Second::Small(Base::of(phys), attributes))?;
                at += PAGE_BYTES;
            }
        }
        Ok(())
    }

    fn set(&mut self, virt: u32, entry: First) -> Result<(), Wrong> {
        let slot = &mut self.root.0[(virt >> 20) as usize];
        if *slot != 0 {
            return Err(Wrong::Mapped);
        }
        *slot = entry.encode();
        Ok(())
    }

    fn page(&mut self, virt: u32, entry: Second) -> Result<(), Wrong> {
        let index = (virt >> 20) as usize;
        if self.root.0[index] == 0 {
            let table = self.leaves.get(self.used).ok_or(Wrong::Tables)?;
            let table = Base::new((&raw const *table) as u32).ok_or(Wrong::Malformed)?;
            self.used += 1;
            self.root.0[index] = First::Table(table).encode();
        }
        let Ok(First::Table(table)) = First::decode(self.root.0[index]) else { return Err(Wrong::Mapped) };
        let place = |leaves: &Leaves| (&raw const *leaves) as u32 == table.address();
        let leaves = self.leaves.iter_mut().find(|leaves| place(leaves)).ok_or(Wrong::Mapped)?;
        let slot = &mut leaves.0[(virt >> 12 & 0xff) as usize];
        if *slot != 0 {
            return Err(Wrong::Mapped);
        }
        *slot = entry.encode();
        Ok(())
    }
}

/// Turns the MMU and the first-level caches on. Nothing is mapped below [`KERNEL_BASE`] until a [`Space`] is loaded.
///
/// Replacement in the caches and TLBs is round-robin (`SCTLR.RR`, ARM DDI 0388, 4.3.9), so that it
/// does not depend on chance.
///
/// # Safety
/// `root` is that of [`KernelTables`], for good. They map what the caller runs from and uses, where it is; caches and TLBs hold nothing that is wanted; the first-level
/// caches were invalidated.
pub unsafe fn enable(PhysAddr(root): PhysAddr<u32>) {
    const MMU: u32 = 1 << 0;
    const DATA_CACHE: u32 = 1 << 2;
    const PREDICTION: u32 = 1 << 11;
    const INSTRUCTION_CACHE: u32 = 1 << 12;
    const ROUND_ROBIN: u32 = 1 << 14;
    const ALIGNMENT: u32 = 1 << 1;
    const REMAP: u32 = 1 << 28;
    const ACCESS_FLAG: u32 = 1 << 29;
    // SAFETY: the caller's duty.
    unsafe {
        dsb();
        cp15::tlbiall::write(0);
        cp15::bpiall::write(0);
        dsb();
        cp15::dacr::write(vmsav7::DACR);
        cp15::ttbcr::write(SPLIT as u32);
        cp15::ttbr1::write(root | WALKS);
        cp15::ttbr0::write(root | WALKS);
        cp15::contextidr::write(0);
        isb();
        let keep = cp15::sctlr::read() & !(ALIGNMENT | REMAP | ACCESS_FLAG);
        cp15::sctlr::write(keep | MMU | DATA_CACHE | PREDICTION | INSTRUCTION_CACHE | ROUND_ROBIN);
        isb();
    }
}

/// Closes the registers of the processor that user mode could reach: performance counters,
/// ThumbEE's and Jazelle's registers, and the word that it may read. Two domains could pass
/// something to each other by them. Floating point is open; the entry code decides which thread has
/// the unit.
pub fn close_user_channels() {
    // SAFETY: fewer rights for user mode; the kernel uses none of this.
    unsafe {
        cp15::pmuserenr::write(0);
        cp15::teecr::write(1);
        cp15::jmcr::write(0);
        cp15::joscr::write(1);
        cp15::tpidruro::write(0);
        cp15::cpacr::write(0xf << 20);
        isb();
    }
}

/// The TLBs of this CPU. It is the only one that runs, so nothing is broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Tlb;

impl Maintenance for Tlb {
    /// Waits, and cleans nothing, because each store of a descriptor is cleaned when it is made, if
    /// that is needed (see [`publish_word`]).
    fn publish(&mut self) {
        dsb();
    }

    fn invalidate_page(&mut self, asid: Asid, VirtAddr(address): VirtAddr<u32>) {
        // SAFETY: what is removed is walked again when it is needed.
        unsafe { cp15::tlbimva::write(address & !(PAGE_BYTES - 1) | u32::from(asid.number())) };
    }

    fn invalidate_space(&mut self, asid: Asid) {
        // SAFETY: as above.
        unsafe { cp15::tlbiasid::write(u32::from(asid.number())) };
    }

    /// Invalidates predictions, too, because they may lead to what was unmapped (DDI 0406C B2.2.9).
    fn complete(&mut self) {
        // SAFETY: loses predictions only.
        unsafe { cp15::bpiall::write(0) };
        dsb();
        isb();
    }
}

/// Stores a descriptor where the kernel has the table mapped, and cleans its line to where walks
/// look for it. The clean is left out if walks look into the data cache (`ID_MMFR3`, DDI 0406C
/// B4.1.92); the Cortex-A9 does not say so of its walks.
///
/// # Safety
/// The word at `virt` is a descriptor of a table, and only the kernel writes it.
pub unsafe fn publish_word(VirtAddr(virt): VirtAddr<u32>, value: u32) {
    // SAFETY: the caller's duty.
    unsafe { (virt as *mut u32).write_volatile(value) };
    if cp15::mmfr3::read() >> 20 & 0xf == 0 {
        // SAFETY: cleaning changes no contents.
        unsafe { cp15::dccmvau::write(virt) };
    }
}

/// Registers that a chip places beside its CPUs, for [`start`].
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// Snoop control unit.
    pub scu: Block,
    /// Second-level cache.
    pub l2: Block,
    /// How the second-level cache is built in.
    pub setup: crate::pl310::Setup,
}

/// From reset to caches and MMU on: first-level caches, branch predictors and TLBs invalidated, coherency joined, second level on,
/// then the MMU (DDI 0388 and DDI 0407 as cited where each is done). Returns the second-level cache, or `None` if it does not react.
///
/// # Safety
/// As for [`enable`]; the MMU and the first-level caches are off, no other CPU runs, and no cache holds anything that is wanted.
pub unsafe fn start(root: PhysAddr<u32>, cluster: Cluster) -> Option<crate::pl310::Pl310> {
    crate::cache::invalidate_instructions();
    // SAFETY: the caller's duty.
    unsafe {
        crate::cache::invalidate_data();
        crate::cache::join_coherency(cluster.scu);
        let l2 = crate::pl310::Pl310::start(cluster.l2, cluster.setup);
        enable(root);
        close_user_channels();
        l2
    }
}
