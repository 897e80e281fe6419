use std::string::ToString;

use super::{Found, Holder, Missing, Mmu, Translation};
use crate::below::Served;
use crate::cp15::{Operation, TlbOperation};
use crate::profile::tests::xc7z020;
use crate::tlb::Part;
use crate::vmsa::Fault;
use crate::vmsa::tests::Shadow;

const ROOT: u32 = 0x0100_0000;
const OTHER_ROOT: u32 = 0x0101_0000;
const VIRT: u32 = 0x4000_0000;
/// Small page, normal memory, read and write for everyone; not global.
const PAGE: u32 = 0x832;
const GLOBAL: u32 = 0x032;

/// The second-level table of a first-level one.
const fn pages(root: u32) -> u32 {
    root + 0x10_0000
}

/// Maps page `n` from VIRT on in `root` to physical page `phys`.
fn map(tables: &mut Shadow, root: u32, n: u32, phys: u32, kind: u32) {
    tables.set(root + 0x1000, pages(root) | 1);
    tables.set(pages(root) + n * 4, phys << 12 | kind);
}

struct Rig {
    mmu: Mmu,
    tables: Shadow,
}

impl Rig {
    /// Translation on, in space 1, page `n` at physical page 0x300 + n for 256 pages.
    fn new(kind: u32) -> Self {
        let mut tables = Shadow::default();
        for n in 0..256 {
            map(&mut tables, ROOT, n, 0x300 + n, kind);
        }
        let mut mmu = Mmu::new(&xc7z020().application.unwrap().mmu).unwrap();
        for operation in [Operation::Table0(ROOT), Operation::ContextId(1), Operation::Control(1)] {
            mmu.operate(operation);
        }
        Self { mmu, tables }
    }

    /// A data access to page `n`; each descriptor takes 10 cycles from memory.
    fn access(&mut self, n: u32) -> Translation {
        self.mmu.translate(VIRT + n * 0x1000, false, &self.tables, |_, _, _| (10, Served::Memory))
    }

    fn space(&mut self, asid: u32, root: u32) {
        self.mmu.operate(Operation::ContextId(asid));
        self.mmu.operate(Operation::Table0(root));
    }

    fn invalidate(&mut self, operation: TlbOperation) {
        self.mmu.operate(Operation::Tlb(operation));
        self.mmu.operate(Operation::SyncBarrier);
    }

    /// Locks page `n` into lock entry `slot`: a walk while the lockdown register says so.
    fn lock(&mut self, slot: u8, n: u32) {
        self.mmu.operate(Operation::TlbLockdown { preserve: true, victim: slot });
        assert!(matches!(self.access(n).found, Found::Walk { .. }));
        self.mmu.operate(Operation::TlbLockdown { preserve: false, victim: 0 });
    }
}

const WALK: Found = Found::Walk { levels: 2, slowest: Served::Memory };
const LOCKED: Found = Found::Main(Part::Locked(0));
const MAIN: Found = Found::Main(Part::Associative);

/// A walk: 7 for the main TLB, 1 to start, 3 for each level, and 10 for each descriptor: 34. Then the micro-TLB: nothing.
/// After a write to CONTEXTIDR or a table register, though it changes nothing: 7.
#[test]
fn each_level_has_its_price() {
    let mut rig = Rig::new(PAGE);
    let walk = rig.access(0);
    assert_eq!((walk.found, walk.cycles), (WALK, 34));
    assert_eq!(walk.outcome.unwrap().translate(VIRT + 0x123), 0x0030_0123);
    assert_eq!((rig.access(0).found, rig.access(0).cycles), (Found::Micro, 0));
    for operation in [Operation::ContextId(1), Operation::Table0(ROOT), Operation::Table1(0)] {
        rig.mmu.operate(operation);
        let main = rig.access(0);
        assert_eq!((main.found, main.cycles), (MAIN, 7), "{operation:?}");
    }
    let c = rig.mmu.counters();
    assert_eq!((c.micro_misses, c.main_hits, c.walks, c.slowest, c.stalls), (4, 3, 1, [0, 0, 0, 0, 1], 34 + 21));
    // A TLB operation on something else flushes the micro-TLBs too.
    rig.invalidate(TlbOperation::Asid(9));
    assert_eq!(rig.access(0).found, MAIN);
}

/// 33 pages do not fit 32 entries that are replaced in turn; the main TLB has most of them.
#[test]
fn the_micro_tlb_holds_thirty_two_pages() {
    let mut rig = Rig::new(PAGE);
    for n in 0..32 {
        rig.access(n);
    }
    assert!((0..32).all(|n| rig.access(n).found == Found::Micro));
    rig.access(32);
    assert_ne!(rig.access(0).found, Found::Micro);
}

/// 64 sets of two ways: pages 0, 64 and 128 share one. Whichever went, only one of the three did.
#[test]
fn three_pages_do_not_fit_two_ways() {
    let mut rig = Rig::new(PAGE);
    for n in [0, 64, 128] {
        rig.access(n);
    }
    rig.mmu.operate(Operation::ContextId(1));
    assert_eq!(rig.access(128).found, MAIN, "what came last is there");
    let others = [0, 64].map(|n| rig.access(n).found == MAIN);
    assert!(others[0] != others[1], "{others:?}");
}

/// Space 2 has tables of its own. Its walk does not disturb what space 1 had; a global page would have served both.
#[test]
fn spaces_keep_their_entries_apart() {
    let mut rig = Rig::new(PAGE);
    map(&mut rig.tables, OTHER_ROOT, 0, 0x900, PAGE);
    rig.access(0);
    rig.space(2, OTHER_ROOT);
    let other = rig.access(0);
    assert_eq!((other.found, other.outcome.unwrap().phys), (WALK, 0x0090_0000));
    rig.space(1, ROOT);
    let back = rig.access(0);
    assert_eq!((back.found, back.outcome.unwrap().phys, back.stale), (MAIN, 0x0030_0000, None));
    let mut rig = Rig::new(GLOBAL);
    map(&mut rig.tables, OTHER_ROOT, 0, 0x300, GLOBAL);
    rig.access(0);
    rig.mmu.operate(Operation::ContextId(2));
    assert_eq!(rig.access(0).found, MAIN);
}

/// A locked entry is there after a walk of every other page; its price is that of a main TLB hit. An entry that is already
/// in the main TLB does not move into the lock entry: there is no walk.
#[test]
fn a_locked_entry_never_walks() {
    let mut rig = Rig::new(PAGE);
    rig.lock(0, 0);
    for n in 1..256 {
        rig.access(n);
    }
    let hit = rig.access(0);
    assert_eq!((hit.found, hit.cycles), (LOCKED, 7));
    assert_eq!(rig.mmu.counters().locked_hits, 1);
    rig.access(5);
    rig.mmu.operate(Operation::TlbLockdown { preserve: true, victim: 1 });
    assert!(!matches!(rig.access(5).found, Found::Walk { .. }));
    assert!(rig.mmu.locked()[1].is_none());
    // Every walk goes there while the register says so: the second replaces the first.
    rig.invalidate(TlbOperation::All);
    rig.access(6);
    rig.access(7);
    assert_eq!(rig.mmu.locked()[1].unwrap().mapping.virt, VIRT + 0x7000);
}

/// After each flavour: whether the locked page 0, the unlocked page 1 and page 1 of a global mapping are still there.
#[test]
fn each_invalidation_reaches_what_the_architecture_says() {
    let operations = [
        (TlbOperation::All, [true, false, false]),
        (TlbOperation::Address { addr: VIRT, asid: 1 }, [false, true, true]),
        (TlbOperation::Address { addr: VIRT, asid: 2 }, [true, true, true]),
        (TlbOperation::Address { addr: VIRT + 0x1000, asid: 2 }, [true, true, false]),
        (TlbOperation::AddressAllSpaces(VIRT), [true, true, true]),
        (TlbOperation::AddressAllSpaces(VIRT + 0x1000), [true, false, false]),
        (TlbOperation::Asid(1), [false, false, true]),
        (TlbOperation::Asid(2), [true, true, true]),
    ];
    for (operation, expected) in operations {
        let mut rig = Rig::new(PAGE);
        rig.lock(0, 0);
        rig.access(1);
        let mut global = Rig::new(GLOBAL);
        global.access(1);
        rig.invalidate(operation);
        global.invalidate(operation);
        let found = [rig.access(0).found == LOCKED, rig.access(1).found == MAIN, global.access(1).found == MAIN];
        assert_eq!(found, expected, "{operation:?}");
    }
}

/// The page is moved without telling the TLBs. The entry in use is stale, in the micro-TLB and, after that was flushed, in
/// the main TLB.
#[test]
fn a_changed_page_without_an_invalidation_is_seen() {
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    assert_eq!(rig.access(0).stale, None, "judged, and judged again when the tables change");
    map(&mut rig.tables, ROOT, 0, 0x999, PAGE);
    let stale = rig.access(0).stale.unwrap();
    assert_eq!((stale.virt, stale.asid, stale.holder), (VIRT, 1, Holder::Micro));
    assert_eq!((stale.held.phys, stale.tables.unwrap().phys), (0x0030_0000, 0x0099_9000));
    assert_eq!(stale.missing, Missing::ByAddress { locked: false });
    assert_eq!(
        stale.to_string(),
        "0x40000000 in space 1: a micro-TLB holds 0x00300000, the tables say 0x00999000; TLBIMVA is missing"
    );
    rig.mmu.operate(Operation::ContextId(1));
    assert_eq!(rig.access(0).stale.unwrap().holder, Holder::Main(Part::Associative));
    assert_eq!(rig.mmu.counters().stale, 2);
    rig.invalidate(TlbOperation::Address { addr: VIRT, asid: 1 });
    assert_eq!(rig.access(0).stale, None);
}

/// The page is unmapped, and TLBIALL does not reach the lock entry.
#[test]
fn a_locked_entry_outlives_an_invalidation_of_everything() {
    let mut rig = Rig::new(PAGE);
    rig.lock(0, 0);
    rig.tables.set(pages(ROOT), 0);
    rig.invalidate(TlbOperation::All);
    let used = rig.access(0);
    assert!(used.outcome.is_ok(), "the core still reaches the page");
    let stale = used.stale.unwrap();
    assert_eq!((stale.holder, stale.missing), (Holder::Main(Part::Locked(0)), Missing::ByAddress { locked: true }));
    assert_eq!(stale.tables, Err(Fault::SecondLevel));
    rig.invalidate(TlbOperation::Address { addr: VIRT, asid: 1 });
    let gone = rig.access(0);
    assert_eq!((gone.outcome, gone.stale), (Err(Fault::SecondLevel), None));
}

/// Identifier 1 goes to another table without TLBIASID.
#[test]
fn a_reused_identifier_is_seen() {
    let mut rig = Rig::new(PAGE);
    map(&mut rig.tables, OTHER_ROOT, 0, 0x900, PAGE);
    rig.access(0);
    rig.space(0, OTHER_ROOT);
    rig.space(1, OTHER_ROOT);
    let stale = rig.access(0).stale.unwrap();
    assert_eq!(stale.missing, Missing::ByAsid);
    assert!(stale.to_string().ends_with("TLBIASID is missing before the identifier is used again"));
}

/// A core may still hold a translation that the modelled TLBs have lost: the page went out of every TLB before it was changed, and no
/// invalidation named it.
#[test]
fn a_translation_that_may_still_be_held_is_seen() {
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    for round in 0..8 {
        for n in [64, 128, 192] {
            rig.access(n + round % 2);
        }
        for n in 1..40 {
            rig.access(n);
        }
    }
    map(&mut rig.tables, ROOT, 0, 0x999, PAGE);
    let walk = rig.access(0);
    assert_eq!(walk.found, WALK, "no modelled TLB has it any more");
    assert_eq!(walk.stale.unwrap().holder, Holder::Possible);
    assert_eq!(rig.access(0).stale, None);
}

/// An invalidation without a DSB may not have happened yet.
#[test]
fn an_invalidation_needs_its_barrier() {
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    map(&mut rig.tables, ROOT, 0, 0x999, PAGE);
    rig.mmu.operate(Operation::Tlb(TlbOperation::Address { addr: VIRT, asid: 1 }));
    assert_eq!(rig.access(0).stale.unwrap().missing, Missing::Barrier);
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    map(&mut rig.tables, ROOT, 0, 0x999, PAGE);
    rig.invalidate(TlbOperation::Address { addr: VIRT, asid: 1 });
    assert_eq!(rig.access(0).stale, None);
}

/// Rights are part of a translation: a page made read-only needs its invalidation as well.
#[test]
fn changed_rights_are_seen() {
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    map(&mut rig.tables, ROOT, 0, 0x300, PAGE & !0x30 | 0x20);
    let stale = rig.access(0).stale.unwrap();
    assert_eq!((stale.held.access, stale.tables.unwrap().access), (3, 2));
    assert!(stale.to_string().contains("the tables say other attributes"));
}

/// A change of other pages' tables is none of this page's business, however often.
#[test]
fn a_correct_kernel_is_never_blamed() {
    let mut rig = Rig::new(PAGE);
    for round in 0..100 {
        let n = round % 7;
        map(&mut rig.tables, ROOT, n, 0x400 + round, PAGE);
        rig.invalidate(TlbOperation::Address { addr: VIRT + n * 0x1000, asid: 1 });
        for n in 0..40 {
            let access = rig.access(n);
            assert_eq!(access.stale, None, "{round} {n}");
        }
    }
}

/// A lock entry whose page was unmapped is found without any access, whoever's space is current; one that went with its page is not there
/// any more.
#[test]
fn a_locked_entry_left_behind_is_found_without_an_access() {
    let mut rig = Rig::new(PAGE);
    rig.lock(2, 5);
    rig.lock(0, 6);
    rig.space(2, OTHER_ROOT);
    assert_eq!(rig.mmu.left_behind(&rig.tables), None);
    map(&mut rig.tables, ROOT, 5, 0, 0);
    let left = rig.mmu.left_behind(&rig.tables).unwrap();
    assert_eq!((left.virt, left.asid, left.tables), (VIRT + 0x5000, 1, Err(Fault::SecondLevel)));
    assert_eq!((left.holder, left.missing), (Holder::Main(Part::Locked(2)), Missing::ByAddress { locked: true }));
    rig.invalidate(TlbOperation::All);
    assert_eq!(rig.mmu.left_behind(&rig.tables), Some(left));
    rig.invalidate(TlbOperation::Address { addr: VIRT + 0x5000, asid: 1 });
    assert_eq!(rig.mmu.left_behind(&rig.tables), None);
}

/// A translation of an unmapped page that a core may still hold is found without any access, too, in every space; until it is invalidated and
/// that is complete.
#[test]
fn what_may_be_held_is_found_without_an_access() {
    let mut rig = Rig::new(PAGE);
    rig.access(5);
    rig.space(2, OTHER_ROOT);
    assert_eq!(rig.mmu.left_behind(&rig.tables), None);
    map(&mut rig.tables, ROOT, 5, 0, 0);
    let left = rig.mmu.left_behind(&rig.tables).unwrap();
    assert_eq!((left.virt, left.asid, left.tables), (VIRT + 0x5000, 1, Err(Fault::SecondLevel)));
    assert_eq!((left.holder, left.missing), (Holder::Possible, Missing::ByAddress { locked: false }));
    rig.invalidate(TlbOperation::Address { addr: VIRT + 0x5000, asid: 2 });
    assert_eq!(rig.mmu.left_behind(&rig.tables), Some(left));
    rig.mmu.operate(Operation::Tlb(TlbOperation::Address { addr: VIRT + 0x5000, asid: 1 }));
    assert_eq!(rig.mmu.left_behind(&rig.tables).unwrap().missing, Missing::Barrier);
    rig.invalidate(TlbOperation::All);
    assert_eq!(rig.mmu.left_behind(&rig.tables), None);
}

/// An identifier that another first-level table has taken over.
#[test]
fn an_identifier_of_two_tables_is_found_without_an_access() {
    let mut rig = Rig::new(PAGE);
    rig.access(5);
    rig.space(1, OTHER_ROOT);
    assert_eq!(rig.mmu.left_behind(&rig.tables).unwrap().missing, Missing::ByAsid);
    rig.invalidate(TlbOperation::Asid(1));
    assert_eq!(rig.mmu.left_behind(&rig.tables), None);
}

/// Another program's pages push out what is not locked, and nothing else.
#[test]
fn a_disturbance_leaves_locked_entries() {
    let mut rig = Rig::new(PAGE);
    rig.lock(0, 1);
    rig.access(2);
    rig.mmu.disturb();
    assert_eq!((rig.access(1).found, rig.access(2).found), (LOCKED, WALK));
    assert_eq!(rig.access(2).stale, None);
}

/// Walks and stalls are told apart by who caused them.
#[test]
fn data_and_fetches_are_counted_apart() {
    let mut rig = Rig::new(PAGE);
    rig.access(0);
    rig.mmu.translate(VIRT + 0x1000, true, &rig.tables, |_, _, _| (10, Served::BesideL2));
    let c = rig.mmu.counters();
    assert_eq!((c.slowest, c.fetch_slowest), ([0, 0, 0, 0, 1], [0, 0, 1, 0, 0]));
    assert_eq!((c.data_stalls, c.stalls), (34, 68));
}
