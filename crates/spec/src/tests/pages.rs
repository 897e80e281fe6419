//! The ledger of a chip with page tables against a shadow that is told only what was granted.

use std::vec::Vec;

use super::world::{Scattered, Shadow, refused_in_steps};
use crate::*;

pub const WORK: Work =
    Work { method: Method::Observed, map: Linear { base: 900, each: 40 }, release: Linear { base: 2000, each: 50 } };
const COSTS: Costs = Costs { main_tlb: 6, walk_on_chip: 60, walk_locked_ways: 70 };
const SIZES: Sizes = Sizes { lock_slots: 4, ways: 8, way_bytes: 64 << 10, window_base: 0x4000_0000 };
const A9: Platform =
    Platform::new(Hardware::Pages(Pages::new(COSTS, WORK, SIZES)), &[MemoryClass::OnChip, MemoryClass::OffChip]);
type Book = Ledger<3, 3>;

const fn level(access: AccessLevel) -> TemporalSpec {
    TemporalSpec::level(access)
}
const PINNED: TemporalSpec = level(AccessLevel::Deterministic);
const L1: TemporalSpec = level(AccessLevel::L1);
const L2: TemporalSpec = level(AccessLevel::L2);
const WEAK: TemporalSpec = level(AccessLevel::BestEffort);
const K: u32 = 1024;

const FAR: u32 = 3 << 20;
const NEAR: u32 = 16 * K;
const WAYS: u32 = 8 * K;

/// Domains 0 and 2 have their first-level tables on the chip, domain 1 off it. Each has two tables off the chip, the first two have one
/// on it, and domain 0 some in locked ways. There are pools off the chip and on it.
fn book() -> (Book, Scattered) {
    book_with(FAR)
}

fn book_with(far: u32) -> (Book, Scattered) {
    let mut book = Book::new(A9, [0, 18 * K, WAYS, 16 * K]);
    book.add_pool(MemoryClass::OffChip, far).unwrap();
    book.add_pool(MemoryClass::OnChip, NEAR).unwrap();
    for (number, root, near, ways) in
        [(0, TablePlace::OnChip, K, WAYS), (1, TablePlace::OffChip, K, 0), (2, TablePlace::OnChip, 0, 0)]
    {
        assert_eq!(book.open(&Opening { tables: [0, near, ways, 2 * K], ..Opening::new(root, 0) }), Ok(number));
    }
    assert_eq!(book.open(&Opening::new(TablePlace::OnChip, 0)).unwrap_err().rule, Rule::Domain);
    (book, Scattered::of(&[far, NEAR]))
}

/// Memory that is there already: one entry, one table.
fn request(domain: u8, spec: TemporalSpec) -> Request {
    Request { domain, spec, code: false, slots: 1, table_bytes: K, descriptors: 1, misses: 0, frames: None }
}

fn memory(domain: u8, spec: TemporalSpec, bytes: u32) -> Request {
    Request { frames: Some(Wanted { bytes, align: 1, at: None }), ..request(domain, spec) }
}

#[test]
fn each_level_is_kept_or_refused() {
    let locked = Bound { level: AccessLevel::Deterministic, cycles: 6, method: Method::Derived };
    assert_eq!((A9.meaning(PINNED), A9.meaning(L1)), (Ok(Meaning::Pinned(locked)), Ok(Meaning::Pinned(locked))));
    assert_eq!(A9.meaning(L2), Ok(Meaning::Tables(&[TablePlace::OnChip, TablePlace::LockedWays])));
    assert_eq!(A9.meaning(level(AccessLevel::L3)), Err(Reason::NoThirdLevel));
    assert_eq!(A9.meaning(WEAK), Ok(Meaning::Tables(&[TablePlace::OffChip])));
    let tcm = TemporalSpec { data: Some(MemoryClass::Tcm), ..L2 };
    assert_eq!(A9.meaning(tcm), Err(Reason::NoSuchMemory));
    for access in AccessLevel::ALL {
        let alone = TemporalSpec { independent: true, ..level(access) };
        let partly = TemporalSpec { allow_partial: true, ..alone };
        assert_eq!(A9.meaning(alone), Err(Reason::PartlyIndependent));
        assert_eq!(A9.meaning(partly), A9.meaning(level(access)));
        // Region registers and tables belong to one domain: there it changes nothing.
        assert_eq!(super::M7.meaning(partly), super::M7.meaning(alone));
    }
}

#[test]
fn a_grant_says_where_its_tables_lie_and_how_long_everything_takes() {
    let (mut book, mut frames) = book();
    let l2 = |cycles| Some(Bound { level: AccessLevel::L2, cycles, method: Method::Derived });
    let near = book.admit(&memory(0, L2, 40 * K + 1), &mut frames).unwrap();
    assert_eq!((near.charge.slots, near.charge.place, near.bound), (0, TablePlace::OnChip, l2(60)));
    assert_eq!(near.charge.frames.unwrap().bytes, 44 * K, "whole pages");
    let effort = Effort { descriptors: 11, map_cycles: 1340, release_cycles: 2550, method: Method::Observed };
    assert_eq!((near.effort, near.independence, near.table), (Some(effort), None, None));
    // Its one table on the chip is in use: it grows there, by a page of four.
    let more = book.admit(&request(0, L2), &mut frames).unwrap();
    assert_eq!((more.charge.place, more.table), (TablePlace::OnChip, Some(Range { pool: 1, base: 0, bytes: 4 * K })));
    assert_eq!(book.accounts()[0].tables[1], Quantity { total: 5 * K, used: 2 * K });
    let weak = book.admit(&memory(0, WEAK, 1), &mut frames).unwrap();
    assert_eq!((weak.charge.place, weak.bound), (TablePlace::OffChip, None));
    let partly = TemporalSpec { independent: true, allow_partial: true, ..L2 };
    let independence = book.admit(&request(0, partly), &mut frames).unwrap().independence.unwrap();
    assert!(independence.not_kept.is_some_and(|text| text.contains("displace")), "{independence:?}");
    let constant = TemporalSpec { constant_time: true, ..WEAK };
    let granted = book.admit(&memory(0, constant, 256 * K), &mut frames).unwrap();
    assert_eq!(granted.effort.map(|effort| effort.descriptors), Some(64));
}

#[test]
fn what_is_locked_is_one_unit_for_each_entry() {
    let (mut book, mut frames) = book();
    for (bytes, unit, entries) in [(1, 4 * K, 1), (4 * K + 1, 64 * K, 1), (65 * K, K * K, 1)] {
        let spec = if bytes == 1 { L1 } else { PINNED };
        let grant = book.admit(&memory(2, spec, bytes), &mut frames).unwrap();
        let range = grant.charge.frames.unwrap();
        assert_eq!((grant.charge.slots, range.bytes, range.base % unit), (entries, unit, 0));
        assert_eq!((grant.charge.place, grant.bound.unwrap().cycles), (TablePlace::OffChip, 6));
        book.release(&grant.charge);
        book.cleaned(2, range);
        frames.give(range);
    }
    // Two sections, and no table for them; what is in a unit that is locked already takes no entry.
    let two = book.admit(&Request { table_bytes: 0, ..memory(1, PINNED, (1 << 20) + 1) }, &mut frames).unwrap();
    assert_eq!((two.charge.slots, two.effort.unwrap().descriptors), (2, 2));
    let inside = book.admit(&Request { slots: 0, table_bytes: 0, ..request(1, PINNED) }, &mut frames).unwrap();
    assert_eq!((inside.charge.slots, book.lock_slots().left()), (0, 2));
}

#[test]
fn tables_go_into_locked_ways_when_the_chip_has_no_room_and_never_farther() {
    let (mut book, mut frames) = book();
    let mut places = Vec::new();
    let refusal = loop {
        match book.admit(&request(0, L2), &mut frames) {
            Ok(grant) => places.push((grant.charge.place, grant.bound.unwrap().cycles)),
            Err(refusal) => break refusal,
        }
    };
    // One table and a pool of sixteen on the chip, eight in locked ways.
    let expected = [vec_of(17, (TablePlace::OnChip, 60)), vec_of(8, (TablePlace::LockedWays, 70))].concat();
    assert_eq!(places, expected);
    let release = Refusal { rule: Rule::TableMemory, asked: K, left: 0, change: Change::Spec(L1) };
    assert_eq!(refusal, release);
    assert_eq!(book.admit(&memory(0, L2, 3 * K), &mut frames).unwrap_err().rule, Rule::TableMemory);
    assert_eq!(book.accounts()[0].tables[3].used, 0, "never off the chip");
    let all = FAR + NEAR;
    assert_eq!(book.admit(&memory(0, WEAK, all), &mut frames).unwrap_err().left, FAR);
}

fn vec_of<T: Clone>(count: usize, value: T) -> Vec<T> {
    std::vec![value; count]
}

#[test]
fn each_rule_refuses_with_its_numbers_and_the_change() {
    let (mut book, mut frames) = book();
    let refusal = |rule, asked, left, change| Refusal { rule, asked, left, change };
    let mut refused = |request: &Request| book.admit(request, &mut frames).unwrap_err();
    assert_eq!(refused(&request(3, L2)), refusal(Rule::Domain, 3, 3, Change::None));
    assert_eq!(refused(&memory(0, L2, 0)), refusal(Rule::Size, 0, 1, Change::None));
    let five = Request { slots: 5, ..request(0, PINNED) };
    assert_eq!(refused(&five), refusal(Rule::LockSlots, 5, 4, Change::Spec(L2)));
    let rule = Rule::Spec(Reason::PartlyIndependent);
    let alone = TemporalSpec { independent: true, ..L2 };
    let partly = TemporalSpec { allow_partial: true, ..alone };
    assert_eq!(refused(&request(0, alone)), refusal(rule, alone.bits(), 0, Change::Spec(partly)));
    let constant = TemporalSpec { constant_time: true, ..L2 };
    assert_eq!(refused(&memory(0, constant, 257 * K)), refusal(Rule::ConstantTime, 65, 64, Change::Spec(L2)));
    // A first-level table off the chip keeps no walk on it, whatever the others do.
    assert_eq!(refused(&memory(1, L2, 9)), refusal(Rule::TableLevel, 2, 0, Change::Spec(L1)));
    let third = level(AccessLevel::L3);
    assert_eq!(refused(&request(0, third)), refusal(Rule::Spec(Reason::NoThirdLevel), 1, 0, Change::Spec(L2)));
    let all = Request { table_bytes: 129 * K, ..request(0, L2) };
    assert_eq!(refused(&all), refusal(Rule::TableMemory, 129 * K, WAYS, Change::Spec(L1)));
    assert_eq!(refused(&memory(0, L2, 4 << 20)), refusal(Rule::Pages, 4 << 20, 3 << 20, Change::Bytes(3 << 20)));
    assert_eq!(refused(&memory(0, L2, u32::MAX)).rule, Rule::Pages);
    let near = TemporalSpec { data: Some(MemoryClass::OnChip), ..L2 };
    assert_eq!(refused(&memory(0, near, 20 * K)), refusal(Rule::Pages, 20 * K, NEAR, Change::Bytes(NEAR)));
}

#[test]
fn what_is_ones_own_can_be_released_first() {
    let (mut book, mut frames) = book();
    let pinned = book.admit(&Request { slots: 4, table_bytes: 0, ..request(1, PINNED) }, &mut frames).unwrap();
    let two = Request { slots: 2, table_bytes: 0, ..request(1, PINNED) };
    let refused = Refusal { rule: Rule::LockSlots, asked: 2, left: 0, change: Change::ReleaseEntries(2) };
    assert_eq!(book.admit(&two, &mut frames).unwrap_err(), refused);
    // A weaker specification that is still promised comes first, and another domain's slots cannot be released by asking.
    assert_eq!(book.admit(&request(0, PINNED), &mut frames).unwrap_err().change, Change::Spec(L2));
    let five = Request { slots: 5, ..two };
    assert_eq!(book.admit(&five, &mut frames).unwrap_err().change, Change::Spec(WEAK), "the chip has no five slots");
    // All memory off the chip in use, but for two tables' worth of them.
    let rest = memory(0, WEAK, FAR);
    let held = book.admit(&rest, &mut frames).unwrap();
    let weak = request(1, WEAK);
    let mine: Vec<Grant> = (0..2).map(|_| book.admit(&weak, &mut frames).unwrap()).collect();
    let refused = Refusal { rule: Rule::TableMemory, asked: K, left: 0, change: Change::ReleaseTable(K) };
    assert_eq!(book.admit(&weak, &mut frames).unwrap_err(), refused);
    book.release(&mine[0].charge);
    assert!(book.admit(&weak, &mut frames).is_ok());
    book.release(&pinned.charge);
    book.release(&held.charge);
    assert_eq!(book.lock_slots().left(), 4);
}

#[test]
fn only_clean_memory_is_granted() {
    let (mut book, mut frames) = book();
    let all = memory(0, L2, FAR);
    let grant = book.admit(&all, &mut frames).unwrap();
    book.release(&grant.charge);
    let expected = Refusal { rule: Rule::FramesNotClean, asked: FAR, left: NEAR, change: Change::Bytes(NEAR) };
    assert_eq!(book.admit(&all, &mut frames).unwrap_err(), expected);
    book.cleaned(0, grant.charge.frames.unwrap());
    frames.give(grant.charge.frames.unwrap());
    assert!(book.admit(&all, &mut frames).is_ok());
}

fn agree(book: &Book, shadow: &Shadow, frames: &Scattered) {
    let slots: u32 = (0..3).map(|domain| shadow.registers(domain)).sum();
    assert!(slots <= 4);
    assert_eq!(book.lock_slots(), Quantity { total: 4, used: slots });
    for (number, account) in (0u8..).zip(book.accounts()) {
        assert_eq!(account.slots.used, shadow.registers(number));
        for place in TablePlace::ALL {
            let own = shadow.of(number).filter(|grant| grant.charge.place == place);
            let table = account.tables[place as usize];
            assert_eq!(table.used, own.map(|grant| grant.charge.table_bytes).sum::<u32>());
            assert!(table.used <= table.total);
        }
        let held = shadow.of(number).filter_map(|grant| grant.charge.frames).map(|range| range.bytes).sum::<u32>();
        assert_eq!(account.held, held);
    }
    let granted = shadow.grants.iter().filter_map(|grant| grant.charge.frames);
    let all: Vec<Range> =
        granted.chain(shadow.dirty.iter().map(|(_, range)| *range)).chain(shadow.tables.iter().copied()).collect();
    for (number, pool) in (0u8..).zip(book.pools()) {
        let own = all.iter().filter(|range| range.pool == number);
        let mut pages: Vec<usize> = own.clone().flat_map(|range| frames.pages(*range)).collect();
        assert_eq!(pool.clean.used, own.map(|range| range.bytes).sum::<u32>());
        pages.sort_unstable();
        let count = pages.len();
        pages.dedup();
        assert_eq!((pages.len(), pages.len() as u32 * PAGE_BYTES), (count, pool.clean.used), "no page twice");
    }
}

/// Releases so much of a domain's own as a refusal says.
fn release_own(book: &mut Book, shadow: &mut Shadow, domain: u8, change: Change) {
    let own = |book: &Book| {
        let account = book.accounts()[usize::from(domain)];
        match change {
            Change::ReleaseEntries(_) => account.slots.used,
            _ => account.tables.iter().map(|table| table.used).sum(),
        }
    };
    let (before, missing) = (own(book), change.numbers().1);
    while before - own(book) < missing {
        let suits = |grant: &Grant| match change {
            Change::ReleaseEntries(_) => grant.charge.slots > 0,
            _ => grant.charge.table_bytes > 0,
        };
        let own = |grant: &Grant| grant.charge.domain == domain && suits(grant);
        let index = shadow.grants.iter().position(own).expect("the refusal says that so much can be released");
        let grant = shadow.grants.remove(index);
        book.release(&grant.charge);
        shadow.dirty.extend(grant.charge.frames.map(|range| (domain, range)));
    }
}

fn random_request(below: &mut impl FnMut(u32) -> u32, strict: bool) -> Request {
    let sizes = [(1 + below(80)) << 12, 1 + below(5000), 1 << (12 + below(10))];
    let wanted = Wanted { bytes: sizes[below(3) as usize], align: 1, at: None };
    Request {
        domain: below(3) as u8,
        spec: TemporalSpec {
            access: AccessLevel::ALL[(below(5) * u32::from(strict || below(4) == 0)) as usize],
            independent: below(4) == 0,
            allow_partial: below(2) == 0,
            constant_time: below(4) == 0,
            data: [None, None, Some(MemoryClass::OnChip), Some(MemoryClass::OffChip)][below(4) as usize],
        },
        code: false,
        slots: below(4) as u8,
        table_bytes: below(4) * K,
        descriptors: below(70),
        misses: 0,
        frames: (below(2) == 0).then_some(wanted),
    }
}

#[test]
fn random_histories_add_up() {
    let mut kinds = [0u32; 7];
    for seed in 1..=40u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |n: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u32 % n
        };
        let far = [64 * K, FAR, 16 * K][seed as usize % 3];
        let ((mut book, mut frames), mut shadow) = (book_with(far), Shadow::default());
        for _ in 0..200 {
            match below(10) {
                0..3 if !shadow.grants.is_empty() => {
                    let grant = shadow.grants.swap_remove(below(shadow.grants.len() as u32) as usize);
                    book.release(&grant.charge);
                    shadow.dirty.extend(grant.charge.frames.map(|range| (grant.charge.domain, range)));
                }
                3 if !shadow.dirty.is_empty() => {
                    let (domain, range) = shadow.dirty.swap_remove(0);
                    book.cleaned(domain, range);
                    frames.give(range);
                }
                _ => {
                    let asked = random_request(&mut below, seed % 2 == 0);
                    let before = (book.clone(), frames.clone());
                    match book.admit(&asked, &mut frames) {
                        Ok(grant) => {
                            let charge = grant.charge;
                            if asked.spec.access >= AccessLevel::L2 {
                                assert!(grant.bound.is_some_and(|bound| bound.level >= asked.spec.access), "{grant:?}");
                                let locked = asked.spec.access >= AccessLevel::L1;
                                assert!(locked || charge.place != TablePlace::OffChip, "{grant:?}");
                            }
                            shadow.granted(grant);
                        }
                        Err(refusal) => {
                            assert_eq!(refused_in_steps(&mut book, &asked, &mut frames), refusal);
                            assert_eq!((&book, &frames), (&before.0, &before.1), "a refused request changed something");
                            kinds[refusal.change.numbers().0 as usize] += 1;
                            let changed = match refusal.change {
                                Change::None => continue,
                                Change::Spec(spec) => Request { spec, ..asked },
                                Change::Bytes(bytes) => {
                                    let frames = asked.frames.map(|wanted| Wanted { bytes, ..wanted });
                                    Request { frames, ..asked }
                                }
                                change => {
                                    release_own(&mut book, &mut shadow, asked.domain, change);
                                    asked
                                }
                            };
                            assert!(book.admits(&changed, &mut frames), "{refusal:?} {asked:?}");
                        }
                    }
                }
            }
            agree(&book, &shadow, &frames);
        }
    }
    assert!([0, 1, 2, 5, 6].iter().all(|kind| kinds[*kind] > 10), "too few refusals of a kind: {kinds:?}");
}

/// A book in use.
fn used() -> Book {
    let (mut book, mut frames) = book();
    for (domain, spec, tables) in [(0, PINNED, 0), (0, L2, 2), (2, L2, 3), (1, WEAK, 3), (2, L1, 1)] {
        book.admit(&Request { table_bytes: tables * K, ..memory(domain, spec, 0x3000) }, &mut frames).unwrap();
    }
    let gone = book.admit(&memory(2, WEAK, 0x2000), &mut frames).unwrap();
    book.release(&gone.charge);
    book
}

#[test]
fn the_hand_over_keeps_everything_and_refuses_damage() {
    let book = used();
    let mut bytes = [0; block_bytes(3, 2) + 4];
    let length = book.encode(&mut bytes).unwrap();
    assert_eq!(length, block_bytes(3, 2));
    assert_eq!(Book::decode(&bytes).unwrap(), book);
    assert_eq!(Ledger::<8, 4>::decode(&bytes).unwrap().accounts(), book.accounts());
    assert_eq!(Ledger::<3, 1>::decode(&bytes).unwrap_err(), DecodeError::Capacity);
    for short in 0..length {
        assert!(Book::decode(&bytes[..short]).is_err());
        let mut damaged = bytes;
        damaged[short] ^= 0x10;
        assert!(Book::decode(&damaged).is_err(), "byte {short}");
    }
    assert_eq!(book.encode(&mut [0; 16]), None);
}

/// A block with a correct checksum whose accounts and totals do not agree, or that has what no chip has.
#[test]
fn a_forged_block_promises_no_more_than_there_is() {
    let mut bytes = [0; block_bytes(3, 2)];
    used().encode(&mut bytes).unwrap();
    let forge = |index: usize, change: &dyn Fn(u32) -> u32| {
        let mut forged = bytes;
        let word = u32::from_le_bytes(forged[4 * index..4 * index + 4].try_into().unwrap());
        forged[4 * index..4 * index + 4].copy_from_slice(&change(word).to_le_bytes());
        let sum = forged[16..].iter().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
        forged[12..16].copy_from_slice(&sum.to_le_bytes());
        Book::decode(&forged)
    };
    let (platform, tables, pools, accounts) = (6, 6 + 16, 6 + 16 + 10, 6 + 16 + 10 + 12);
    // Costs are data.
    assert_eq!(forge(platform + 2, &|_| 7).unwrap().platform().pages().unwrap().costs.main_tlb, 7);
    let changes: [(usize, &dyn Fn(u32) -> u32); 28] = [
        (platform, &|word| word ^ 3),
        (platform, &|word| word | 1 << 16),
        (platform + 1, &|word| word + 1),
        (platform + 1, &|word| word & 0xff00_ffff),
        (platform + 1, &|word| word & 0x00ff_ffff),
        (platform + 9, &|_| 0),
        (platform + 9, &|_| 0x400),
        (platform + 10, &|word| word - 1),
        (platform + 11, &|_| 0),
        // Nothing is locked where every check takes the same time.
        (platform + 14, &|_| 1),
        (platform + 14, &|_| 2),
        (tables + 2, &|word| word / 2),
        (tables + 3, &|word| word + 1024),
        (tables + 4, &|_| 8 * (64 << 10)),
        (tables + 8, &|word| word + 1),
        (tables + 9, &|word| word - 1),
        (tables + 9, &|word| word + 1),
        (pools, &|_| 4),
        (pools, &|_| 3 | 1 << 8),
        (pools + 1, &|_| 0),
        (pools + 2, &|word| word - 0x1000),
        (pools + 3, &|_| 0),
        (accounts, &|_| 4),
        (accounts, &|word| word + 0x1_0000),
        (accounts, &|word| word | 1 << 24),
        (accounts + 4, &|word| word + 0x1_0000),
        (accounts + 3, &|word| word + 0x8000),
        (accounts + 13, &|word| word + 0x10_0000),
    ];
    for (index, change) in changes {
        assert_eq!(forge(index, change).err(), Some(DecodeError::Inconsistent), "word {index}");
    }
}
