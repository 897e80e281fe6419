//! The ledger against its shadow: what it grants adds up, what it refuses changes nothing, and what it proposes is admitted.

use std::vec;
use std::vec::Vec;

use super::M7;
use super::world::{Lists, Shadow, refused_in_steps};
use crate::*;

type Book = Ledger<3, 2>;

const L1: TemporalSpec = TemporalSpec::level(AccessLevel::L1);
const L2: TemporalSpec = TemporalSpec::level(AccessLevel::L2);
const PINNED: TemporalSpec = TemporalSpec::level(AccessLevel::Deterministic);
const MISSES: u32 = 9;

/// Domain 0 has its table in TCM, domain 1 on the chip and a miss budget, domain 2 on the chip and at least three paged slots.
fn book() -> (Book, Lists) {
    let mut book = Book::new(M7, [2048, 4096, 0, 0]);
    book.add_pool(MemoryClass::OffChip, 0x8000).unwrap();
    book.add_pool(MemoryClass::OnChip, 0x1000).unwrap();
    assert_eq!(book.open(&Opening::new(TablePlace::Tcm, 1024)), Ok(0));
    let second = Opening { misses: MISSES, ..Opening::new(TablePlace::OnChip, 512) };
    assert_eq!(book.open(&second), Ok(1));
    let third = Opening { paged_slots: 3, ..Opening::new(TablePlace::OnChip, 0) };
    assert_eq!(book.open(&third), Ok(2));
    (book, Lists(vec![vec![(0x6000_0000, 0x8000)], vec![(0x2002_0000, 0x1000)]]))
}

fn request(domain: u8, spec: TemporalSpec) -> Request {
    Request { domain, spec, code: false, slots: 1, table_bytes: 64, descriptors: 0, misses: 0, frames: None }
}

#[test]
fn a_grant_says_what_is_promised() {
    let (mut book, mut lists) = book();
    let weaker = book.admit(&request(0, L2), &mut lists).unwrap();
    let bound = Bound { level: AccessLevel::L1, cycles: 180, method: Method::Observed };
    assert_eq!((weaker.bound, weaker.charge.slots, weaker.charge.table_bytes), (Some(bound), 0, 64));
    let pinned = book.admit(&Request { slots: 3, ..request(0, PINNED) }, &mut lists).unwrap();
    assert_eq!((pinned.bound.unwrap().cycles, pinned.charge.slots, pinned.charge.table_bytes), (0, 3, 0));
    assert_eq!(book.accounts()[0].table(), Quantity { total: 1024, used: 64 });
    assert_eq!(book.table_memory(TablePlace::Tcm).left(), 1024);
}

#[test]
fn each_rule_refuses_with_its_numbers_and_the_change() {
    let (mut book, mut lists) = book();
    let wanted = |bytes| Some(Wanted { bytes, align: 1, at: None });
    let mut refused = |request: Request| book.admit(&request, &mut lists).unwrap_err();
    let refusal = |rule, asked, left, change| Refusal { rule, asked, left, change };
    assert_eq!(refused(request(3, L1)), refusal(Rule::Domain, 3, 3, Change::None));
    let empty = Request { frames: wanted(0), ..request(0, L1) };
    assert_eq!(refused(empty), refusal(Rule::Size, 0, 1, Change::None));
    let third = TemporalSpec::level(AccessLevel::L3);
    assert_eq!(refused(request(1, third)), refusal(Rule::Spec(Reason::NoThirdLevel), 1, 0, Change::Spec(L2)));
    let constant = TemporalSpec { constant_time: true, ..L2 };
    let rule = Rule::Spec(Reason::ReleaseScrubs);
    assert_eq!(refused(request(1, constant)), refusal(rule, constant.bits(), 0, Change::Spec(L2)));
    assert_eq!(refused(request(1, L1)), refusal(Rule::TableLevel, 3, 2, Change::Spec(PINNED)));
    let nine = Request { slots: 9, ..request(0, PINNED) };
    assert_eq!(refused(nine), refusal(Rule::PinnedSlots, 9, 8, Change::Spec(L1)));
    let misses = Request { misses: MISSES + 1, ..request(1, L2) };
    assert_eq!(refused(misses), refusal(Rule::Misses, MISSES + 1, MISSES, Change::Misses(MISSES)));
    let nodes = Request { table_bytes: 0x2000, ..request(1, L2) };
    assert_eq!(refused(nodes), refusal(Rule::TableMemory, 0x2000, 512, Change::Spec(PINNED)));
    let frames = Request { frames: wanted(0x9000), ..request(0, L1) };
    assert_eq!(refused(frames), refusal(Rule::Frames, 0x9000, 0x8000, Change::Bytes(0x8000)));
}

#[test]
fn registers_are_left_to_what_is_paged() {
    let (mut book, mut lists) = book();
    let six = book.admit(&Request { slots: 6, ..request(1, PINNED) }, &mut lists).unwrap();
    book.admit(&request(1, L2), &mut lists).unwrap();
    let full = book.admit(&request(1, PINNED), &mut lists).unwrap_err();
    assert_eq!((full.rule, full.left, full.change), (Rule::PinnedSlots, 0, Change::Spec(L2)));
    let code = Request { code: true, ..request(1, L2) };
    let refused = book.admit(&code, &mut lists).unwrap_err();
    let expected = Refusal { rule: Rule::PagedSlots, asked: 4, left: 2, change: Change::ReleaseRegisters(2) };
    assert_eq!(refused, expected);
    book.release(&six.charge);
    assert!(book.admit(&code, &mut lists).is_ok());
    // Three slots are kept in domain 2 because its account says so.
    book.admit(&Request { slots: 6, ..request(2, PINNED) }, &mut lists).unwrap();
    let refused = book.admit(&Request { table_bytes: 0, ..request(2, L2) }, &mut lists).unwrap_err();
    assert_eq!((refused.rule, refused.asked, refused.left), (Rule::PagedSlots, 3, 2));
}

#[test]
fn a_table_grows_into_frames_of_its_class_or_not_at_all() {
    let (mut book, mut lists) = book();
    let grown = book.admit(&Request { table_bytes: 600, ..request(1, L2) }, &mut lists).unwrap();
    assert_eq!(grown.table, Some(Range { pool: 1, base: 0x2002_0000, bytes: 2016 }));
    assert_eq!(book.accounts()[1].table(), Quantity { total: 512 + 2016, used: 600 });
    // There is no pool of TCM into which domain 0 could grow; and what was taken for a table is put back when frames are missing.
    let refused = book.admit(&Request { table_bytes: 1025, ..request(0, L1) }, &mut lists).unwrap_err();
    assert_eq!((refused.rule, refused.asked, refused.left), (Rule::TableMemory, 1025, 1024));
    let before = (book.clone(), lists.clone());
    let wanted = Some(Wanted { bytes: 0x9000, align: 1, at: None });
    assert!(book.admit(&Request { table_bytes: 2000, frames: wanted, ..request(1, L2) }, &mut lists).is_err());
    assert_eq!((book, lists), before);
}

#[test]
fn only_clean_memory_is_granted() {
    let (mut book, mut lists) = book();
    let all = Request { frames: Some(Wanted { bytes: 0x8000, align: 1, at: None }), ..request(0, L1) };
    let grant = book.admit(&all, &mut lists).unwrap();
    book.release(&grant.charge);
    assert_eq!((book.accounts()[0].held, book.accounts()[0].dirty, book.pools()[0].dirty), (0, 0x8000, 0x8000));
    let refused = book.admit(&all, &mut lists).unwrap_err();
    assert_eq!((refused.rule, refused.left), (Rule::FramesNotClean, 0x1000));
    let range = grant.charge.frames.unwrap();
    book.cleaned(0, range);
    lists.put(range);
    assert!(book.admit(&all, &mut lists).is_ok());
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % n
    }

    fn request(&mut self) -> Request {
        let frames = (self.below(3) > 0).then(|| Wanted {
            bytes: self.below(0x2800),
            align: 1 << self.below(10),
            at: (self.below(8) == 0).then(|| 0x6000_0000 + self.below(0x100) * 0x80),
        });
        let data = [None, None, None, Some(MemoryClass::OnChip), Some(MemoryClass::Tcm)][self.below(5) as usize];
        Request {
            domain: if self.below(50) == 0 { 3 } else { self.below(3) as u8 },
            spec: TemporalSpec {
                access: AccessLevel::ALL[self.below(5) as usize],
                independent: self.below(2) == 0,
                constant_time: self.below(12) == 0,
                allow_partial: false,
                data,
            },
            code: self.below(4) == 0,
            slots: 1 + self.below(3) as u8,
            table_bytes: self.below(400),
            descriptors: 0,
            misses: if self.below(3) == 0 { self.below(8) } else { 0 },
            frames,
        }
    }
}

/// The books agree with what was granted.
fn agree(book: &Book, shadow: &Shadow) {
    for (domain, account) in (0u8..).zip(book.accounts()) {
        assert_eq!(account.slots.used, shadow.registers(domain));
        assert!(shadow.registers(domain) + shadow.slots(domain) <= 8);
        assert_eq!(account.table().used, shadow.table(domain));
        assert!(account.table().used <= account.table().total);
        assert_eq!(account.misses.used, shadow.misses(domain));
        assert!(account.misses.used <= account.misses.total);
        assert_eq!(
            account.held,
            shadow.of(domain).filter_map(|grant| grant.charge.frames).map(|range| range.bytes).sum::<u32>()
        );
        let dirty = shadow.dirty.iter().filter(|(of, _)| *of == domain).map(|(_, range)| range.bytes);
        assert_eq!(account.dirty, dirty.sum::<u32>());
    }
    for (number, pool) in (0u8..).zip(book.pools()) {
        let of = |range: &&Range| range.pool == number;
        let sum =
            |ranges: &mut dyn Iterator<Item = Range>| ranges.filter(|range| of(&range)).map(|range| range.bytes).sum();
        let dirty: u32 = sum(&mut shadow.dirty.iter().map(|(_, range)| *range));
        let held: u32 = sum(&mut shadow.grants.iter().filter_map(|grant| grant.charge.frames));
        let tables: u32 = sum(&mut shadow.tables.iter().copied());
        assert_eq!((pool.dirty, pool.clean.used), (dirty, dirty + held + tables));
    }
    assert!(shadow.disjoint());
}

/// Applies the change that a refusal proposes; `None` when it proposes none.
fn apply(book: &mut Book, shadow: &mut Shadow, request: Request, change: Change) -> Option<Request> {
    let domain = request.domain;
    match change {
        Change::None => return None,
        Change::Spec(spec) => return Some(Request { spec, ..request }),
        Change::Bytes(bytes) => {
            return Some(Request { frames: request.frames.map(|wanted| Wanted { bytes, ..wanted }), ..request });
        }
        Change::Misses(misses) => return Some(Request { misses, ..request }),
        Change::ReleaseRegisters(_) | Change::ReleaseTable(_) => {}
        Change::ReleaseEntries(_) => unreachable!("there are no entries to lock"),
        Change::ReleaseBytes(_) => unreachable!("there are no quotas"),
        Change::Unknown(_) => unreachable!("the search has ended"),
    }
    let before = book.accounts()[usize::from(domain)];
    loop {
        let account = book.accounts()[usize::from(domain)];
        let (done, suits): (bool, fn(&Grant) -> bool) = match change {
            Change::ReleaseTable(bytes) => {
                (before.table().used - account.table().used >= bytes, |grant| grant.charge.table_bytes > 0)
            }
            Change::ReleaseRegisters(count) => {
                (before.slots.used - account.slots.used >= count, |grant| grant.charge.slots > 0)
            }
            _ => (true, |_| false),
        };
        if done {
            return Some(request);
        }
        let own = |grant: &Grant| grant.charge.domain == domain && suits(grant);
        let index = shadow.grants.iter().position(own).expect("the refusal says that so much can be released");
        let grant = shadow.grants.remove(index);
        book.release(&grant.charge);
        shadow.dirty.extend(grant.charge.frames.map(|range| (domain, range)));
    }
}

#[test]
fn random_histories_add_up() {
    let mut kinds = [0u32; 6];
    for seed in 1..=60 {
        let ((mut book, mut lists), mut shadow, mut random) = (book(), Shadow::default(), Random(seed * 0x9e37_79b9));
        for _ in 0..300 {
            match random.below(10) {
                0..3 if !shadow.grants.is_empty() => {
                    let index = random.below(shadow.grants.len() as u32) as usize;
                    let grant = shadow.grants.swap_remove(index);
                    book.release(&grant.charge);
                    shadow.dirty.extend(grant.charge.frames.map(|range| (grant.charge.domain, range)));
                }
                3..5 if !shadow.dirty.is_empty() => {
                    let (domain, range) = shadow.dirty.swap_remove(0);
                    book.cleaned(domain, range);
                    lists.put(range);
                }
                _ => {
                    let request = random.request();
                    let before = (book.clone(), lists.clone());
                    match book.admit(&request, &mut lists) {
                        Ok(grant) => shadow.granted(grant),
                        Err(refusal) => {
                            assert_eq!(refused_in_steps(&mut book, &request, &mut lists), refusal);
                            assert_eq!((book.clone(), lists.clone()), before, "a refused request changed something");
                            kinds[refusal.change.numbers().0 as usize] += 1;
                            let Some(changed) = apply(&mut book, &mut shadow, request, refusal.change) else {
                                continue;
                            };
                            let granted = book.admit(&changed, &mut lists);
                            shadow.granted(granted.unwrap_or_else(|again| panic!("{refusal:?} then {again:?}")));
                        }
                    }
                }
            }
            agree(&book, &shadow);
        }
    }
    assert!(kinds.iter().all(|count| *count > 10), "too few refusals of a kind: {kinds:?}");
}

#[test]
fn the_hand_over_keeps_everything_and_refuses_damage() {
    let (mut book, mut lists) = book();
    let mut random = Random(77);
    for _ in 0..40 {
        let _ = book.admit(&random.request(), &mut lists);
    }
    let mut bytes = [0; block_bytes(3, 2) + 4];
    let length = book.encode(&mut bytes).unwrap();
    assert_eq!(length, block_bytes(3, 2));
    assert_eq!(Book::decode(&bytes).unwrap(), book);
    assert_eq!(Ledger::<8, 4>::decode(&bytes).unwrap().accounts(), book.accounts());
    assert_eq!(Ledger::<2, 2>::decode(&bytes).unwrap_err(), DecodeError::Capacity);
    for short in 0..length {
        assert!(Book::decode(&bytes[..short]).is_err());
        let mut damaged = bytes;
        damaged[short] ^= 0x10;
        assert!(Book::decode(&damaged).is_err(), "byte {short}");
    }
    assert_eq!(book.encode(&mut [0; 16]), None);
}

/// A block that promises more than there is, with a correct checksum.
#[test]
fn a_forged_block_promises_no_more_than_there_is() {
    let (book, _) = book();
    let mut bytes = [0; block_bytes(3, 2)];
    book.encode(&mut bytes).unwrap();
    let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    let forge = |index: usize, value: u32| {
        let mut words = words.clone();
        words[index] = value;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sum = bytes[16..].iter().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        Book::decode(&bytes)
    };
    let (platform, tables, pools, accounts) = (6, 6 + 16, 6 + 16 + 10, 6 + 16 + 10 + 12);
    let quotas = accounts + 3 * 15;
    for (index, value) in [
        (platform, 3),
        (platform + 1, 8 | 200 << 8 | 100 << 16),
        (platform + 2, 0),
        (platform + 5, 1),
        (tables + 1, 2049),
        (tables + 1, 1025),
        (tables + 9, 1),
        (pools, 4),
        (pools + 2, 0x8001),
        (pools + 3, 1),
        (accounts, 4),
        (accounts, 9 << 16),
        (accounts + 1, 1025),
        (accounts + 2, 1025),
        (accounts + 15 + 12, MISSES + 1),
        (accounts + 9, 0x1_0000),
        (accounts + 13, 5),
        // The common part of a pool, a quota that no pool gives up, one that is used up and more.
        (pools + 4, 0x7fff),
        (quotas, 2),
        (quotas + 1, 1),
        (quotas + 2, 1),
    ] {
        assert_eq!(forge(index, value).unwrap_err(), DecodeError::Inconsistent, "word {index}");
    }
    assert_eq!(forge(accounts, 3 << 8).unwrap().accounts()[0].paged_slots, 3);
}
