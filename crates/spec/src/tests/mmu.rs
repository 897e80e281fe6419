//! The ledger of a chip with an MMU against a shadow that is told only what was granted.

use std::vec::Vec;

use crate::mmu::{Budget, Constant, Costs, Grant, Ledger, Meaning, Platform, Range, Request, TablePlace, block_bytes};
use crate::*;

const A9: Platform = Platform::cortex_a9(Costs { main_tlb: 6, walk_on_chip: 60, walk_locked_ways: 70 });
type Book = Ledger<3, 2>;

const fn level(access: AccessLevel) -> TemporalSpec {
    TemporalSpec::level(access)
}
const PINNED: TemporalSpec = level(AccessLevel::Deterministic);
const L1: TemporalSpec = level(AccessLevel::L1);
const L2: TemporalSpec = level(AccessLevel::L2);
const WEAK: TemporalSpec = level(AccessLevel::BestEffort);

/// Two ways, and on-chip memory for two first-level tables and three others. Domain 1 has its first-level table off the chip.
fn book() -> Book {
    book_with(64 << 10)
}

fn book_with(off_chip: u32) -> Book {
    let mut book = Book::new(A9, Budget { on_chip: 19 * 1024, ways: 2, off_chip });
    book.add_pool(MemoryClass::OffChip, 1 << 20).unwrap();
    book.add_pool(MemoryClass::OnChip, 16 << 10).unwrap();
    let places = [TablePlace::OnChip, TablePlace::OffChip, TablePlace::OnChip];
    assert_eq!(places.map(|place| book.open(place)), [Ok(0), Ok(1), Ok(2)]);
    assert_eq!(book.open(TablePlace::OnChip).unwrap_err().rule, Rule::Domain);
    book
}

fn request(domain: u8, spec: TemporalSpec, pages: u32) -> Request {
    Request { domain, spec, entries: pages, descriptors: pages, tables: 1, frames: None }
}

#[test]
fn each_level_is_kept_or_refused() {
    let bound = |cycles, level| Bound { level, cycles, method: Method::Derived };
    let locked = Ok(Meaning::LockedEntries(bound(6, AccessLevel::Deterministic)));
    assert_eq!((A9.meaning(PINNED), A9.meaning(L1)), (locked, locked));
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
fn a_grant_says_where_and_how_long() {
    let mut book = book();
    let pinned = book.admit(&request(0, L1, 3)).unwrap();
    assert_eq!((pinned.locked, pinned.place, pinned.bound.unwrap().cycles), (3, TablePlace::OffChip, 6));
    let near = book.admit(&request(0, L2, 40)).unwrap();
    let l2 = |cycles| Some(Bound { level: AccessLevel::L2, cycles, method: Method::Derived });
    assert_eq!((near.locked, near.place, near.bound, near.new_ways), (0, TablePlace::OnChip, l2(60), 0));
    // Not enough on the chip for all: all in locked ways, with the weaker of two bounds. Then what is left on the chip is used again.
    let ways = book.admit(&Request { tables: 3, ..request(0, L2, 40) }).unwrap();
    assert_eq!((ways.place, ways.table_bytes, ways.bound, ways.new_ways), (TablePlace::LockedWays, 3072, l2(70), 1));
    assert_eq!(book.admit(&request(2, L2, 1)).unwrap().place, TablePlace::OnChip);
    let more = book.admit(&Request { tables: 62, ..request(0, L2, 40) }).unwrap();
    assert_eq!((more.new_ways, book.locked_ways()), (1, 2));
    let weak = book.admit(&request(0, WEAK, 40)).unwrap();
    assert_eq!((weak.place, weak.bound, weak.independence, weak.constant), (TablePlace::OffChip, None, None, None));
    let partly = TemporalSpec { independent: true, allow_partial: true, ..L2 };
    let independence = book.admit(&request(2, partly, 1)).unwrap().independence.unwrap();
    assert!(independence.not_kept.contains("displace"), "{independence:?}");
    let constant = TemporalSpec { constant_time: true, ..WEAK };
    let granted = book.admit(&Request { frames: Some(0x4000), ..request(2, constant, 4) }).unwrap();
    assert_eq!(granted.constant, Some(Constant { descriptors: 4, cleared: 0x4000 }));
    assert_eq!(book.accounts()[2].tables, [2048, 0, 1024]);
}

#[test]
fn each_rule_refuses_with_its_numbers_and_the_change() {
    let mut book = book();
    let refusal = |rule, asked, left, change| Refusal { rule, asked, left, change };
    let mut refused = |request: &Request| book.admit(request).unwrap_err();
    assert_eq!(refused(&request(3, L2, 1)), refusal(Rule::Domain, 3, 3, Change::None));
    assert_eq!(refused(&request(0, L2, 0)), refusal(Rule::Size, 0, 1, Change::None));
    assert_eq!(refused(&request(0, PINNED, 5)), refusal(Rule::LockSlots, 5, 4, Change::Spec(L2)));
    let rule = Rule::Spec(Reason::PartlyIndependent);
    let alone = TemporalSpec { independent: true, ..L2 };
    let partly = TemporalSpec { allow_partial: true, ..alone };
    assert_eq!(refused(&request(0, alone, 1)), refusal(rule, alone.bits(), 0, Change::Spec(partly)));
    let constant = TemporalSpec { constant_time: true, ..L2 };
    assert_eq!(refused(&request(0, constant, 65)), refusal(Rule::ConstantTime, 65, 64, Change::Spec(L2)));
    // A first-level table off the chip keeps no walk on it, whatever the others do.
    assert_eq!(refused(&request(1, L2, 9)), refusal(Rule::TableLevel, 2, 0, Change::Spec(WEAK)));
    let third = level(AccessLevel::L3);
    assert_eq!(refused(&request(0, third, 9)), refusal(Rule::Spec(Reason::NoThirdLevel), 1, 0, Change::Spec(L2)));
    let most = 2 * (64 << 10);
    let all = Request { tables: 129, ..request(0, L2, 9) };
    assert_eq!(refused(&all), refusal(Rule::TableMemory, 129 * 1024, most, Change::None));
    let much = Request { frames: Some(2 << 20), ..request(0, L2, 9) };
    assert_eq!(refused(&much), refusal(Rule::Pages, 2 << 20, 1 << 20, Change::Bytes(1 << 20)));
    let near = TemporalSpec { data: Some(MemoryClass::OnChip), ..L2 };
    let much = Request { frames: Some(0x5000), ..request(0, near, 9) };
    assert_eq!(refused(&much), refusal(Rule::Pages, 0x5000, 0x4000, Change::Bytes(0x4000)));
}

#[test]
fn what_is_ones_own_can_be_released_first() {
    let mut book = book();
    let pinned = book.admit(&request(1, PINNED, 4)).unwrap();
    while book.admit(&Request { tables: 8, ..request(1, WEAK, 1) }).is_ok() {}
    while book.admit(&request(1, WEAK, 1)).is_ok() {}
    assert_eq!(book.table_memory(TablePlace::OffChip).left(), 0);
    let full = Request { tables: 0, ..request(1, PINNED, 2) };
    let refused = Refusal { rule: Rule::LockSlots, asked: 2, left: 0, change: Change::ReleaseEntries(2) };
    assert_eq!(book.admit(&full).unwrap_err(), refused);
    let more = Request { tables: 0, ..request(1, PINNED, 5) };
    assert_eq!(book.admit(&more).unwrap_err().change, Change::Spec(WEAK), "the chip has no five slots");
    let full = request(1, WEAK, 1);
    let refused = Refusal { rule: Rule::TableMemory, asked: 1024, left: 0, change: Change::ReleaseTable(1024) };
    assert_eq!(book.admit(&full).unwrap_err(), refused);
    book.release(&pinned);
    assert_eq!(book.lock_slots().left(), 4);
    assert!(book.admit(&full).is_ok());
    // Another domain's slots cannot be released by asking.
    book.admit(&Request { tables: 0, ..request(1, PINNED, 4) }).unwrap();
    assert_eq!(book.admit(&request(0, PINNED, 1)).unwrap_err().change, Change::Spec(L2));
}

#[test]
fn only_clean_memory_is_granted() {
    let mut book = book();
    let all = Request { frames: Some(1 << 20), ..request(0, L2, 1) };
    let grant = book.admit(&all).unwrap();
    book.release(&grant);
    let expected = Refusal { rule: Rule::FramesNotClean, asked: 1 << 20, left: 0x4000, change: Change::Bytes(0x4000) };
    assert_eq!(book.admit(&all).unwrap_err(), expected);
    book.cleaned(0, grant.frames.unwrap());
    assert!(book.admit(&all).is_ok());
}

/// What a domain gives back may lie where it does not help; nothing is proposed then.
#[test]
fn a_release_is_proposed_only_where_any_helps() {
    let mut book = book();
    book.admit(&Request { tables: 128, ..request(2, L2, 9) }).unwrap();
    book.admit(&Request { tables: 2, ..request(0, L2, 9) }).unwrap();
    book.admit(&Request { tables: 1, ..request(2, L2, 9) }).unwrap();
    let full = request(0, L2, 9);
    let refusal = |left, change| Refusal { rule: Rule::TableMemory, asked: 1024, left, change };
    assert_eq!(book.admit(&full).unwrap_err(), refusal(0, Change::ReleaseTable(1024)));
    assert_eq!(book.admit(&request(0, WEAK, 9)).unwrap().place, TablePlace::OffChip);
    assert_eq!(book.admit(&full).unwrap_err(), refusal(0, Change::Spec(WEAK)));
}

#[test]
fn at_least_one_way_stays_unlocked() {
    let book = Book::new(A9, Budget { on_chip: 0, ways: 200, off_chip: 0 });
    assert_eq!(book.table_memory(TablePlace::LockedWays).total, 7 * (64 << 10));
}

#[derive(Default)]
struct Shadow {
    grants: Vec<Grant>,
    dirty: Vec<(u8, Range)>,
}

impl Shadow {
    fn sum(&self, of: impl Fn(&Grant) -> u32) -> u32 {
        self.grants.iter().map(of).sum()
    }
}

fn agree(book: &Book, shadow: &Shadow) {
    let slots = shadow.sum(|grant| u32::from(grant.locked));
    assert!(slots <= 4);
    assert_eq!(book.lock_slots(), Quantity { total: 4, used: slots });
    for (place, roots) in TablePlace::ALL.into_iter().zip([2, 0, 1]) {
        let used = shadow.sum(|grant| if grant.place == place { grant.table_bytes } else { 0 }) + 8192 * roots;
        assert_eq!(book.table_memory(place).used, used);
        assert!(used <= book.table_memory(place).total);
    }
    for (number, pool) in (0u8..).zip(book.pools()) {
        let of = |range: &Range| if range.pool == number { range.bytes } else { 0 };
        let dirty: u32 = shadow.dirty.iter().map(|(_, range)| of(range)).sum();
        let held = shadow.sum(|grant| grant.frames.as_ref().map_or(0, of));
        assert_eq!((pool.dirty, pool.clean.used), (dirty, dirty + held));
    }
    for (number, account) in (0u8..).zip(book.accounts()) {
        let own = |of: fn(&Grant) -> u32| shadow.sum(|grant| if grant.domain == number { of(grant) } else { 0 });
        assert_eq!(u32::from(account.locked), own(|grant| u32::from(grant.locked)));
        assert_eq!(account.tables.iter().sum::<u32>(), own(|grant| grant.table_bytes));
        assert_eq!(account.held, own(|grant| grant.frames.map_or(0, |range| range.bytes)));
    }
}

/// Releases so much of a domain's own as a refusal says.
fn release_own(book: &mut Book, shadow: &mut Shadow, domain: u8, change: Change) {
    let own = |book: &Book| {
        let account = book.accounts()[usize::from(domain)];
        match change {
            Change::ReleaseEntries(_) => u32::from(account.locked),
            _ => account.tables.iter().sum(),
        }
    };
    let (before, missing) = (own(book), change.numbers().1);
    while before - own(book) < missing {
        let suits = |grant: &Grant| match change {
            Change::ReleaseEntries(_) => grant.locked > 0,
            _ => grant.table_bytes > 0,
        };
        let own = |grant: &Grant| grant.domain == domain && suits(grant);
        let index = shadow.grants.iter().position(own).expect("the refusal says that so much can be released");
        let grant = shadow.grants.remove(index);
        book.release(&grant);
        shadow.dirty.extend(grant.frames.map(|range| (domain, range)));
    }
}

#[test]
fn random_histories_add_up() {
    let mut kinds = [0u32; 7];
    for seed in 1..=60u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |n: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u32 % n
        };
        let (mut book, mut shadow) = (book_with([14, 64][seed as usize % 2] << 10), Shadow::default());
        for _ in 0..200 {
            match below(10) {
                0..3 if !shadow.grants.is_empty() => {
                    let grant = shadow.grants.swap_remove(below(shadow.grants.len() as u32) as usize);
                    book.release(&grant);
                    shadow.dirty.extend(grant.frames.map(|range| (grant.domain, range)));
                }
                3 if !shadow.dirty.is_empty() => {
                    let (domain, range) = shadow.dirty.swap_remove(0);
                    book.cleaned(domain, range);
                }
                _ => {
                    let (entries, tables) = (1 + below(6), if below(4) == 0 { 40 } else { 3 });
                    let asked = Request {
                        domain: below(3) as u8,
                        spec: TemporalSpec {
                            access: AccessLevel::ALL[(below(5) * u32::from(seed % 2 == 0 || below(4) == 0)) as usize],
                            independent: below(4) == 0,
                            allow_partial: below(2) == 0,
                            constant_time: below(4) == 0,
                            data: [None, None, Some(MemoryClass::OnChip), Some(MemoryClass::OffChip)]
                                [below(4) as usize],
                        },
                        entries,
                        descriptors: entries * if below(2) == 0 { 1 } else { 16 },
                        tables: below(tables),
                        frames: (below(2) == 0).then(|| (1 + below(80)) << 12),
                    };
                    let before = book.clone();
                    match book.admit(&asked) {
                        Ok(grant) => {
                            if asked.spec.access >= AccessLevel::L2 {
                                assert!(grant.bound.is_some_and(|bound| bound.level >= asked.spec.access), "{grant:?}");
                                assert!(grant.locked > 0 || grant.place != TablePlace::OffChip, "{grant:?}");
                            }
                            shadow.grants.push(grant);
                        }
                        Err(refusal) => {
                            assert_eq!(book, before, "a refused request changed something");
                            kinds[refusal.change.numbers().0 as usize] += 1;
                            let changed = match refusal.change {
                                Change::None => continue,
                                Change::Spec(spec) => Request { spec, ..asked },
                                Change::Bytes(bytes) => Request { frames: Some(bytes), ..asked },
                                change => {
                                    release_own(&mut book, &mut shadow, asked.domain, change);
                                    asked
                                }
                            };
                            assert!(book.admits(&changed), "{refusal:?}");
                        }
                    }
                }
            }
            agree(&book, &shadow);
        }
    }
    assert!([0, 1, 2, 5, 6].iter().all(|kind| kinds[*kind] > 10), "too few refusals of a kind: {kinds:?}");
}

/// A book in use.
fn used() -> Book {
    let mut book = book();
    for (domain, spec, tables) in [(0, PINNED, 0), (0, L2, 2), (2, L2, 9), (1, WEAK, 3), (2, L1, 1)] {
        let frames = Some(0x3000);
        book.admit(&Request { tables, frames, ..request(domain, spec, 2) }).unwrap();
    }
    let gone = book.admit(&Request { frames: Some(0x2000), ..request(2, WEAK, 2) }).unwrap();
    book.release(&gone);
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
    // A ledger of region registers is none of page tables.
    assert_eq!(crate::Ledger::<3, 2>::decode(&bytes).unwrap_err(), DecodeError::Header);
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
    let (platform, tables, pools, accounts) = (6, 6 + 8, 6 + 8 + 8, 6 + 8 + 8 + 8);
    // Costs are data.
    assert_eq!(forge(platform, &|_| 7).unwrap().platform().costs.main_tlb, 7);
    let changes: [(usize, &dyn Fn(u32) -> u32); 19] = [
        (platform + 3, &|word| word + 1),
        (platform + 3, &|word| word | 1 << 24),
        (platform + 4, &|_| 0),
        (platform + 5, &|word| word + 1),
        (tables, &|word| word / 8),
        (tables + 1, &|word| word - 1024),
        (tables + 2, &|_| 8 * (64 << 10)),
        (tables + 5, &|word| word + 1024),
        (tables + 6, &|word| word + 1),
        (tables + 7, &|word| word - 1),
        (pools, &|_| 4),
        (pools + 1, &|_| 0),
        (pools + 2, &|word| word + 0x1000),
        (pools + 3, &|_| 0),
        (accounts, &|word| word + 1),
        (accounts, &|word| word + 0x100),
        (accounts, &|word| word | 1 << 16),
        (accounts + 1, &|word| word + 1024),
        (accounts + 4, &|word| word + 1),
    ];
    for (index, change) in changes {
        assert_eq!(forge(index, change).unwrap_err(), DecodeError::Inconsistent, "word {index}");
    }
}
