//! Processors with an MMU of the soft core.

use core::marker::PhantomData;

use ::rtmmu::Translation;
use protect::AccessKind;
use system::build::{Builder, SchemeTables};
use system::rtmmu::{BASE, Hardware, Mmu as Number, PAGE, Space};
use system::{Area, Cap, Domain, Frames, System, area, frames};
use units::{PhysAddr, VirtAddr};

use super::tables::{ENTRIES_LOG2, Entry, MEMORY, PAGES_LOG2, WINDOW_BYTES, WINDOWS, forget_spaces, mapped};
use super::{Guard, Machine, Part};
use crate::Kernel;
use crate::arch::Protection;
use crate::rtmmu::{self, Loaded, Mmu, RtmmuArch, Spaces, TableMemory};

/// Virtual regions trees.
pub const TREES: u32 = 0x7800_0000;
const TREE_BYTES: u32 = 0x1000;
pub const DEVICES: core::ops::Range<u32> = 0x1000_0000..0x2000_0000;
pub const DEMAND_PAGES: u32 = 40;

pub const R: u32 = 1;
pub const RW: u32 = 3;
pub const RX: u32 = 5;

const TABLES: TableMemory = TableMemory { windows: WINDOWS, entries_log2: ENTRIES_LOG2 };

pub struct Spaced<K> {
    loaded: Option<Loaded>,
    /// State in which everything was checked last.
    checked: Option<(u64, Option<Loaded>)>,
    kind: PhantomData<K>,
}

impl<K> Default for Spaced<K> {
    fn default() -> Self {
        Spaced { loaded: None, checked: None, kind: PhantomData }
    }
}

pub type Rtmmu = Spaced<rtmmu::Rtmmu>;
pub type Direct = Spaced<rtmmu::Direct>;
pub type Sv32 = Spaced<rtmmu::Sv32>;

impl<K: Mmu> Spaced<K> {
    /// A region is released in one step, whatever its size.
    pub const AT_ONCE: bool = <K::Tables<Machine<Self>> as Translation>::PAGES_AT_ONCE.is_none();

    /// Physical address of an access of the thread that runs, if it is admitted.
    pub fn translate(&self, address: u32, kind: AccessKind) -> Option<u32> {
        let page = address.checked_sub(BASE)? / PAGE;
        let found = MEMORY.with_borrow(|memory| memory.look_up(self.loaded?, page))?;
        let right = match kind {
            AccessKind::Read => 1,
            AccessKind::Write => 2,
            AccessKind::Exec => 4,
        };
        (found.rights & right != 0).then(|| found.physical() + address % PAGE)
    }
}

// SAFETY: it only records.
unsafe impl<K: Mmu> RtmmuArch for Machine<Spaced<K>> {
    type Tables = K::Tables<Self>;
    const MMU: Number = K::NUMBER;

    unsafe fn tables(own: &Space) -> (Self::Tables, Loaded) {
        // SAFETY: the caller's duty.
        unsafe { K::tables(TABLES, own) }
    }
    unsafe fn table_word(PhysAddr(at): PhysAddr<u32>) -> u32 {
        MEMORY.with_borrow(|memory| memory.word(at))
    }
    unsafe fn set_table_word(PhysAddr(at): PhysAddr<u32>, value: u32) {
        MEMORY.with_borrow_mut(|memory| memory.set(at, value));
    }
    fn forget_entries() {
        MEMORY.with_borrow_mut(|memory| memory.copied = false);
    }
    fn is_memory(at: PhysAddr<u32>) -> bool {
        !DEVICES.contains(&at.0)
    }
    fn load_space(&mut self, space: Option<Loaded>) {
        self.kind.loaded = space;
        Self::forget_entries();
    }
}

/// The contents of the registers while a domain runs.
fn loaded(mmu: Number, own: &Space) -> Loaded {
    Loaded { first: mmu.base(WINDOWS[2], own), pages_log2: own.pages_log2 }
}

/// Part of the tables that the block says is a domain's; none for the idle loop.
pub fn own(tables: &System<'_>, index: usize) -> Option<Loaded> {
    let own = |index| tables.own_domain::<system::rtmmu::Rtmmu>(index);
    let mmu = Number::from_number(tables.own::<system::rtmmu::Rtmmu>().mmu).unwrap();
    (index < tables.count::<Domain>()).then(|| loaded(mmu, &own(index)))
}

impl<K: Mmu> Guard for Spaced<K> {
    type Protection = Spaces<Machine<Self>>;
    const PARTLY: bool = true;
    const SMALLEST_LOG2: u32 = 12;

    fn idle() {}

    /// In the upper half. Three bits change places, so that what lies far apart on a chip needs few pages.
    fn address(address: u32) -> u32 {
        let (far, near) = (address >> 28 & 7, address >> 22 & 7);
        (address & !(7 << 28 | 7 << 22) | near << 28 | far << 22) ^ BASE
    }

    /// Physical addresses go round among the areas of the same size, so that a test that takes
    /// addresses for physical ones fails.
    fn adapt(builder: &Builder) -> Builder {
        forget_spaces(K::NUMBER);
        let (mut builder, before) = (builder.clone(), builder.areas.clone());
        let count = builder.domains.len() as u32;
        builder.frames.push(Frames { base: TREES, bytes: 2 * count * TREE_BYTES, kind: frames::KERNEL, marks: 0 });
        let links = |index: u32| TREES + (count + index) * TREE_BYTES;
        let on_demand = |index: &u32| before.iter().any(|area| area.domain == *index && area.flags & area::DEMAND != 0);
        let own = |index: u32| Space {
            // Sv32 takes four entries for each page.
            first: index << (PAGES_LOG2 + 3),
            pages_log2: PAGES_LOG2 + index % 2,
            tree: TREES + index * TREE_BYTES,
            demand_pages: Some(index).filter(on_demand).map_or(0, |_| DEMAND_PAGES),
            links: links(index),
        };
        let hardware = Hardware { entries_log2: ENTRIES_LOG2, mmu: K::NUMBER as u32, entries: WINDOWS[2] };
        builder.scheme = SchemeTables::Rtmmu { hardware, domains: (0..count).map(own).collect() };
        let moves =
            |area: &Area| area.flags & (area::WRITE | area::DEMAND) == area::WRITE && area.memory == area::NORMAL;
        for (index, area) in builder.areas.iter_mut().enumerate() {
            let like = |other: &&Area| moves(other) && other.bytes == area.bytes && other.base >> 20 == area.base >> 20;
            let next = before.iter().cycle().skip(index + 1).take(before.len()).find(like);
            area.physical = if moves(area) { next.unwrap().base } else { area.base };
            area.base = Self::address(area.base);
            area.flags &= !(area::PINNED | area::NEAR);
            area.memory = if area.memory == area::DEVICE { area::DEVICE } else { area::NORMAL };
        }
        let address = |address: &mut u32| *address = Self::address(*address);
        // No bit of an address says how instructions are encoded.
        let code = |entry: &mut u32| *entry = Self::address(*entry & !1);
        for domain in &mut builder.domains {
            [&mut domain.data_base, &mut domain.info].into_iter().for_each(address);
            code(&mut domain.gate_return);
        }
        let threads = builder.threads.iter_mut().map(|thread| (&mut thread.entry, &mut thread.stack_base));
        let gates = builder.gates.iter_mut().map(|gate| (&mut gate.entry, &mut gate.stack_base));
        for (entry, stack) in threads.chain(gates) {
            code(entry);
            address(stack);
        }
        builder
    }

    fn is_loaded(&self, protection: &Self::Protection) -> bool {
        self.loaded == protection.loaded()
    }

    fn uses(protection: &Self::Protection, physical: u32) -> usize {
        mapped(protection.loaded()).iter().filter(|entry| entry.frame == physical / PAGE).count()
    }

    /// The kernel finds for a copy what the hardware finds, but for registers.
    fn touches(kernel: &mut Kernel<Machine<Self>>, address: u32) {
        let address = Self::address(address);
        let protection = &kernel.domains.at(kernel.top().domain).protection;
        for kind in [AccessKind::Read, AccessKind::Write] {
            let found = kernel.arch.kind.translate(address, kind).filter(|at| !DEVICES.contains(at));
            let told = protection.physical(VirtAddr(address), kind).map(|(at, _)| at.0);
            assert_eq!(told, found, "{kind:?} at {address:#x}");
        }
    }

    fn accesses(kernel: &mut Kernel<Machine<Self>>, address: u32, bytes: u32, kind: AccessKind) -> Option<[u32; 2]> {
        let mut at = |address: u32| {
            // A frame is cleared in pieces before its page is there.
            while kernel.arch.kind.translate(address, kind).is_none() {
                kernel.on_touch(VirtAddr(address), kind).then_some(())?;
            }
            kernel.arch.kind.translate(address, kind)
        };
        Some([at(address)?, at(address.checked_add(bytes - 1)?)?])
    }

    fn check(kernel: &mut Kernel<Machine<Self>>) {
        let here = kernel.here();
        let running = own(&kernel.tables, usize::from(here)).filter(|_| kernel.is_loaded(here));
        let loaded = kernel.arch.kind.loaded;
        assert_eq!(loaded, running, "another domain's entries are in force");
        assert!(!MEMORY.with_borrow(|memory| memory.copied), "a TLB may hold an entry that was removed");
        let now = (MEMORY.with_borrow(|memory| memory.version), loaded);
        if kernel.arch.kind.checked != Some(now) {
            kernel.arch.kind.checked = Some(now);
            Self::check_memory(kernel);
        }
    }

    fn check_memory(kernel: &Kernel<Machine<Self>>) {
        for index in 0..kernel.tables.count::<Domain>() {
            let entries = mapped(own(&kernel.tables, index));
            entries.iter().for_each(|entry| admissible(&kernel.tables, index, *entry));
            complete(&kernel.tables, index, &entries);
        }
    }

    /// As many pages as the size says, or some more, at one of three places, of which not every domain has the last.
    fn mapping(physical: u32, log2: u32, odd: u32) -> Part {
        let more = if odd % 8 == 7 { odd >> 3 & 3 } else { 0 };
        let pages = ((1_u32 << log2.min(31)) / PAGE).clamp(1, 256) + more;
        let physical = physical & !(PAGE - 1);
        let place = if odd % 32 == 31 { 0x80_0000 } else { (odd & 1) * 0x10_0000 };
        Part { at: Self::address(physical).wrapping_add(place), physical, bytes: pages * PAGE }
    }
}

pub fn rights(area: &Area) -> u32 {
    match area.flags & (area::WRITE | area::EXECUTE) {
        0 => R,
        area::WRITE => RW,
        _ => RX,
    }
}

/// A page of a domain is not the kernel's memory, nor another domain's own; and it is part of an area of its own, or of memory that can be
/// mapped while domains run.
fn admissible(tables: &System<'_>, index: usize, entry: Entry) {
    let (first, end) = (u64::from(entry.physical()), u64::from(entry.physical()) + u64::from(PAGE));
    let meets = |base: u32, bytes: u32| first < u64::from(base) + u64::from(bytes) && u64::from(base) < end;
    for window in WINDOWS {
        assert!(!meets(window, WINDOW_BYTES), "domain {index} reaches the tables: {entry:x?}");
    }
    for range in tables.all::<Frames>().filter(|range| range.kind == frames::KERNEL) {
        assert!(!meets(range.base, range.bytes), "domain {index} reaches the kernel: {entry:x?}");
    }
    for area in tables.all::<Area>().filter(|area| area.domain != index as u32) {
        let shared = area.flags & area::SHARED != 0;
        assert!(shared || !meets(area.physical, area.bytes), "domain {index} reaches {area:x?}: {entry:x?}");
    }
    let begins = |area: &Area| {
        let (at, within) = (entry.address().wrapping_sub(area.base), entry.physical().wrapping_sub(area.physical));
        area.domain == index as u32 && at == within && at < area.bytes && entry.rights == rights(area)
    };
    let lent = |range: Frames| range.kind == frames::USER && meets(range.base, range.bytes);
    let admitted = matches!(entry.rights, R | RW) && tables.all::<Frames>().any(lent);
    assert!(admitted || tables.all::<Area>().any(|area| begins(&area)), "domain {index} has {entry:x?}");
}

/// Areas that nobody can take away are there, every page, but for those that are mapped at their first touch.
fn complete(tables: &System<'_>, index: usize, entries: &[Entry]) {
    let held = |at: u32| tables.all::<Cap>().any(|cap| cap.kind == abi::Kind::Frames as u32 && cap.object == at);
    let whole = |area: &Area| area.domain == index as u32 && area.flags & area::DEMAND == 0;
    for area in tables.all::<Area>().filter(whole) {
        let within = |range: &Frames| area.physical.wrapping_sub(range.base) < range.bytes;
        let range = tables.all::<Frames>().position(|range| within(&range)).unwrap();
        for offset in (0..area.bytes).step_by(PAGE as usize).filter(|_| !held(range as u32)) {
            let (page, frame) = ((area.base - BASE + offset) / PAGE, (area.physical + offset) / PAGE);
            let there = entries.contains(&Entry { page, frame, rights: rights(&area) });
            assert!(there, "domain {index} lacks {:#x} of {area:x?}", area.base + offset);
        }
    }
}
