//! Quotas against a naive reader of the rule: nobody has more than its quota, and what is kept for one is there for it, whatever
//! others ask for.

use super::world::{Lists, refused_in_steps};
use crate::*;

type Book = Ledger<3, 2>;

const POOL: u32 = 64 * 1024;
const KEPT: [u32; 2] = [24 * 1024, 16 * 1024];

fn book() -> (Book, Lists) {
    let mut book = Book::new(super::regions(180, 260), [0, 65536, 0, 0]);
    assert_eq!(book.add_pool(MemoryClass::OffChip, POOL), Some(0));
    for domain in 0..3 {
        assert_eq!(book.open(&Opening::new(TablePlace::OnChip, 16384)), Ok(domain));
    }
    for (domain, bytes) in (0..).zip(KEPT) {
        assert!(book.keep(domain, 0, bytes));
    }
    (book, Lists(std::vec![std::vec![(0x6000_0000, POOL)]]))
}

fn request(domain: u8, bytes: u32) -> Request {
    Request {
        domain,
        spec: TemporalSpec::default(),
        code: false,
        slots: 1,
        table_bytes: 8,
        descriptors: 0,
        misses: 0,
        frames: Some(Wanted { bytes, align: 1, at: None }),
    }
}

#[test]
fn whoever_asks_without_end_gets_its_quota_and_leaves_the_others_theirs() {
    let (mut book, mut frames) = book();
    for domain in [2, 0, 1] {
        let mut got = 0;
        while let Ok(grant) = book.admit(&request(domain, 2048), &mut frames) {
            got += grant.charge.frames.unwrap().bytes;
        }
        let quota = KEPT.get(usize::from(domain)).copied().unwrap_or(POOL - KEPT[0] - KEPT[1]);
        assert_eq!(got, quota, "domain {domain}");
        let refused = book.admit(&request(domain, 2048), &mut frames).unwrap_err();
        assert_eq!((refused.rule, refused.asked, refused.left), (Rule::Quota, 2048, 0));
        // When the pool is empty, too, nobody can say what a release of one's own would free.
        let change = if domain == 1 { Change::None } else { Change::ReleaseBytes(2048) };
        assert_eq!(refused.change, change, "domain {domain}");
    }
}

#[test]
fn a_refusal_says_what_is_left_of_the_quota() {
    let (mut book, mut frames) = book();
    let held = book.admit(&request(1, 12 * 1024), &mut frames).unwrap();
    let refused = book.admit(&request(1, 8 * 1024), &mut frames).unwrap_err();
    assert_eq!((refused.rule, refused.asked, refused.left), (Rule::Quota, 8192, 4096));
    assert_eq!(refused.change, Change::Bytes(4096));
    book.admit(&request(1, 4096), &mut frames).unwrap();
    let refused = book.admit(&request(1, 8192), &mut frames).unwrap_err();
    assert_eq!((refused.left, refused.change), (0, Change::ReleaseBytes(8192)));
    assert_eq!(refused_in_steps(&mut book, &request(1, 8192), &mut frames), refused);
    // Released memory counts until it is clean.
    book.release(&held.charge);
    assert_eq!(book.admit(&request(1, 8192), &mut frames).unwrap_err().rule, Rule::Quota);
    let range = held.charge.frames.unwrap();
    book.cleaned(1, range);
    frames.give(range);
    book.admit(&request(1, 8192), &mut frames).unwrap();
}

#[test]
fn quotas_never_exceed_their_pool() {
    let (mut book, mut frames) = book();
    assert!(!book.keep(0, 0, 1024), "it has one");
    assert!(!book.keep(2, 0, POOL - KEPT[0] - KEPT[1] + 1));
    assert!(!book.keep(3, 0, 1024) && !book.keep(2, 1, 1024), "no such domain, no such pool");
    book.admit(&request(2, 1024), &mut frames).unwrap();
    assert!(!book.keep(2, 0, 4096), "it has something already");
}

#[test]
fn memory_for_tables_counts() {
    let (mut book, mut frames) = book();
    assert_eq!(book.add_pool(MemoryClass::OnChip, 8192), Some(1));
    assert!(book.keep(0, 1, 4096));
    frames.0.push(std::vec![(0x2002_0000, 8192)]);
    let nodes = |domain, bytes| Request { table_bytes: bytes, frames: None, ..request(domain, 1) };
    book.admit(&nodes(1, 16384), &mut frames).unwrap();
    let refused = book.admit(&nodes(1, 4097), &mut frames).unwrap_err();
    assert_eq!((refused.rule, refused.left), (Rule::Quota, 4096), "half of that pool is kept for another");
    book.admit(&nodes(0, 16384), &mut frames).unwrap();
    book.admit(&nodes(0, 2016), &mut frames).unwrap();
    assert_eq!(book.quota(0, 1), Quota { most: Some(4096), used: 2016 });
}

#[test]
fn a_request_for_memory_and_tables_counts_both() {
    let (mut book, mut frames) = book();
    assert_eq!(book.add_pool(MemoryClass::OnChip, 8192), Some(1));
    assert!(book.keep(0, 1, 4096));
    frames.0.push(std::vec![(0x2002_0000, 8192)]);
    // Each of both would be within the quota: 4032 bytes for the table, and as many for itself.
    let spec = TemporalSpec { data: Some(MemoryClass::OnChip), ..TemporalSpec::default() };
    let both = Request { spec, table_bytes: 16384 + 4032, ..request(0, 4032) };
    let refused = book.admit(&both, &mut frames).unwrap_err();
    assert_eq!((refused.rule, refused.left, refused.change), (Rule::Quota, 64, Change::Bytes(64)));
    assert_eq!(book.quota(0, 1).used, 0);
    book.admit(&Request { frames: Some(Wanted { bytes: 64, align: 1, at: None }), ..both }, &mut frames).unwrap();
    assert_eq!(book.quota(0, 1), Quota { most: Some(4096), used: 4096 });
}

#[test]
fn quotas_are_handed_over() {
    let (mut book, mut frames) = book();
    book.admit(&request(0, 4096), &mut frames).unwrap();
    book.admit(&request(2, 2048), &mut frames).unwrap();
    let mut bytes = std::vec![0; block_bytes(3, 1)];
    assert_eq!(book.encode(&mut bytes), Some(bytes.len()));
    assert_eq!(Book::decode(&bytes), Ok(book.clone()));
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert!(Book::decode(&other).is_err(), "{at}");
    }
}

/// Memory for tables and memory that is mapped come out of one pool, in one request.
fn near() -> (Ledger<2, 1>, Lists) {
    let mut book = Ledger::new(super::regions(180, 260), [0, 65536, 0, 0]);
    assert_eq!(book.add_pool(MemoryClass::OnChip, POOL), Some(0));
    for domain in 0..2 {
        assert_eq!(book.open(&Opening::new(TablePlace::OnChip, 0)), Ok(domain));
    }
    (book, Lists(std::vec![std::vec![(0x2002_0000, POOL)]]))
}

fn paged(domain: u8, bytes: u32) -> Request {
    let spec = TemporalSpec { access: AccessLevel::L2, ..TemporalSpec::default() };
    Request { spec, table_bytes: 296, ..request(domain, bytes) }
}

#[test]
fn one_request_for_memory_and_its_table_stays_within_a_quota() {
    let (mut book, mut frames) = near();
    assert!(book.keep(0, 0, 16384));
    let _ = book.admit(&paged(0, 16384), &mut frames);
    let Quota { most, used } = book.quota(0, 0);
    assert!(used <= most.unwrap(), "{used} bytes of a quota of {most:?}");
}

#[test]
fn one_request_for_memory_and_its_table_leaves_what_is_kept() {
    let (mut book, mut frames) = near();
    assert!(book.keep(0, 0, 16384));
    let mut size = POOL - 16384;
    // A client without a quota asks for all that is common, and then without end.
    while size > 0 {
        while book.admit(&paged(1, size), &mut frames).is_ok() {}
        size = size / 64 * 32;
    }
    let kept = book.admit(&Request { slots: 1, table_bytes: 0, ..paged(0, 16384) }, &mut frames);
    assert!(kept.is_ok(), "{:?} {:?}", kept, book.pools());
}

#[test]
fn what_has_become_possible_meanwhile_needs_no_change() {
    let (mut book, mut frames) = book();
    let (held, wanted) = (book.admit(&request(1, 12 * 1024), &mut frames).unwrap(), request(1, 8 * 1024));
    assert_eq!(book.admit_unexplained(&wanted, &mut frames).unwrap_err().change, Change::Unknown(0));
    // Any number will do for a step: a client chooses it.
    for step in [60, u32::MAX - 1, u32::MAX] {
        assert_eq!(book.explain(&wanted, step, &mut frames).unwrap_err().change, Change::None);
    }
    book.release(&held.charge);
    let range = held.charge.frames.unwrap();
    book.cleaned(1, range);
    frames.put(range);
    let before = (book.clone(), frames.clone());
    assert_eq!(book.explain(&wanted, 0, &mut frames), Ok(()));
    assert_eq!((book, frames), before, "nothing is granted");
}
