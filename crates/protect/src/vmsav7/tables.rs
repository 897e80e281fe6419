//! The tables of one domain.

use units::{Bytes, PhysAddr, VirtAddr};

use super::attributes::Attributes;
use super::descriptor::{First, Second};
use super::memory::{Placement, TableMemory};
use super::work::{Debt, Edit, Goal, Job, Progress, Refused, Then};
use super::{PAGE_BYTES, PAGE_LOG2, TABLE_BYTES, TABLE_ENTRIES};

/// The end of a list of free tables; as a descriptor, like every link, a fault.
const END: u32 = 0xffff_fffc;

/// `TTBCR.N`: how much of the address space `TTBR0` translates for the domain (ARM DDI 0406C B3.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Split {
    /// All 4 GiB; a first-level table of 16 KiB.
    All = 0,
    /// The lower 2 GiB; 8 KiB.
    Half = 1,
    /// The lower 1 GiB; 4 KiB.
    Quarter = 2,
}

impl Split {
    /// Entries of the first-level table.
    pub const fn entries(self) -> u32 {
        4096 >> self as u32
    }

    /// Bytes of the first-level table, and its alignment.
    pub const fn table_bytes(self) -> u32 {
        4 * self.entries()
    }

    /// First address that it does not translate.
    pub const fn end(self) -> u64 {
        (self.entries() as u64) << 20
    }

    /// Small pages that it translates.
    pub(super) const fn pages(self) -> u32 {
        256 * self.entries()
    }
}

/// The tables of one domain over memory in `M`, at most one edit of them under way.
///
/// # Edits
/// [`Tables::map`] and [`Tables::unmap`] begin one, in constant time. [`Tables::advance`] takes one step of it. An edit looks
/// at its whole range before it changes anything, and takes no table that was not counted then: it is refused as a whole or it
/// succeeds. The same holds however many steps it is cut into, since no other edit can begin before it ends.
///
/// # Bounds
/// `e` being the descriptors of the range ([`Shape::descriptors`](super::Shape::descriptors) when it is mapped; when it is unmapped, of the
/// pages and sections in it, with one for each 4 KiB of those that are cut), an edit reads and writes descriptors at most so often, in
/// all its steps together (a test counts):
/// - map: `6 e`; about `3 e` when many pages share a table.
/// - unmap: `1200 + 6 e`. The constant is for the ends of the range: two sections that are cut (256 descriptors each are written elsewhere, 16
///   of them twice), and two tables that are read once to see whether other pages are left in them.
///
/// A step for `k` entries takes at most `3 k + 64` of them, with what is settled, and owes at most [`WINDOWS`] invalidations.
///
/// # Invariant
/// Between edits every second-level table that is linked maps something. A descriptor that translates is never replaced by another one that
/// translates the same address: it is a fault in between, and the TLBs have been told (break before make). All tables of one edit lie in one
/// placement, and so does every table that it found: what they promise holds for the whole mapping.
#[derive(Debug)]
pub struct Tables<M: TableMemory> {
    pub(super) memory: M,
    pub(super) root: u32,
    split: Split,
    /// Free second-level tables by placement: the first, and how many.
    free: Lists,
    /// The same of tables that have to be cleared before they are used.
    lent: Lists,
    pub(super) job: Job,
    pub(super) debt: Debt,
}

impl<M: TableMemory> Tables<M> {
    /// Empty tables whose first-level table is the memory at `root`, which is the tables' from now on. An edit is under way that clears
    /// it: [`Tables::advance`] until it is done, before `root` is used in `TTBR0`.
    ///
    /// # Errors
    /// [`Refused::Misaligned`] when `root` is not a multiple of [`Split::table_bytes`].
    pub fn new(memory: M, root: PhysAddr<u32>, split: Split) -> Result<Self, Refused> {
        let PhysAddr(root) = root;
        if !root.is_multiple_of(split.table_bytes()) {
            return Err(Refused::Misaligned);
        }
        Ok(Self { memory, root, split, free: [(END, 0); 3], lent: [(END, 0); 3], job: Job::Clear(0), debt: Debt::NONE })
    }

    /// Physical address of the first-level table.
    pub const fn root(&self) -> PhysAddr<u32> {
        PhysAddr(self.root)
    }

    /// `TTBCR.N` for these tables.
    pub const fn split(&self) -> Split {
        self.split
    }

    /// Adds memory for one second-level table, which is the tables' from now on; its contents do not matter.
    ///
    /// # Errors
    /// [`Refused::Misaligned`] unless `at` is a multiple of 1 KiB.
    ///
    /// # Time complexity
    /// 256 stores.
    pub fn give(&mut self, PhysAddr(at): PhysAddr<u32>) -> Result<(), Refused> {
        if !at.is_multiple_of(TABLE_BYTES) {
            return Err(Refused::Misaligned);
        }
        (1..TABLE_ENTRIES).for_each(|index| self.set_word(at + 4 * index, 0));
        self.put_free(at);
        Ok(())
    }

    /// As [`Tables::give`], but an edit that needs it clears it first, in steps of its own: `e` for it is [`TABLE_ENTRIES`] more.
    ///
    /// # Errors
    /// As for [`Tables::give`].
    ///
    /// # Time complexity
    /// A store.
    pub fn lend(&mut self, PhysAddr(at): PhysAddr<u32>) -> Result<(), Refused> {
        if !at.is_multiple_of(TABLE_BYTES) {
            return Err(Refused::Misaligned);
        }
        put(&mut self.memory, &mut self.lent, at);
        Ok(())
    }

    /// Takes memory back that no edit has used or needs.
    ///
    /// # Errors
    /// [`Refused::Busy`] while an edit is under way, which may count on it.
    pub fn take(&mut self, placement: Placement) -> Result<Option<PhysAddr<u32>>, Refused> {
        if !self.is_idle() {
            return Err(Refused::Busy);
        }
        let from = if self.are_clear(1, placement) { &mut self.free } else { &mut self.lent };
        Ok((from[placement as usize].1 > 0).then(|| PhysAddr(take(&mut self.memory, from, placement))))
    }

    /// Second-level tables of a placement that are free.
    pub const fn free(&self, placement: Placement) -> u32 {
        self.free[placement as usize].1 + self.lent[placement as usize].1
    }

    /// Returns true if so many of them are clear.
    pub(super) const fn are_clear(&self, tables: u32, placement: Placement) -> bool {
        self.free[placement as usize].1 >= tables
    }

    pub(super) fn put_free(&mut self, at: u32) {
        put(&mut self.memory, &mut self.free, at);
    }

    /// Takes a table that is clear, and is there. All its entries are faults afterwards.
    pub(super) fn take_free(&mut self, placement: Placement) -> u32 {
        take(&mut self.memory, &mut self.free, placement)
    }

    /// The first table that is to be cleared; one is there.
    pub(super) const fn first_lent(&self, placement: Placement) -> u32 {
        self.lent[placement as usize].0
    }

    /// That table is clear now.
    pub(super) fn make_free(&mut self, placement: Placement) {
        let at = take(&mut self.memory, &mut self.lent, placement);
        self.put_free(at);
    }

    /// Returns true if no edit is under way.
    pub const fn is_idle(&self) -> bool {
        matches!(self.job, Job::Idle) && !self.debt.open
    }

    /// Begins to map `bytes` from `virt` on to physical memory from `phys` on, in the largest pages that fit exactly, through second-level
    /// tables that lie in `placement`.
    ///
    /// # Errors
    /// What can be seen at once; the rest is found by the first steps.
    pub fn map(
        &mut self,
        virt: VirtAddr<u32>,
        PhysAddr(phys): PhysAddr<u32>,
        bytes: Bytes<u32>,
        attributes: Attributes,
        placement: Placement,
    ) -> Result<(), Refused> {
        let pages = u64::from(bytes.0 >> PAGE_LOG2);
        if attributes.is_global() || !attributes.rights().is_user() {
            return Err(Refused::Rights);
        }
        if !phys.is_multiple_of(PAGE_BYTES) {
            return Err(Refused::Misaligned);
        }
        if u64::from(phys >> PAGE_LOG2) + pages > 1 << (32 - PAGE_LOG2) {
            return Err(Refused::Outside);
        }
        let lies = self.memory.placement(self.root());
        if !lies.serves(placement) {
            return Err(Refused::Placement { at: virt, lies });
        }
        self.begin(virt, bytes, placement, Goal::Map { frame: phys >> PAGE_LOG2, attributes })
    }

    /// Begins to unmap `bytes` from `virt` on. A larger page is split if a part of it would be
    /// left, into tables that lie in `placement`.
    ///
    /// # Errors
    /// What can be seen at once; the rest is found by the first steps.
    pub fn unmap(&mut self, virt: VirtAddr<u32>, bytes: Bytes<u32>, placement: Placement) -> Result<(), Refused> {
        self.begin(virt, bytes, placement, Goal::Unmap)
    }

    fn begin(
        &mut self,
        VirtAddr(virt): VirtAddr<u32>,
        Bytes(bytes): Bytes<u32>,
        placement: Placement,
        goal: Goal,
    ) -> Result<(), Refused> {
        if !self.is_idle() {
            return Err(Refused::Busy);
        }
        if !(virt | bytes).is_multiple_of(PAGE_BYTES) || bytes == 0 {
            return Err(Refused::Misaligned);
        }
        let (first, pages) = (virt >> PAGE_LOG2, bytes >> PAGE_LOG2);
        let end = first + pages;
        if end > self.split.pages() {
            return Err(Refused::Outside);
        }
        self.job = Job::Check(Edit { goal, placement, first, end, at: first, tables: 0 });
        Ok(())
    }

    /// Makes a step of about `entries` descriptors, unless one is not settled yet.
    pub(super) fn owe(&mut self, entries: u32) {
        if !self.debt.open {
            self.debt = Debt::NONE;
            self.debt.open = true;
            self.step(entries.clamp(16, 256));
        }
    }

    /// Ends a debt: does what was put off until then. Returns true if that has written descriptors
    /// that walks may use.
    pub(super) fn conclude(&mut self) -> bool {
        let then = self.debt.then;
        self.debt = Debt::NONE;
        match then {
            Then::Nothing => false,
            Then::Link { at, word } => {
                self.set_word(at, word);
                true
            }
            Then::Shatter { at, frame, attributes } => {
                for index in 0..16 {
                    let page = Second::Small(super::Base::of((frame + index) << PAGE_LOG2), attributes);
                    self.set_word(at + 4 * index, page.encode());
                }
                true
            }
            Then::Return(table) => {
                self.put_free(table);
                false
            }
        }
    }

    pub(super) fn progress(&mut self) -> Progress {
        match self.job {
            Job::Idle => Progress::Done,
            Job::Refused(refused) => {
                self.job = Job::Idle;
                Progress::Refused(refused)
            }
            _ => Progress::More,
        }
    }

    /// Reads a descriptor. Tables name each other as descriptors do, by numbers of 32 bits.
    pub(super) fn word(&self, at: u32) -> u32 {
        self.memory.word(PhysAddr(at))
    }

    pub(super) fn set_word(&mut self, at: u32, value: u32) {
        self.memory.set_word(PhysAddr(at), value);
    }

    /// Address of the first-level descriptor of a page.
    pub(super) const fn first_at(&self, page: u32) -> u32 {
        self.root + 4 * (page >> 8)
    }

    /// The first-level descriptor of a page. Only what was encoded is in the tables; anything else would translate nothing.
    pub(super) fn first(&self, page: u32) -> First {
        First::decode(self.word(self.first_at(page))).unwrap_or(First::Fault)
    }

    pub(super) fn second(&self, at: u32) -> Second {
        Second::decode(self.word(at)).unwrap_or(Second::Fault)
    }
}

/// Tables by placement: the first, whose first word is the address of the next, and how many.
type Lists = [(u32, u32); 3];

fn put<M: TableMemory>(memory: &mut M, lists: &mut Lists, at: u32) {
    let (head, count) = &mut lists[memory.placement(PhysAddr(at)) as usize];
    memory.set_word(PhysAddr(at), *head);
    (*head, *count) = (at, *count + 1);
}

/// Takes the first, which is there; its first word is zero then.
fn take<M: TableMemory>(memory: &mut M, lists: &mut Lists, placement: Placement) -> u32 {
    let (head, count) = &mut lists[placement as usize];
    let at = *head;
    *head = memory.word(PhysAddr(at));
    *count -= 1;
    memory.set_word(PhysAddr(at), 0);
    at
}
