//! Random edits against a plain map of pages. A TLB is filled at random between all steps.

use crate::{AccessKind, MemType};
use std::cell::Cell;
use std::collections::BTreeMap;
use units::{Bytes, PhysAddr, VirtAddr};

use super::world::{OCM, SPACE, WAYS, World};
use crate::testing::Rng;
use crate::vmsav7::*;

const ROOT: u32 = OCM + 0x4000;
const DATA: Attributes = user(Rights::UserData);
const CONST: Attributes = user(Rights::UserConst);
const CODE: Attributes = user(Rights::UserCode);
/// Four MiB in which everything is tried, and the last MiB that the tables translate.
const AREA: u32 = 0x1230_0000;

const fn user(rights: Rights) -> Attributes {
    Attributes::new(rights, MemType::WriteBack, false, false).unwrap()
}

/// Tables with so many free second-level tables on the chip, in locked ways, and off the chip.
fn tables(free: [u32; 3]) -> (World, Tables<World>) {
    let world = World::default();
    world.add(ROOT, 4096);
    world.0.borrow_mut().root = ROOT;
    let mut tables = Tables::new(world.clone(), PhysAddr(ROOT), Split::Quarter).unwrap();
    for (base, count) in [OCM + 0x8000, WAYS, 0x0800_0000].into_iter().zip(free) {
        for index in 0..count {
            tables.give(PhysAddr(world.add(base + 1024 * index, 1024))).unwrap();
        }
    }
    assert_eq!(
        tables.map(VirtAddr(AREA), PhysAddr(0), Bytes(4096), DATA, Placement::OnChip),
        Err(Refused::Busy),
        "the root is not clear"
    );
    assert_eq!(run(&world, &mut tables, 300, &mut |_| ()), Progress::Done);
    (world, tables)
}

/// Takes the edit under way to its end; `between` sees the world before and after what each step owes.
fn run(world: &World, tables: &mut Tables<World>, entries: u32, between: &mut dyn FnMut(&World)) -> Progress {
    for _ in 0..10_000 {
        between(world);
        let owed = tables.advance(entries);
        between(world);
        let progress = owed.settle(Some(SPACE), &mut world.clone());
        assert!(world.0.borrow().is_published() && !world.0.borrow().waiting);
        if progress != Progress::More {
            return progress;
        }
    }
    panic!("the edit does not end");
}

fn map(world: &World, tables: &mut Tables<World>, virt: u32, phys: u32, bytes: u32, to: Placement) -> Progress {
    match tables.map(VirtAddr(virt), PhysAddr(phys), Bytes(bytes), DATA, to) {
        Ok(()) => run(world, tables, 16, &mut |_| ()),
        Err(refused) => Progress::Refused(refused),
    }
}

type Shadow = BTreeMap<u32, (u32, Attributes)>;

fn agree(world: &World, tables: &Tables<World>, shadow: &Shadow, random: &mut Rng) {
    for page in (AREA >> 12) - 2..(AREA >> 12) + 1026 {
        let found = tables.lookup(VirtAddr(page << 12 | 0x123));
        let expected = shadow.get(&page).map(|(frame, with)| (PhysAddr(frame << 12 | 0x123), *with));
        assert_eq!(found.map(|found| (found.physical, found.attributes)), expected, "page {page:#x}");
        let walked = world.0.borrow().walk(page << 12).map(|(base, read)| read.base + ((page << 12) - base));
        assert_eq!(walked, shadow.get(&page).map(|(frame, _)| frame << 12));
    }
    assert_eq!(searched(world, tables), *shadow);
    for entry in &world.0.borrow().tlb {
        assert!(world.0.borrow().is_fresh(entry), "the TLB holds what is not mapped: {entry:x?}");
    }
    for _ in 0..20 {
        let (base, bytes) = (AREA + random.below(4 << 20) as u32, random.below(0x3_0000) as u32);
        for (kind, with) in [(AccessKind::Read, None), (AccessKind::Write, Some(DATA)), (AccessKind::Exec, Some(CODE))]
        {
            let mut pages = base >> 12..base.saturating_add(bytes).div_ceil(4096);
            let held = |page| shadow.get(&page).is_some_and(|(_, is)| with.is_none_or(|with| with == *is));
            assert_eq!(tables.permits(VirtAddr(base), Bytes(bytes), kind), bytes == 0 || pages.all(held));
        }
    }
}

/// Mappings that the search finds, page by page, from the beginning to the end.
fn searched(world: &World, tables: &Tables<World>) -> Shadow {
    let (mut found, mut from) = (Shadow::new(), 0);
    for _ in 0..10_000 {
        let before = world.0.borrow().accesses;
        let step = tables.next_step(VirtAddr(from));
        assert!(world.0.borrow().accesses - before <= u64::from(3 * SEARCH_ENTRIES + 2), "a step is bounded");
        match step {
            Next::Found(VirtAddr(at), here) => {
                assert_eq!(Some(here), tables.lookup(VirtAddr(at)));
                found.insert(at >> 12, (here.physical.0 >> 12, here.attributes));
                from = (at | 0xfff) + 1;
            }
            Next::From(VirtAddr(later)) => {
                assert!(later > from, "the search goes on");
                from = later;
            }
            Next::End => return found,
        }
    }
    panic!("the search does not end");
}

/// Linked tables that are empty, and tables in total.
fn linked(world: &World) -> (usize, usize) {
    let chip = world.0.borrow();
    let empty = |at: &&u32| (0..256).all(|index| chip.word(*at + 4 * index) & 3 == 0);
    (chip.linked.iter().filter(empty).count(), chip.linked.len())
}

fn arguments(random: &mut Rng) -> (u32, u32, u32, Attributes, Placement) {
    let align = [12, 12, 16, 20][random.below(4) as usize];
    let place = |random: &mut Rng, limit: u64| (random.below(limit) as u32) >> align << align & !0xfff;
    let bytes = match random.below(4) {
        0 => 4096,
        1 => (1 + random.below(40) as u32) << 12,
        2 => (1 + random.below(20) as u32) << 16,
        _ => (1 + random.below(2) as u32) << 20,
    };
    let virt = AREA + place(random, (4 << 20) - 1);
    let bytes = bytes.min(AREA + (4 << 20) - virt);
    let with = [DATA, CONST, CODE][random.below(3) as usize];
    let placement = Placement::ALL[if random.chance(8) { random.below(3) as usize } else { 0 }];
    (virt, 0x2000_0000 + place(random, 16 << 20), bytes, with, placement)
}

#[test]
fn random_edits_are_what_was_asked_and_no_tlb_is_stale() {
    let mut seen = [0u32; 4];
    for seed in 1..=30 {
        let mut random = Rng::new(seed);
        let (world, mut tables) = tables([5, 1, 1]);
        let mut shadow = Shadow::new();
        for _ in 0..60 {
            let (virt, phys, bytes, with, placement) = arguments(&mut random);
            let pages = virt >> 12..(virt + bytes) >> 12;
            let mapped = pages.clone().filter(|page| shadow.contains_key(page)).count();
            let before = world.0.borrow().words.clone();
            let entries = 1 + random.below(300) as u32;
            let mapping = random.chance(2);
            if mapping {
                tables.map(VirtAddr(virt), PhysAddr(phys), Bytes(bytes), with, placement).unwrap();
            } else {
                tables.unmap(VirtAddr(virt), Bytes(bytes), Placement::OnChip).unwrap();
            }
            let mut walks = random.next();
            let mut between = |world: &World| {
                let mut random = Rng::new(walks);
                walks = random.next();
                (0..8).for_each(|_| world.0.borrow_mut().touch(AREA + random.below(4 << 20) as u32));
            };
            let progress = run(&world, &mut tables, entries, &mut between);
            match progress {
                Progress::Done if mapping => {
                    assert_eq!(mapped, 0);
                    shadow.extend(pages.clone().map(|page| (page, ((phys >> 12) + page - (virt >> 12), with))));
                    let lies = pages.map(|page| tables.lookup(VirtAddr(page << 12)).unwrap().table);
                    assert!(lies.flatten().all(|lies| lies == placement), "a table lies elsewhere than asked");
                    seen[0] += 1;
                }
                Progress::Done => {
                    assert_eq!(mapped, pages.len());
                    pages.for_each(|page| _ = shadow.remove(&page));
                    seen[1] += 1;
                }
                Progress::Refused(refused) => {
                    assert_eq!(world.0.borrow().words, before, "{refused:?} changed something");
                    match refused {
                        Refused::Mapped { at: VirtAddr(at) } => assert!(mapping && shadow.contains_key(&(at >> 12))),
                        Refused::NotMapped { at: VirtAddr(at) } => {
                            assert!(!mapping && !shadow.contains_key(&(at >> 12)))
                        }
                        Refused::NoTables { needed, free, .. } => assert!(needed > free),
                        Refused::Placement { .. } => assert!(mapping),
                        other => panic!("{other:?}"),
                    }
                    seen[if matches!(refused, Refused::NoTables { .. } | Refused::Placement { .. }) {
                        3
                    } else {
                        2
                    }] += 1;
                }
                Progress::More => unreachable!(),
            }
            agree(&world, &tables, &shadow, &mut random);
            let (empty, linked) = linked(&world);
            let free: u32 = Placement::ALL.iter().map(|placement| tables.free(*placement)).sum();
            assert_eq!((empty, linked + free as usize), (0, 7), "tables are lost or kept for nothing");
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

/// Descriptors that a range takes: of whole units as they are, of those that are cut, the small pages in the range.
fn descriptors(tables: &Tables<World>, virt: u32, bytes: u32) -> Option<u32> {
    let (mut at, end, mut sum) = (virt, virt + bytes, 0);
    while at < end {
        let found = tables.lookup(VirtAddr(at))?;
        let unit = found.unit.bytes();
        let next = ((at / unit + 1) * unit).min(end);
        sum += if next - at == unit { found.unit.descriptors() } else { (next - at) >> 12 };
        at = next;
    }
    Some(sum)
}

/// Accesses of an edit beyond six for each descriptor, if it is done.
fn spent(world: &World, tables: &mut Tables<World>, descriptors: u32, entries: u32) -> Option<i64> {
    let count = || world.0.borrow().accesses as i64;
    let (before, last) = (count(), Cell::new(count()));
    let mut between = |_: &World| {
        let step = count() - last.replace(count());
        assert!(step <= 3 * i64::from(entries) + 64, "a step of {entries} took {step}");
    };
    let progress = run(world, tables, entries, &mut between);
    (progress == Progress::Done).then(|| count() - before - 6 * i64::from(descriptors))
}

/// The bounds that the documentation of [`Tables`] states.
#[test]
fn an_edit_costs_what_is_stated() {
    let mut worst = [i64::MIN; 2];
    for seed in 1..=40 {
        let mut random = Rng::new(seed);
        let (world, mut tables) = tables([8, 0, 0]);
        for _ in 0..60 {
            let (virt, phys, bytes, with, _) = arguments(&mut random);
            let entries = 16 + random.below(100) as u32;
            let mapping = random.chance(2);
            let expected = if mapping {
                tables.map(VirtAddr(virt), PhysAddr(phys), Bytes(bytes), with, Placement::OnChip).unwrap();
                Shape::of(virt, phys, bytes).map(Shape::descriptors)
            } else {
                let expected = descriptors(&tables, virt, bytes);
                tables.unmap(VirtAddr(virt), Bytes(bytes), Placement::OnChip).unwrap();
                expected
            };
            let spent = spent(&world, &mut tables, expected.unwrap_or(0), entries);
            worst[usize::from(!mapping)] = worst[usize::from(!mapping)].max(spent.unwrap_or(i64::MIN));
        }
    }
    assert!(worst[0] <= 0 && worst[1] <= 1200, "{worst:?}");
    // Both ends in the middle of large pages of sections.
    let (world, mut tables) = tables([2, 0, 0]);
    assert_eq!(map(&world, &mut tables, AREA, 0x2000_0000, 2 << 20, Placement::OnChip), Progress::Done);
    tables.unmap(VirtAddr(AREA + 0xf_f000), Bytes(0x2000), Placement::OnChip).unwrap();
    let cut = spent(&world, &mut tables, 2, 16).unwrap();
    assert!(cut > 600 && cut <= 1200, "{cut}");
}

#[test]
fn a_step_that_is_forgotten_is_owed_again() {
    let (world, mut tables) = tables([2, 0, 0]);
    assert_eq!(map(&world, &mut tables, AREA, 0x2000_0000, 0x3000, Placement::OnChip), Progress::Done);
    world.0.borrow_mut().touch(AREA + 0x1000);
    tables.unmap(VirtAddr(AREA + 0x1000), Bytes(0x1000), Placement::OnChip).unwrap();
    let checked = tables.advance(16).settle(Some(SPACE), &mut world.clone());
    assert_eq!(checked, Progress::More);
    for _ in 0..3 {
        let owed = tables.advance(16);
        assert_eq!(owed.addresses(), [VirtAddr(AREA + 0x1000)]);
        drop(owed);
        assert_eq!(
            tables.map(VirtAddr(AREA + 0x8000), PhysAddr(0), Bytes(4096), DATA, Placement::OnChip),
            Err(Refused::Busy)
        );
        assert_eq!(world.0.borrow().tlb.len(), 1);
    }
    assert_eq!(run(&world, &mut tables, 16, &mut |_| ()), Progress::Done);
    assert_eq!((world.0.borrow().tlb.len(), world.0.borrow().invalidations), (0, 1));
}

#[test]
fn tables_never_come_from_elsewhere() {
    let (world, mut tables) = tables([1, 1, 4]);
    let done = |progress| assert_eq!(progress, Progress::Done);
    let mut at = |virt, to| map(&world, &mut tables, virt, 0x2000_0000, 4096, to);
    done(at(AREA, Placement::OnChip));
    let refused = Refused::NoTables { placement: Placement::OnChip, needed: 1, free: 0 };
    assert_eq!(at(AREA + (1 << 20), Placement::OnChip), Progress::Refused(refused));
    done(at(AREA + (1 << 20), Placement::LockedWays));
    // A table is there, but not where it was asked for.
    for (virt, to, lies) in [
        (AREA + 0x1000, Placement::OffChip, Placement::OnChip),
        (AREA + (1 << 20) + 0x1000, Placement::OnChip, Placement::LockedWays),
    ] {
        assert_eq!(at(virt, to), Progress::Refused(Refused::Placement { at: VirtAddr(virt), lies }));
    }
    // A first-level table off the chip keeps nothing of what tables on the chip promise.
    let far = World::default();
    far.0.borrow_mut().root = far.add(0x0900_0000, 4096);
    let mut tables = Tables::new(far.clone(), PhysAddr(0x0900_0000), Split::Quarter).unwrap();
    assert_eq!(run(&far, &mut tables, 256, &mut |_| ()), Progress::Done);
    for (to, refused) in [(Placement::OnChip, true), (Placement::LockedWays, true), (Placement::OffChip, false)] {
        let expected =
            if refused { Err(Refused::Placement { at: VirtAddr(AREA), lies: Placement::OffChip }) } else { Ok(()) };
        assert_eq!(tables.map(VirtAddr(AREA), PhysAddr(0), Bytes(4096), DATA, to), expected);
    }
}

#[test]
fn a_section_is_cut_only_where_there_is_a_table_for_the_rest() {
    let (world, mut tables) = tables([1, 0, 0]);
    assert_eq!(map(&world, &mut tables, AREA, 0x2000_0000, 2 << 20, Placement::OnChip), Progress::Done);
    let mut cut = |base, bytes| {
        tables.unmap(VirtAddr(base), Bytes(bytes), Placement::OnChip).unwrap();
        run(&world, &mut tables, 16, &mut |_| ())
    };
    let refused = Refused::NoTables { placement: Placement::OnChip, needed: 2, free: 1 };
    assert_eq!(cut(AREA + 0x8_0000, 1 << 20), Progress::Refused(refused));
    assert_eq!(cut(AREA + 0x8_0000, 0x8_0000), Progress::Done);
    let refused = Refused::NoTables { placement: Placement::OnChip, needed: 1, free: 0 };
    assert_eq!(cut(AREA + (1 << 20), 0x8_0000), Progress::Refused(refused));
    // Whole, it needs none.
    assert_eq!(cut(AREA + (1 << 20), 1 << 20), Progress::Done);
}

/// A table that was lent holds anything, and is cleared in steps before a walk can come by it.
#[test]
fn a_table_that_was_lent_is_cleared_before_it_is_used() {
    let (world, mut tables) = tables([0, 0, 0]);
    for table in [0x8000, 0x8400] {
        let mut memory = world.clone();
        let at = world.add(OCM + table, 1024);
        (0..256).for_each(|index| memory.set_word(PhysAddr(at + 4 * index), 0x3000_0002));
        tables.lend(PhysAddr(at)).unwrap();
    }
    assert_eq!(tables.free(Placement::OnChip), 2);
    tables.map(VirtAddr(AREA + 0xf_f000), PhysAddr(0x2000_0000), Bytes(0x2000), DATA, Placement::OnChip).unwrap();
    assert!(spent(&world, &mut tables, 2, 16).unwrap() <= 6 * 2 * 256);
    assert_eq!(tables.free(Placement::OnChip), 0);
    let there = |page: u32| tables.lookup(VirtAddr(AREA + (page << 12))).is_some();
    assert!((0..512).all(|page| there(page) == (255..257).contains(&page)));
    assert_eq!(tables.lend(PhysAddr(OCM + 0x200)), Err(Refused::Misaligned));
    // One that is taken back need not be clear.
    tables.lend(PhysAddr(world.add(OCM + 0x8800, 1024))).unwrap();
    assert_eq!(tables.take(Placement::OnChip), Ok(Some(PhysAddr(OCM + 0x8800))));
    assert_eq!(tables.take(Placement::OnChip), Ok(None));
}

#[test]
fn what_can_be_seen_at_once_is_refused_at_once() {
    let (_, mut tables) = tables([1, 0, 0]);
    let mut begin =
        |virt, phys, bytes, with| tables.map(VirtAddr(virt), PhysAddr(phys), Bytes(bytes), with, Placement::OnChip);
    assert_eq!(begin(AREA + 1, 0, 4096, DATA), Err(Refused::Misaligned));
    assert_eq!(begin(AREA, 0x800, 4096, DATA), Err(Refused::Misaligned));
    assert_eq!(begin(AREA, 0, 0, DATA), Err(Refused::Misaligned));
    assert_eq!(begin(0x3fff_f000, 0, 8192, DATA), Err(Refused::Outside));
    assert_eq!(begin(0xffff_f000, 0, 4096, DATA), Err(Refused::Outside));
    assert_eq!(begin(AREA, 0xffff_f000, 8192, DATA), Err(Refused::Outside));
    assert_eq!(begin(AREA, 0, 4096, user(Rights::KernelData)), Err(Refused::Rights));
    let global = Attributes::new(Rights::UserConst, MemType::WriteBack, false, true).unwrap();
    assert_eq!(begin(AREA, 0, 4096, global), Err(Refused::Rights));
    assert_eq!(tables.unmap(VirtAddr(AREA), Bytes(0x1800), Placement::OnChip), Err(Refused::Misaligned));
    assert_eq!(tables.give(PhysAddr(OCM + 0x200)), Err(Refused::Misaligned));
    assert!(tables.is_idle());
    assert_eq!(Tables::new(World::default(), PhysAddr(OCM + 0x400), Split::Quarter).unwrap_err(), Refused::Misaligned);
    assert_eq!(Tables::new(World::default(), PhysAddr(OCM + 0x1000), Split::Half).unwrap_err(), Refused::Misaligned);
}

/// A domain may access its device; the kernel does not do so on its behalf.
#[test]
fn devices_are_never_touched_on_a_domains_behalf() {
    let (world, mut tables) = tables([2, 0, 0]);
    let device = Attributes::new(Rights::UserData, MemType::Device, false, false).unwrap();
    tables.map(VirtAddr(AREA), PhysAddr(0xe000_1000), Bytes(4096), device, Placement::OnChip).unwrap();
    assert_eq!(run(&world, &mut tables, 16, &mut |_| ()), Progress::Done);
    assert_eq!(map(&world, &mut tables, AREA + 4096, 0x2000_0000, 4096, Placement::OnChip), Progress::Done);
    assert!(tables.lookup(VirtAddr(AREA)).is_some());
    for kind in [AccessKind::Read, AccessKind::Write] {
        assert!(!tables.permits(VirtAddr(AREA), Bytes(4), kind));
        assert!(tables.permits(VirtAddr(AREA + 4096), Bytes(4096), kind));
        assert!(!tables.permits(VirtAddr(AREA + 4095), Bytes(2), kind));
    }
}
