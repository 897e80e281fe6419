//! The kernel's page tables (`protect::vmsav7`) under the modelled core: random edits of two address spaces with the maintenance that
//! they ask for are never blamed, and each operation left out is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use protect::MemType;
use protect::vmsav7::{Asid, Attributes, Maintenance, Placement, Progress, Rights, Split, TableMemory};
use timing::Profile;
use timing::application::{Access, MemorySystem, Violation};
use timing::cp15::{CacheOperation, Operation, TlbOperation};
use timing::mmu::{Found, Missing};
use timing::vmsa::Tables;
use units::{Bytes, PhysAddr, VirtAddr};

/// First-level tables of the two domains and of the kernel, in on-chip RAM; second-level tables behind them.
const ROOTS: [u32; 2] = [0xFFFC_0000, 0xFFFC_1000];
const KERNEL_ROOT: u32 = 0xFFFC_4000;
const SECOND: u32 = 0xFFFC_8000;
/// The range that domains map, and its frames.
const AREA: u32 = 0x1230_0000;
const PAGES: u32 = 64;
const FRAMES: u32 = 0x0300_0000;
/// Write-back, write-allocate section for the kernel, in every space.
const KERNEL_SECTION: u32 = 1 << 12 | 1 << 10 | 0b1110;

/// The operation that is left out.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    Page,
    Complete,
    Clean,
    Asid,
}

/// The copy of the tables that an observer keeps.
#[derive(Default)]
struct Copied {
    words: BTreeMap<u32, u32>,
    stores: u64,
}

impl Tables for Copied {
    fn descriptor(&self, addr: u32) -> Option<u32> {
        self.words.get(&addr).copied()
    }

    fn generation(&self) -> u64 {
        self.stores
    }
}

struct World {
    system: MemorySystem,
    copied: Copied,
    fault: Fault,
    /// Lines of tables stored to and not cleaned.
    changed: Vec<u32>,
    violations: Vec<Violation>,
}

impl World {
    fn operate(&mut self, operation: Operation) {
        self.system.operate(operation, &self.copied);
    }

    fn access(&mut self, virt: u32, store: bool) -> Found {
        let charge = self.system.data(Access { virt, phys: None, beyond: None, size: 4, store }, &self.copied);
        self.violations.extend(charge.violation);
        charge.found
    }
}

#[derive(Clone)]
struct Shared(Rc<RefCell<World>>);

impl TableMemory for Shared {
    fn word(&self, PhysAddr(at): PhysAddr<u32>) -> u32 {
        self.0.borrow().copied.words.get(&at).copied().unwrap_or(0)
    }

    /// The kernel stores through its own mapping of on-chip RAM; the observer sees it.
    fn set_word(&mut self, PhysAddr(at): PhysAddr<u32>, value: u32) {
        let world = &mut *self.0.borrow_mut();
        world.access(at, true);
        world.copied.words.insert(at, value);
        world.copied.stores += 1;
        world.changed.push(at);
    }

    fn placement(&self, _: PhysAddr<u32>) -> Placement {
        Placement::OnChip
    }
}

impl Maintenance for Shared {
    fn publish(&mut self) {
        let world = &mut *self.0.borrow_mut();
        for addr in core::mem::take(&mut world.changed) {
            if world.fault != Fault::Clean {
                world.operate(Operation::Cache(CacheOperation::DataLine { addr, clean: true, invalidate: false }));
            }
        }
        world.operate(Operation::SyncBarrier);
    }

    fn invalidate_page(&mut self, asid: Asid, VirtAddr(addr): VirtAddr<u32>) {
        let world = &mut *self.0.borrow_mut();
        if world.fault != Fault::Page {
            world.operate(Operation::Tlb(TlbOperation::Address { addr, asid: asid.number() }));
        }
    }

    fn invalidate_space(&mut self, asid: Asid) {
        let world = &mut *self.0.borrow_mut();
        if world.fault != Fault::Asid {
            world.operate(Operation::Tlb(TlbOperation::Asid(asid.number())));
        }
    }

    fn complete(&mut self) {
        let world = &mut *self.0.borrow_mut();
        if world.fault != Fault::Complete {
            world.operate(Operation::SyncBarrier);
        }
    }
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % u64::from(n)) as u32
    }
}

fn profile() -> Profile {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = timing::profile::read_text(&root.join("chips/xc7z020.toml"), &root.join("cores")).unwrap();
    toml::from_str(&text.profile).unwrap()
}

/// Two domains with empty tables in the lowest GiB, and the kernel above them. `walks` are the cache bits of TTBR.
struct Rig {
    shared: Shared,
    tables: [protect::vmsav7::Tables<Shared>; 2],
    walks: u32,
    running: usize,
}

impl Rig {
    fn new(fault: Fault, walks: u32) -> Self {
        let mut copied = Copied::default();
        copied.words.insert(KERNEL_ROOT + 0x3FFC, 0xFFF0_0000 | KERNEL_SECTION);
        for at in (ROOTS[0]..ROOTS[1] + 0x1000).step_by(4) {
            copied.words.insert(at, 0);
        }
        let system = MemorySystem::new(&profile()).unwrap();
        let mut world = World { system, copied, fault, changed: Vec::new(), violations: Vec::new() };
        let setup = [
            Operation::Table0(ROOTS[0] | walks),
            Operation::Table1(KERNEL_ROOT | walks),
            Operation::TableControl(2),
            Operation::ContextId(1),
            Operation::Control(1 << 12 | 1 << 2 | 1),
        ];
        setup.into_iter().for_each(|operation| world.operate(operation));
        let shared = Shared(Rc::new(RefCell::new(world)));
        let tables = [0, 1].map(|n| {
            let mut tables = protect::vmsav7::Tables::new(shared.clone(), PhysAddr(ROOTS[n]), Split::Quarter).unwrap();
            for table in 0..4 {
                tables.give(PhysAddr(SECOND + (n as u32 * 4 + table) * 1024)).unwrap();
            }
            tables
        });
        let mut rig = Self { shared, tables, walks, running: 0 };
        for n in 0..2 {
            assert_eq!(rig.finish(n), Progress::Done);
        }
        rig
    }

    fn finish(&mut self, n: usize) -> Progress {
        loop {
            let owed = self.tables[n].advance(16);
            match owed.settle(Asid::new(n as u8 + 1), &mut self.shared.clone()) {
                Progress::More => {}
                end => return end,
            }
        }
    }

    /// Switches to a domain by way of identifier 0 (DDI 0406 B3.10.4).
    fn switch(&mut self, n: usize) {
        let world = &mut *self.shared.0.borrow_mut();
        for operation in
            [Operation::ContextId(0), Operation::Table0(ROOTS[n] | self.walks), Operation::ContextId(n as u32 + 1)]
        {
            world.operate(operation);
        }
        self.running = n;
    }

    /// A random edit of one domain, and then random accesses of another.
    fn step(&mut self, random: &mut Rng) -> bool {
        let (n, page) = (random.below(2) as usize, random.below(PAGES));
        let bytes = (1 + random.below(4)) << 12;
        let virt = AREA + (page << 12);
        let data = Attributes::new(Rights::UserData, MemType::WriteBack, false, false).unwrap();
        let begun = if random.below(2) == 0 {
            self.tables[n].map(
                VirtAddr(virt),
                PhysAddr(FRAMES + (random.below(256) << 12)),
                Bytes(bytes),
                data,
                Placement::OnChip,
            )
        } else {
            self.tables[n].unmap(VirtAddr(virt), Bytes(bytes), Placement::OnChip)
        };
        let done = begun.is_ok() && self.finish(n) == Progress::Done;
        self.switch(random.below(2) as usize);
        for _ in 0..16 {
            let virt = AREA + (random.below(PAGES + 4) << 12);
            self.shared.0.borrow_mut().access(virt, random.below(2) == 0);
        }
        done
    }

    fn violations(&self) -> Vec<Violation> {
        self.shared.0.borrow().violations.clone()
    }
}

/// Walks that look into both caches, into level 2 only, and into none.
const WALKS: [u32; 3] = [0x48, 0x08, 0];

/// Random edits of two spaces: hundreds succeed, thousands of accesses hit every level, nothing is blamed.
#[test]
fn correct_maintenance_is_never_blamed() {
    for (seed, walks) in WALKS.into_iter().enumerate() {
        let mut rig = Rig::new(Fault::None, walks);
        let mut random = Rng(seed as u64 + 1);
        let done = (0..3000).filter(|_| rig.step(&mut random)).count();
        assert_eq!(rig.violations(), [], "walks {walks:#x}");
        let c = rig.shared.0.borrow().system.mmu_counters();
        assert!(done > 500 && c.walks > 5000 && c.main_hits > 5000, "{done} {c:?}");
        assert_eq!(c.slowest[3..], [0, 0], "no walk goes beyond on-chip RAM");
    }
}

/// The first violation that a kernel with this fault is blamed for.
fn blamed(fault: Fault, walks: u32) -> Option<Violation> {
    let mut rig = Rig::new(fault, walks);
    let mut random = Rng(7);
    (0..500).find_map(|_| {
        rig.step(&mut random);
        rig.violations().first().copied()
    })
}

#[test]
fn each_omission_is_blamed_for_what_it_is() {
    let Some(Violation::Stale(stale)) = blamed(Fault::Page, WALKS[0]) else { panic!("TLBIMVA") };
    assert_eq!(stale.missing, Missing::ByAddress { locked: false });
    let Some(Violation::UncleanTable { descriptor, .. }) = blamed(Fault::Clean, WALKS[1]) else { panic!("clean") };
    assert!(descriptor >= ROOTS[0]);
    assert_eq!(blamed(Fault::Clean, WALKS[0]), None, "walks look into the level-1 cache: no clean is needed");
}

/// A domain's identifier goes to another domain; whoever gives it must name the space first.
#[test]
fn an_identifier_that_changes_hands_is_followed() {
    for (fault, expected) in [(Fault::None, None), (Fault::Asid, Some(Missing::ByAsid))] {
        let mut rig = Rig::new(fault, WALKS[0]);
        let data = Attributes::new(Rights::UserData, MemType::WriteBack, false, false).unwrap();
        for n in 0..2u32 {
            let tables = &mut rig.tables[n as usize];
            tables.map(VirtAddr(AREA), PhysAddr(FRAMES + (n << 20)), Bytes(4096), data, Placement::OnChip).unwrap();
            assert_eq!(rig.finish(n as usize), Progress::Done);
        }
        rig.switch(0);
        rig.shared.0.borrow_mut().access(AREA, false);
        rig.shared.invalidate_space(Asid::new(1).unwrap());
        rig.shared.complete();
        let world = &mut *rig.shared.0.borrow_mut();
        world.operate(Operation::ContextId(0));
        world.operate(Operation::Table0(ROOTS[1] | WALKS[0]));
        world.operate(Operation::ContextId(1));
        world.access(AREA, false);
        let seen = world.violations.first().map(|violation| match violation {
            Violation::Stale(stale) => stale.missing,
            other => panic!("{other}"),
        });
        assert_eq!(seen, expected);
    }
}

/// An invalidation that no DSB completes is no invalidation yet. A second page keeps the table, whose removal would have brought
/// a DSB with it.
#[test]
fn a_missing_completion_is_blamed() {
    let mut rig = Rig::new(Fault::Complete, WALKS[0]);
    let data = Attributes::new(Rights::UserData, MemType::WriteBack, false, false).unwrap();
    rig.tables[0].map(VirtAddr(AREA), PhysAddr(FRAMES), Bytes(8192), data, Placement::OnChip).unwrap();
    assert_eq!(rig.finish(0), Progress::Done);
    rig.switch(0);
    rig.shared.0.borrow_mut().access(AREA, false);
    rig.tables[0].unmap(VirtAddr(AREA), Bytes(4096), Placement::OnChip).unwrap();
    assert_eq!(rig.finish(0), Progress::Done);
    rig.shared.0.borrow_mut().access(AREA, false);
    let violations = rig.violations();
    let Some(Violation::Stale(stale)) = violations.first() else { panic!("{violations:?}") };
    assert_eq!(stale.missing, Missing::Barrier);
}
