//! A processor with page tables and a TLB that keeps whatever it was ever shown until it is told to forget, and that is shown everything
//! that a domain can reach whenever one has run. An entry that is not what a walk would find now is a violation, used or not.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::vec::Vec;

use protect::AccessKind;
use protect::vmsav7::{Asid, Attributes, First, LOCK_SLOTS, Maintenance, Placement, Privilege, Second, Split, Unit};
use system::build::{Builder, SchemeTables};
use system::vmsav7::{Caches, Tables};
use system::{Area, Frames, area, frames};
use units::{PhysAddr, VirtAddr};

use super::{Guard, Machine, Part};
use crate::Kernel;
use crate::pages::PageArch;
use crate::pages::Pages;

/// Tables on the chip begin here, those off it at [`FAR`], and before that is memory that lies in locked ways of the cache.
pub const NEAR: u32 = 0xfffe_0000;
pub const WAYS: u32 = 0x6ff0_0000;
pub const FAR: u32 = 0x7000_0000;
const NEAR_BYTES: u32 = 0x1_8000;
const FAR_BYTES: u32 = 0x1_0000;
const ENTRIES: usize = 256;

/// Entry that a walk finds: first virtual and physical address, and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub virt: u32,
    pub physical: u32,
    pub unit: Unit,
    pub attributes: Attributes,
}

/// Everything that a root translates, when the tables had this version.
type Units = BTreeMap<u32, (u64, Rc<Vec<Entry>>)>;

/// One KiB of the memory of tables: as it was stored, and as walks see it.
struct Block {
    words: [u32; 256],
    seen: [u32; 256],
}

#[derive(Default)]
struct Memory {
    blocks: BTreeMap<u32, Block>,
    /// Words that walks do not see as they were stored.
    pending: BTreeSet<u32>,
    /// Changes when walks see something else, so that what they translate is computed once for each
    /// version.
    version: u64,
    units: Units,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// The tables of the system before are gone.
pub fn forget_tables() {
    MEMORY.with_borrow_mut(|memory| *memory = Memory::default());
}

impl Memory {
    fn block(&mut self, at: u32) -> &mut Block {
        self.blocks.entry(at / 1024).or_insert_with(|| Block { words: [u32::MAX; 256], seen: [u32::MAX; 256] })
    }

    fn table(&self, at: u32) -> &[u32; 256] {
        &self.blocks.get(&(at / 1024)).unwrap_or_else(|| panic!("a walk reads {at:#x}, which is no table")).seen
    }

    fn seen(&self, at: u32) -> u32 {
        self.table(at)[at as usize / 4 % 256]
    }

    fn walk(&self, root: u32, virt: u32) -> Option<Entry> {
        let entry = |physical: u32, unit: Unit, attributes| {
            Some(Entry { virt: virt & !(unit.bytes() - 1), physical, unit, attributes })
        };
        if virt >= 1 << 31 {
            return None;
        }
        match First::decode(self.seen(root + 4 * (virt >> 20))).expect("a descriptor") {
            First::Fault => None,
            First::Section(base, attributes) => entry(base.address(), Unit::Section, attributes),
            First::Supersection(..) => panic!("nobody makes these"),
            First::Table(table) => match Second::decode(self.seen(table.address() + 4 * (virt >> 12 & 255))) {
                Ok(Second::Fault) => None,
                Ok(Second::Small(base, attributes)) => entry(base.address(), Unit::Small, attributes),
                Ok(Second::Large(base, attributes)) => entry(base.address(), Unit::Large, attributes),
                Err(word) => panic!("{word:x?} is no descriptor"),
            },
        }
    }

    fn units(&mut self, root: u32) -> Rc<Vec<Entry>> {
        if let Some((version, units)) = self.units.get(&root)
            && *version == self.version
        {
            return Rc::clone(units);
        }
        let mut units = Vec::new();
        let firsts = (0..8).flat_map(|part| self.table(root + 1024 * part).iter());
        for (mib, _) in firsts.enumerate().filter(|(_, word)| **word & 3 != 0) {
            let mut at = (mib as u32) << 20;
            while at < (mib as u32 + 1) << 20 {
                let found = self.walk(root, at);
                at += found.map_or(0x1000, |entry| entry.unit.bytes());
                units.extend(found);
            }
        }
        let units = Rc::new(units);
        self.units.insert(root, (self.version, Rc::clone(&units)));
        units
    }

    /// Returns true if a walk from this root can read this word.
    fn is_walked(&self, root: u32, at: u32) -> bool {
        let table = |mib: u32| match First::decode(self.seen(root + 4 * mib)) {
            Ok(First::Table(table)) => (table.address()..table.address() + 1024).contains(&at),
            _ => false,
        };
        (root..root + 8192).contains(&at) || (0..2048).any(table)
    }
}

pub fn units(protection: &Pages<Machine<Pager>>) -> Rc<Vec<Entry>> {
    match protection.space() {
        Some((PhysAddr(root), _)) => MEMORY.with_borrow_mut(|memory| memory.units(root)),
        None => Rc::default(),
    }
}

#[derive(Default)]
pub struct Pager {
    space: Option<(PhysAddr<u32>, Asid)>,
    pub tlb: Vec<(Asid, Entry)>,
    pub locked: [Option<(Asid, Entry)>; LOCK_SLOTS],
    /// Entries were invalidated, and the kernel has not waited for it yet.
    waiting: bool,
    /// Invalidations so far, those of them that removed an entry by its address, and the one that is lost.
    pub invalidations: u32,
    pub needed: Vec<u32>,
    pub lost: Option<u32>,
    /// State in which everything was checked last.
    checked: Option<Checked>,
}

/// Version of the tables and words that walks do not see, invalidations, and the space that is loaded.
type Checked = ((u64, usize), u32, Option<(PhysAddr<u32>, Asid)>);

impl Pager {
    fn forget(&mut self, which: impl Fn(Asid, &Entry) -> bool) {
        self.invalidations += 1;
        self.waiting = true;
        if self.lost != Some(self.invalidations) {
            self.tlb.retain(|(asid, entry)| !which(*asid, entry));
            let out = |slot: &Option<(Asid, Entry)>| slot.is_some_and(|(asid, entry)| which(asid, &entry));
            self.locked.iter_mut().filter(|slot| out(slot)).for_each(|slot| *slot = None);
        }
    }

    fn held(&self) -> impl Iterator<Item = &(Asid, Entry)> {
        self.tlb.iter().chain(self.locked.iter().flatten())
    }

    /// Entry by which the thread that runs reaches an address; the TLB keeps it.
    pub fn translate(&mut self, address: u32) -> Option<Entry> {
        let (PhysAddr(root), own) = self.space?;
        let holds = |entry: &Entry| address & !(entry.unit.bytes() - 1) == entry.virt;
        if let Some((_, entry)) = self.held().find(|(asid, entry)| *asid == own && holds(entry)) {
            return Some(*entry);
        }
        let found = MEMORY.with_borrow(|memory| memory.walk(root, address))?;
        if self.tlb.len() == ENTRIES {
            self.tlb.remove(0);
        }
        self.tlb.push((own, found));
        Some(found)
    }
}

impl Maintenance for Machine<Pager> {
    fn publish(&mut self) {
        MEMORY.with_borrow_mut(|memory| {
            for at in std::mem::take(&mut memory.pending) {
                let (block, index) = (memory.block(at), at as usize / 4 % 256);
                block.seen[index] = block.words[index];
            }
            memory.version += 1;
        });
    }
    fn invalidate_page(&mut self, asid: Asid, VirtAddr(address): VirtAddr<u32>) {
        let published = MEMORY.with_borrow(|memory| memory.pending.is_empty());
        assert!(published, "invalidated before walks see what was written");
        let which = |own: Asid, entry: &Entry| own == asid && address & !(entry.unit.bytes() - 1) == entry.virt;
        if self.kind.held().any(|(own, entry)| which(*own, entry)) {
            self.kind.needed.push(self.kind.invalidations + 1);
        }
        self.kind.forget(which);
    }
    fn invalidate_space(&mut self, asid: Asid) {
        self.kind.forget(|own, _| own == asid);
    }
    fn complete(&mut self) {
        self.kind.waiting = false;
    }
}

// SAFETY: it only records.
unsafe impl PageArch for Machine<Pager> {
    const SPLIT: Split = Split::Half;

    unsafe fn table_word(PhysAddr(at): PhysAddr<u32>) -> u32 {
        MEMORY.with_borrow_mut(|memory| memory.block(at).words[at as usize / 4 % 256])
    }
    unsafe fn set_table_word(PhysAddr(at): PhysAddr<u32>, value: u32) {
        MEMORY.with_borrow_mut(|memory| {
            let word = &mut memory.block(at).words[at as usize / 4 % 256];
            let old = std::mem::replace(word, value);
            let is_valid = |word: u32| word & 3 != 0;
            assert!(old == value || !is_valid(old) || !is_valid(value), "{at:#x}: {old:#x} becomes {value:#x} at once");
            memory.pending.insert(at);
        });
    }
    fn placement(at: PhysAddr<u32>) -> Placement {
        match at.0 {
            NEAR.. => Placement::OnChip,
            WAYS..FAR => Placement::LockedWays,
            _ => Placement::OffChip,
        }
    }
    fn load_space(&mut self, space: Option<(PhysAddr<u32>, Asid)>) {
        self.kind.space = space;
    }
    fn lock_entry(&mut self, slot: usize, root: PhysAddr<u32>, asid: Asid, VirtAddr(address): VirtAddr<u32>) {
        self.kind.forget(|own, entry| own == asid && address & !(entry.unit.bytes() - 1) == entry.virt);
        self.kind.waiting = false;
        let found = MEMORY.with_borrow(|memory| memory.walk(root.0, address)).expect("only what is mapped is locked");
        self.kind.locked[slot] = Some((asid, found));
    }
}

impl Guard for Pager {
    type Protection = Pages<Machine<Self>>;
    const PARTLY: bool = true;
    const SMALLEST_LOG2: u32 = 12;

    fn idle() {}

    /// Physical addresses go round among the areas of the same size, so that they are not the virtual ones.
    fn adapt(builder: &Builder) -> Builder {
        forget_tables();
        let mut builder = builder.clone();
        let own = |index: u32| Tables {
            root: NEAR + 0x2000 * index,
            near_base: NEAR + 0x1_0000 + 0x1000 * index,
            near_bytes: 0x1000,
            far_base: FAR + 0x1000 * index,
            far_bytes: 0x1000,
        };
        let domains = (0..builder.domains.len() as u32).map(own).collect();
        builder.scheme = SchemeTables::Vmsav7 { caches: Caches::default(), domains };
        builder.frames.push(Frames { base: NEAR, bytes: NEAR_BYTES, kind: frames::KERNEL, marks: 0 });
        builder.frames.push(Frames { base: FAR, bytes: FAR_BYTES, kind: frames::KERNEL, marks: 0 });
        let before = builder.areas.clone();
        let moves = |area: &Area| area.flags & area::WRITE != 0 && area.memory == area::NORMAL;
        for (index, area) in builder.areas.iter_mut().enumerate() {
            let like = |other: &&Area| moves(other) && other.bytes == area.bytes && other.base >> 20 == area.base >> 20;
            let next = before.iter().cycle().skip(index + 1).take(before.len()).find(like);
            area.physical = if moves(area) { next.unwrap().base } else { area.base };
            // Tests say both of what is to be locked: what region registers pin has its tables on the chip.
            area.flags = match area.flags & (area::PINNED | area::NEAR) {
                area::PINNED => area.flags ^ area::PINNED ^ area::NEAR,
                0 | area::NEAR => area.flags,
                _ => area.flags & !area::NEAR,
            };
            // As the kernel has it.
            area.memory = if area.memory == area::DEVICE { area::DEVICE } else { area::NORMAL };
        }
        builder
    }

    fn is_loaded(&self, protection: &Self::Protection) -> bool {
        self.space == protection.space()
    }

    fn uses(protection: &Self::Protection, physical: u32) -> usize {
        units(protection).iter().filter(|entry| physical.wrapping_sub(entry.physical) < entry.unit.bytes()).count()
    }

    fn touches(kernel: &mut Kernel<Machine<Self>>, address: u32) {
        kernel.arch.kind.translate(address);
    }

    fn accesses(kernel: &mut Kernel<Machine<Self>>, address: u32, bytes: u32, kind: AccessKind) -> Option<[u32; 2]> {
        let mut at = |address: u32| {
            let entry = kernel.arch.kind.translate(address)?;
            let permits = entry.attributes.rights().permits(Privilege::User, kind);
            permits.then_some(entry.physical + (address - entry.virt))
        };
        Some([at(address)?, at(address.checked_add(bytes - 1)?)?])
    }

    fn check(kernel: &mut Kernel<Machine<Self>>) {
        let version = MEMORY.with_borrow(|memory| (memory.version, memory.pending.len()));
        let now = (version, kernel.arch.kind.invalidations, kernel.arch.kind.space);
        if kernel.arch.kind.checked == Some(now) {
            return;
        }
        kernel.arch.kind.checked = Some(now);
        translations(kernel);
        let running = units(&kernel.domains.at(kernel.top().domain).protection);
        for entry in running.iter() {
            kernel.arch.kind.translate(entry.virt);
        }
    }

    fn check_memory(kernel: &Kernel<Machine<Self>>) {
        for (index, domain) in kernel.domains.iter().enumerate() {
            for entry in units(&domain.protection).iter() {
                owned(kernel, index, entry);
            }
        }
    }

    /// As many pages as the size says, or some more, at one of two places.
    fn mapping(physical: u32, log2: u32, odd: u32) -> Part {
        let more = if odd % 8 == 7 { odd >> 3 & 3 } else { 0 };
        let pages = ((1_u32 << log2.min(31)) / 0x1000).clamp(1, 256) + more;
        let page = physical & !0xfff;
        Part { at: page + (odd & 1) * 0x10_0000, physical: page, bytes: pages * 0x1000 }
    }
}

/// Nothing is owed: walks see what was written, and no TLB holds anything else.
pub fn translations(kernel: &Kernel<Machine<Pager>>) {
    assert!(!kernel.arch.kind.waiting, "nobody has waited for an invalidation");
    MEMORY.with_borrow(|memory| {
        let spaces: Vec<(PhysAddr<u32>, Asid)> =
            kernel.domains.iter().filter_map(|domain| domain.protection.space()).collect();
        for at in &memory.pending {
            let walked = spaces.iter().any(|(root, _)| memory.is_walked(root.0, *at));
            assert!(!walked, "walks do not see what {at:#x} became");
        }
        for (asid, entry) in kernel.arch.kind.held() {
            let space = spaces.iter().find(|(_, own)| own == asid);
            let now = space.and_then(|(root, _)| memory.walk(root.0, entry.virt));
            assert_eq!(now, Some(*entry), "a TLB holds a stale entry of space {asid:?}");
        }
    });
    for (slot, held) in kernel.shared.held().into_iter().enumerate() {
        let locked = kernel.arch.kind.locked[slot].map(|(asid, entry)| (asid, VirtAddr(entry.virt)));
        // An entry that is on its way out is nobody's any more.
        let leaves = held.is_none() && kernel.edit.is_some();
        assert!(held == locked || leaves, "slot {slot} of the TLB holds {locked:x?}, not {held:x?}");
    }
}

/// Memory that a domain reaches is neither the kernel's nor another domain's own.
fn owned(kernel: &Kernel<Machine<Pager>>, index: usize, entry: &Entry) {
    let (first, end) = (u64::from(entry.physical), u64::from(entry.physical) + u64::from(entry.unit.bytes()));
    let meets = |base: u32, bytes: u32| first < u64::from(base) + u64::from(bytes) && u64::from(base) < end;
    assert!(entry.attributes.rights().is_user() && !entry.attributes.is_global(), "{entry:x?}");
    for range in kernel.tables.all::<Frames>().filter(|range| range.kind == frames::KERNEL) {
        assert!(!meets(range.base, range.bytes), "domain {index} reaches the kernel: {entry:x?}");
    }
    for area in kernel.tables.all::<Area>().filter(|area| area.domain != index as u32) {
        let shared = area.flags & area::SHARED != 0;
        assert!(shared || !meets(area.physical, area.bytes), "domain {index} reaches {area:x?}: {entry:x?}");
    }
}
