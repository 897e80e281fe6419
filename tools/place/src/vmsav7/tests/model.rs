//! Model with which a placed system is compared: what each domain asked for, page by page.

use std::collections::BTreeMap;

use manifest::resolved::{Area, Domain, Item, Part, System};
use protect::vmsav7::Unit;
use spec::{AccessLevel, Rule, TablePlace, TemporalSpec};
use system::area::{DEVICE, EXECUTE, NEAR, PINNED, READ, SHARED, WRITE};
use system::vmsav7::{PAGE, SPLIT, TABLE};

use super::{DEVICE_OFFSET, MIB, OCM, TABLES};
use crate::elf::Program;
use crate::error::PlaceError;
use crate::plan::Plan;
use crate::spot::{DomainSpot, info_bytes, stack_bytes};

const RIGHTS: u32 = READ | WRITE | EXECUTE;

/// Requests of a domain: name, bytes, rights, and a specification of which nothing may be weaker.
fn asked(system: &System, domain: &Domain, program: &Program) -> Vec<(String, u64, u32, TemporalSpec)> {
    let own = |name: &str, bytes: u32, rights, area: &Area| {
        (name.to_owned(), u64::from(bytes) + u64::from(area.extra), rights, area.spec)
    };
    let stack = stack_bytes(domain).next_multiple_of(32);
    let mut all =
        vec![own("code", program.code.bytes.next_multiple_of(8) + info_bytes(domain), READ | EXECUTE, &domain.code)];
    let data = own("data", program.data.bytes.next_multiple_of(8), READ | WRITE, &domain.data);
    if domain.data.spec.access == AccessLevel::BestEffort || domain.data.memory != domain.stack.memory {
        all.push((String::from("stack"), u64::from(stack), READ | WRITE, domain.stack.spec));
        all.push(data);
    } else {
        all.push((data.0, data.1 + u64::from(stack), data.2, data.3));
    }
    all.extend(domain.heap.iter().map(|heap| own("heap", 0, READ | WRITE, &heap.area)));
    let arenas = domain.envelopes.iter().enumerate();
    all.extend(arenas.map(|(index, envelope)| own(&format!("arena{index}"), 0, READ | WRITE, &envelope.area)));
    let device = TemporalSpec::level(AccessLevel::L2);
    all.extend(domain.devices.iter().map(|d| (d.name.clone(), u64::from(d.bytes), READ | WRITE, device)));
    all.extend(domain.shared.iter().map(|used| {
        let shared = &system.shared[used.shared];
        (shared.name.clone(), u64::from(shared.bytes), READ | if used.write { WRITE } else { 0 }, used.spec)
    }));
    all.extend(domain.files.iter().map(|used| {
        let file = &system.files[used.file];
        (file.name.clone(), super::contents(file).len() as u64, READ, used.spec)
    }));
    all
}

/// Page of a domain's address space to page of memory, rights and flags.
type Space = BTreeMap<u32, (u32, u32, u32)>;

/// Maps what the kernel maps.
fn space(spot: &DomainSpot, domain: u32) -> Space {
    let mut pages = Space::new();
    for entry in spot.entries(domain) {
        assert!(
            entry.base.is_multiple_of(PAGE) && entry.physical.is_multiple_of(PAGE) && entry.bytes.is_multiple_of(PAGE)
        );
        for offset in (0..entry.bytes).step_by(PAGE as usize) {
            let said = (entry.physical + offset, entry.flags & RIGHTS, entry.flags);
            assert_eq!(pages.insert(entry.base + offset, said), None, "mapped twice: {entry:x?}");
        }
    }
    pages
}

/// Every byte that was asked for is there, with exactly the rights and at least as well kept; no page has a byte more than its area
/// is rounded up to.
fn gives_what_was_asked(spot: &DomainSpot, pages: &Space, asked: &[(String, u64, u32, TemporalSpec)]) {
    let mut units: BTreeMap<u32, u64> = BTreeMap::new();
    let mut expected = 0;
    for (name, bytes, rights, spec) in asked {
        let Some(area) = spot.areas.iter().find(|area| area.part.name() == *name) else { panic!("{name} is missing") };
        assert!(u64::from(area.bytes) >= *bytes, "{name}: {} of {bytes} bytes", area.bytes);
        let shifted = area.memory == DEVICE || area.base >= TABLES.0 - DEVICE_OFFSET;
        assert_eq!(area.physical, if shifted { area.base + DEVICE_OFFSET } else { area.base }, "{name}");
        let last = area.base + (*bytes).max(1) as u32 - 1;
        for page in (area.base & !(PAGE - 1)..=last).step_by(PAGE as usize) {
            let (physical, have, flags) = pages[&page];
            assert_eq!((physical - page, have), (area.physical - area.base, *rights), "{name} at {page:#x}");
            let kept = match spec.access {
                AccessLevel::BestEffort => 0,
                AccessLevel::L2 | AccessLevel::L3 => flags & (NEAR | PINNED),
                AccessLevel::L1 | AccessLevel::Deterministic => flags & PINNED,
            };
            assert!(kept != 0 || spec.access == AccessLevel::BestEffort, "{name}: weaker than {spec}");
        }
        if area.flags & PINNED != 0 {
            let (base, bytes) = area.mapped.unwrap();
            units.entry(base).or_insert(0);
            *units.get_mut(&base).unwrap() += u64::from(bytes);
            assert!(area.base >= base, "{name}");
        } else {
            expected += u64::from(area.bytes);
            let rounded = (*bytes).max(1).next_multiple_of(PAGE.into());
            assert_eq!(u64::from(area.bytes), rounded, "{name} is wider than its pages");
        }
    }
    // A locked range is one unit, and no smaller one holds what lies there.
    for (base, bytes) in &units {
        let unit = Unit::ALL.into_iter().find(|unit| u64::from(unit.bytes()) == *bytes).expect("one unit");
        assert!(base.is_multiple_of(unit.bytes()));
        let inside = spot.areas.iter().filter(|area| area.mapped.unwrap().0 == *base && area.flags & PINNED != 0);
        let known = inside.filter_map(|area| Some((area, asked.iter().find(|asked| asked.0 == area.part.name())?)));
        let end = known.map(|(area, asked)| u64::from(area.base - base) + asked.1).max().unwrap();
        assert!(end <= *bytes, "the unit holds what it is for");
        assert!(
            Unit::ALL.into_iter().all(|smaller| smaller.bytes() >= unit.bytes() || u64::from(smaller.bytes()) < end)
        );
    }
    let ledger = spot.areas.iter().find(|area| area.part == Part::Ledger).map_or(0, |area| u64::from(area.bytes));
    let mapped = pages.len() as u64 * u64::from(PAGE);
    assert_eq!(mapped, expected + units.values().sum::<u64>() + ledger, "nothing else is mapped");
}

/// No page below a stack, so that one that overflows meets nothing of its domain.
fn guards(spot: &DomainSpot, pages: &Space) {
    let Some(stack) = spot.areas.iter().find(|area| area.base == spot.stacks) else { panic!("no stack") };
    let below = stack.mapped.unwrap().0 - 1;
    let near = stack.flags & NEAR != 0 && stack.bytes < MIB;
    assert!(!near || !pages.contains_key(&(below & !(PAGE - 1))), "{stack:x?}");
}

/// A domain's tables: no aligned MiB that a table translates has both kinds, and there is memory for each.
fn tables(plan: &Plan, spot: &DomainSpot, index: u32) -> Vec<(u32, u32)> {
    let entries: Vec<system::Area> = spot.entries(index).collect();
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    for entry in &entries {
        for mib in system::vmsav7::touched(entry).filter(|mib| system::vmsav7::is_in_table(entry, *mib)) {
            let near = entry.flags & NEAR != 0;
            // A locked entry goes with either.
            if entry.flags & PINNED == 0 {
                assert_eq!(*kinds.entry(mib).or_insert(near), near, "both kinds in MiB {mib:#x}");
            }
        }
    }
    let near = kinds.values().filter(|near| **near).count() as u32;
    assert!(near * TABLE <= spot.table.1, "{near} near tables in {} bytes", spot.table.1);
    assert!(kinds.len() as u32 * TABLE <= spot.table.1 + spot.far.1);
    let on_chip = |base: u32, bytes: u32| base >= TABLES.0 && base - TABLES.0 + bytes <= TABLES.1;
    let ways = plan.locked;
    let locked = |base: u32, bytes: u32| base >= ways.base && base - ways.base + bytes <= ways.bytes;
    let root = spot.root;
    for (base, bytes, place) in [root, spot.table].into_iter().filter(|table| table.1 > 0) {
        let (on_chip, locked) = (on_chip(base, bytes), locked(base, bytes));
        assert_eq!((on_chip, locked), (place == TablePlace::OnChip, place == TablePlace::LockedWays), "{base:#x}");
    }
    assert!(spot.root.2 != TablePlace::OffChip || near == 0, "a near table behind a first-level table off the chip");
    assert!(spot.root.0.is_multiple_of(SPLIT.table_bytes()) && plan.near_tables.1 <= TABLES.1);
    let mut own = vec![(spot.root.0, SPLIT.table_bytes()), (spot.table.0, spot.table.1), (spot.far.0, spot.far.1)];
    own.retain(|range| range.1 > 0);
    own
}

/// Everything that must hold of a system that was placed.
pub(super) fn holds(plan: &Plan, system: &System, programs: &[Program]) {
    let spaces: Vec<Space> = plan.domains.iter().zip(0..).map(|(spot, index)| space(spot, index)).collect();
    // Physical page to its owner; shared memory and files apart.
    let mut owners: BTreeMap<u32, usize> = BTreeMap::new();
    let mut private = plan.frames.clone();
    private.push((plan.tables, crate::plan::TABLES_BYTES as u32));
    for (index, (spot, domain)) in plan.domains.iter().zip(&system.domains).enumerate() {
        gives_what_was_asked(spot, &spaces[index], &asked(system, domain, &programs[index]));
        guards(spot, &spaces[index]);
        private.extend(tables(plan, spot, index as u32));
        for (physical, _, flags) in spaces[index].values() {
            assert!(
                *flags & SHARED != 0 || owners.insert(*physical, index).is_none(),
                "{physical:#x} is somebody else's"
            );
        }
    }
    let reached = |(base, bytes): (u32, u32), page: u32| page < base + bytes && base < page + PAGE;
    for space in &spaces {
        for (physical, ..) in space.values() {
            assert!(private.iter().all(|range| !reached(*range, *physical)), "{physical:#x} is the kernel's");
        }
    }
    for (position, first) in private.iter().enumerate() {
        for second in &private[position + 1..] {
            assert!(first.0 >= second.0 + second.1 || second.0 >= first.0 + first.1, "{first:x?} {second:x?}");
        }
    }
    // Shared memory is where the others have it, and nobody writes what is nobody's to write.
    for (physical, ..) in spaces.iter().flat_map(BTreeMap::values).filter(|page| page.1 & WRITE != 0) {
        assert!(plan.read_only.iter().all(|range| !reached(*range, *physical)), "{physical:#x} is read only");
    }
}

/// Whether a refusal names what there is too little of.
pub(super) fn justified(system: &System, programs: &[Program], error: &PlaceError) -> bool {
    let each = system.domains.iter().zip(programs).map(|(domain, program)| asked(system, domain, program));
    // Bytes to be locked by domain and rights; domains with anything near.
    let (mut units, mut near): (BTreeMap<(usize, u32), u64>, usize) = (BTreeMap::new(), 0);
    for (index, asked) in each.enumerate() {
        for (_, bytes, rights, _) in asked.iter().filter(|asked| asked.3.access >= AccessLevel::L1) {
            *units.entry((index, *rights)).or_insert(0) += bytes + 64;
        }
        near += usize::from(asked.iter().any(|asked| asked.3.access == AccessLevel::L2));
    }
    match error {
        PlaceError::Refused(refused) => refused.refusal.rule == Rule::LockSlots && units.len() > 4,
        PlaceError::Unit { .. } => units.values().any(|bytes| *bytes > u64::from(MIB)),
        // A first-level table, and some second-level ones, beside what areas take.
        PlaceError::Full { what, memory, .. } => {
            let ways = system.pages.as_ref().map_or(0, |pages| pages.locked_bytes);
            let (tables, areas) = (near as u32 * (SPLIT.table_bytes() + 6 * TABLE), on_chip(system, programs));
            let of_domain = matches!(what, Item::Of(Part::Table, _));
            if of_domain { tables + areas > TABLES.1 + ways } else { memory == "ocm" && areas > TABLES.1 }
        }
        _ => false,
    }
}

/// Bytes that areas take on the chip at most, with what lies between them.
fn on_chip(system: &System, programs: &[Program]) -> u32 {
    let each = system.domains.iter().zip(programs).map(|(domain, program)| {
        let stack = stack_bytes(domain) + 3 * PAGE;
        let data = program.data.bytes + domain.data.extra + 3 * PAGE;
        let own = [(&domain.data, data), (&domain.stack, stack + domain.stack.extra)];
        let arenas = domain.envelopes.iter().map(|envelope| (&envelope.area, envelope.area.extra + 2 * PAGE));
        own.into_iter().chain(arenas).filter(|(area, _)| area.memory == OCM).map(|(_, bytes)| bytes).sum::<u32>()
    });
    each.sum()
}
