//! Two domains: their memory, tables and registers.

use armv7a::lockdown;
use armv7a::mmu::{SPLIT, Space, Tlb};
use armv7a::pl310::Pl310;
use armv7a::{Armv7a, Context, Entry};
use image::{Described, TableWords, board, window};
use kernel::arch::Arch;
use protect::MemType;
use protect::vmsav7::{self, Asid, Attributes, Maintenance, Placement, Progress, Rights, Tables};
use units::{Bytes, PhysAddr, VirtAddr};

use crate::programs::{self, CODE, CONST, DATA};

const PAGE: u32 = 0x1000;
/// The frame with the programs, which both execute.
const CODE_FRAME: u32 = 0x0100_0000;
/// Frames of domain 0; those of domain 1 are 64 KiB further up.
const DATA_FRAME: u32 = 0x0110_0000;
const CONST_FRAME: u32 = 0x0112_0000;
const OTHER_FRAME: u32 = 0x0114_0000;
const NEXT: u32 = 0x0001_0000;
/// Tables of domain 1, which are off the chip.
const FAR_TABLES: u32 = 0x0120_0000;
/// Memory that a way holds for good; nothing else uses it.
const LOCKED: u32 = 0x0140_0000;

/// The words in a domain's page of constants, and in the page that takes its place.
pub const CONSTANTS: [u32; 2] = [0xc0de_0001, 0xc0de_0002];

/// A domain. The entry code knows that the place of its space is behind two records.
#[repr(C)]
pub struct Domain {
    /// Its registers.
    pub context: Context,
    entry: Entry,
    /// Address of [`Domain::space`].
    place: *const [u32; 2],
    /// Its address space: first-level table and identifier.
    space: [u32; 2],
    tables: Tables<TableWords>,
    asid: Asid,
    placement: Placement,
    /// The word that only this domain has at [`DATA`].
    pub word: u32,
    data: u32,
    /// The frames at [`CONST`]: the one that is there, and the other one.
    constants: [u32; 2],
}

/// Something that the test relies on did not work.
#[derive(Clone, Copy, Debug)]
pub struct Failed(pub &'static str);

impl Domain {
    /// Domain 0 has its tables on the chip, domain 1 in memory off the chip.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn new(index: u32) -> Result<Domain, Failed> {
        let (root, placement) = match index {
            0 => (board::TABLES.start, Placement::OnChip),
            _ => (FAR_TABLES, Placement::OffChip),
        };
        let asid = Asid::new(index as u8 + 1).ok_or(Failed("an ASID"))?;
        let mut tables = Tables::new(TableWords, PhysAddr(root), SPLIT).map_err(|_| Failed("tables"))?;
        tables.give(PhysAddr(root + SPLIT.table_bytes())).map_err(|_| Failed("memory for tables"))?;
        let frames = index * NEXT;
        let mut domain = Domain {
            context: Context::EMPTY,
            entry: Entry::NOWHERE,
            place: core::ptr::null(),
            space: [root, u32::from(asid.number())],
            tables,
            asid,
            placement,
            word: 0xa0a0_a0a0 + 0x1111_1111 * index,
            data: DATA_FRAME + frames,
            constants: [CONST_FRAME + frames, OTHER_FRAME + frames],
        };
        domain.finish()?;
        write(domain.data, domain.word);
        domain.constants.into_iter().zip(CONSTANTS).for_each(|(frame, word)| write(frame, word));
        domain.map(CODE, CODE_FRAME, Rights::UserCode)?;
        domain.map(DATA, domain.data, Rights::UserData)?;
        domain.map(CONST, domain.constants[0], Rights::UserConst)?;
        Ok(domain)
    }

    /// Its registers as they are when it starts at `entry`, with its word as argument.
    pub fn restart(&mut self, entry: u32) {
        let args = [self.word, 0, 0, 0];
        let (entry, stack_base) = (VirtAddr(entry), VirtAddr(DATA));
        let start = kernel::arch::Start { entry, link: VirtAddr(0), stack_base, stack_bytes: Bytes(PAGE), args };
        self.context.prepare(start);
    }

    /// Its registers, for the entry code, which loads its space when it resumes them. The domain stays where it is from now on.
    pub fn turn(&mut self) -> *mut Context {
        self.place = &raw const self.space;
        &raw mut self.context
    }

    /// How far its program has counted.
    pub fn count(&self) -> u32 {
        // SAFETY: a frame of the test's, which the domain may write, one word at a time.
        unsafe { (window(PhysAddr(self.data + 4)).0 as *const u32).read_volatile() }
    }

    /// Puts the other frame at [`CONST`].
    ///
    /// # Errors
    /// [`Failed`].
    pub fn change_constants(&mut self) -> Result<(), Failed> {
        self.tables.unmap(VirtAddr(CONST), Bytes(PAGE), self.placement).map_err(|_| Failed("unmapping"))?;
        self.finish()?;
        self.constants.swap(0, 1);
        self.map(CONST, self.constants[0], Rights::UserConst)
    }

    /// Locks the entry of [`CONST`] in a slot of the main TLB. It stays until it is invalidated, as unmapping does. The space is loaded.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn lock_constants(&self, slot: usize) -> Result<(), Failed> {
        let steps = vmsav7::lockdown::lock_entry(slot, self.asid, VirtAddr(CONST)).ok_or(Failed("a lock slot"))?;
        // SAFETY: the space is loaded, the page is mapped, everything is masked in the kernel.
        unsafe { lockdown::lock_entry(&steps) }.map_err(|_| Failed("locking an entry"))
    }

    /// Its address-space identifier.
    pub fn asid(&self) -> Asid {
        self.asid
    }

    /// Takes over the identifier of a domain that does not run any more, and is loaded with it.
    pub fn take_over(&mut self, asid: Asid) {
        Tlb.invalidate_space(asid);
        Tlb.complete();
        self.asid = asid;
        self.space[1] = u32::from(asid.number());
        Space::new(PhysAddr(self.space[0]), asid).load();
    }

    /// Locks the entry of [`DATA`] in the main TLB, and takes it out again. The space is loaded. The board does not know of locked entries:
    /// that the sequences run is all that can be seen.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn lock_and_unlock(&mut self) -> Result<(), Failed> {
        let steps = vmsav7::lockdown::lock_entry(0, self.asid, VirtAddr(DATA)).ok_or(Failed("a lock slot"))?;
        // SAFETY: the space is loaded, the page is mapped, everything is masked in the kernel.
        unsafe { lockdown::lock_entry(&steps) }.map_err(|_| Failed("locking an entry"))?;
        Tlb.invalidate_page(self.asid, VirtAddr(DATA));
        Tlb.complete();
        Ok(())
    }

    fn map(&mut self, virt: u32, frame: u32, rights: Rights) -> Result<(), Failed> {
        let attributes = Attributes::new(rights, MemType::WriteBack, false, false).ok_or(Failed("attributes"))?;
        self.tables
            .map(VirtAddr(virt), PhysAddr(frame), Bytes(PAGE), attributes, self.placement)
            .map_err(|_| Failed("mapping"))?;
        self.finish()
    }

    fn finish(&mut self) -> Result<(), Failed> {
        for _ in 0..1000 {
            match self.tables.advance(64).settle(Some(self.asid), &mut Tlb) {
                Progress::More => {}
                Progress::Done => return Ok(()),
                Progress::Refused(_) => return Err(Failed("an edit")),
            }
        }
        Err(Failed("an edit to end"))
    }
}

fn write(frame: u32, value: u32) {
    // SAFETY: a frame of the test's that no domain has yet.
    unsafe { (window(PhysAddr(frame)).0 as *mut u32).write_volatile(value) };
}

/// Brings a way's worth of memory into way 7 and locks it there.
///
/// # Errors
/// [`Failed`].
pub fn lock_a_way(cache: &Pl310) -> Result<(), Failed> {
    let lock = vmsav7::lockdown::LockWays { locked: 0, fill: 1 << 7, base: LOCKED, bytes: vmsav7::lockdown::WAY_BYTES };
    let steps = lock.steps().map_err(|_| Failed("the steps to lock a way"))?;
    // SAFETY: the range is memory off the chip, which the kernel has mapped; cleaning and loading change nothing there.
    unsafe { lockdown::perform(steps, cache, window) }.map_err(|_| Failed("locking a way"))
}

/// Puts the programs into their frame, as a loader would, and clears the domains' data, which were something else's.
///
/// # Errors
/// [`Failed`] when the data are not clear afterwards.
pub fn load(arch: &mut Armv7a<Described>) -> Result<(), Failed> {
    let image = programs::image();
    let words = || (DATA_FRAME..DATA_FRAME + 2 * NEXT).step_by(PAGE as usize - 4);
    words().for_each(|at| write(at, at));
    // SAFETY: frames of the test's that no domain has yet; the programs are shorter than one, and lie where they are physically.
    unsafe {
        arch.copy(PhysAddr(CODE_FRAME), PhysAddr(image.as_ptr() as u32), Bytes(image.len() as u32));
        arch.zero(PhysAddr(DATA_FRAME), Bytes(2 * NEXT));
    }
    arch.publish_code(PhysAddr(CODE_FRAME), Bytes(image.len() as u32));
    // SAFETY: as above.
    let clear = words().all(|at| unsafe { (window(PhysAddr(at)).0 as *const u32).read_volatile() } == 0);
    if clear { Ok(()) } else { Err(Failed("clearing frames")) }
}
