//! Synthetic workloads: 64 KiB of SRAM, or 512 KiB of what page tables check, are read in four orders. The thread's argument chooses what is measured:
//!
//! | argument | memory | adversary, after every n accesses |
//! | --- | --- | --- |
//! | 0 | paged, then pinned, then paged so that each access misses | none |
//! | 1 | paged | the other domain runs, and loads nothing: the control of 2 and 3 |
//! | 2 | paged | this domain's, of paged memory |
//! | 3 | paged | the other domain's, of its own paged memory |
//! | 4 | pinned | the other domain runs, and loads nothing: the control of 5 and 6 |
//! | 5 | pinned | this domain's, of paged memory |
//! | 6 | pinned | this domain's, of pinned memory |
//! | 7 | heap, where page tables check it | caches and TLBs are emptied by the observer; first without |
//!
//! Stretch `10 * order + k`, from order 1: without adversary k = 0 paged, 1 pinned, 2 missing; with one, k is the index in [`EVERY`]. Of
//! argument 7, k = 0 is without, 1 after every access, and k - 2 that index. The results are the sums of what was read.
#![no_std]
#![no_main]

mod pattern;

use cofferdam::{Notification, Start};
use common::{interfere, results};
use pattern::{Matrix, Missing, Pattern, Random, Sequential, Strided, WORDS};

common::probes!(probe_chunk_start probe_chunk_end);
cofferdam::entry!(main);
cofferdam::thread!(mxu_paged, paged_adversary);
cofferdam::thread!(mxu_pinned, pinned_adversary);

/// Accesses between two turns of the adversary.
const EVERY: [u32; 6] = [4, 5, 16, 64, 256, 1024];
/// Accesses without adversary: of the matrix 17 rows.
const ACCESSES: u32 = 262_144;
const MATRIX: u32 = 557_056;
/// Accesses with an adversary.
const INTERFERED: u32 = 16_384;
/// Accesses with caches and TLBs emptied after each.
const EMPTIED: u32 = 4096;
/// The argument with which no other thread takes part.
const MARKED: u32 = 7;
/// Bytes of a region: two pages of 4 KiB.
const REGION: u32 = 8 * 1024;

fn main(start: Start) -> u32 {
    let info = start.info;
    let (heap, _) = info.heap();
    if start.argument == MARKED {
        write(heap);
        emptied(heap);
        return 0;
    }
    let Some(fixed) = info.area("fixed") else { return 1 };
    let named = |name| Notification::named(info, name);
    let (Some(paged), Some(pinned), Some(other)) = (named("paged"), named("pinned"), named("other")) else { return 2 };
    for base in [heap, fixed.base] {
        write(base);
    }
    match start.argument {
        0 => alone(heap, fixed.base),
        1 | 3 => with(heap, other),
        2 => with(heap, paged),
        4 => with(fixed.base, other),
        5 => with(fixed.base, paged),
        6 => with(fixed.base, pinned),
        _ => return 3,
    }
    let ended = [paged, pinned, other].map(|adversary| adversary.signal(2));
    if ended.iter().all(Result::is_ok) { 0 } else { 4 }
}

/// Every word is its own index.
fn write(base: u32) {
    for index in 0..WORDS {
        // SAFETY: both areas have so many words and are this domain's to write.
        unsafe { ((base + index * 4) as *mut u32).write_volatile(index) };
    }
}

fn alone(paged: u32, pinned: u32) {
    in_all_ways::<Sequential>(10, paged, pinned, ACCESSES);
    in_all_ways::<Random>(20, paged, pinned, ACCESSES);
    in_all_ways::<Strided>(30, paged, pinned, ACCESSES);
    in_all_ways::<Matrix>(40, paged, pinned, MATRIX);
}

fn in_all_ways<P: Pattern>(number: u32, paged: u32, pinned: u32, accesses: u32) {
    stretch::<P>(number, paged, accesses, accesses, Between::Nobody);
    stretch::<P>(number + 1, pinned, accesses, accesses, Between::Nobody);
    stretch::<Missing<P>>(number + 2, paged, accesses / 8, accesses / 8, Between::Nobody);
}

fn with(base: u32, adversary: Notification) {
    for (index, every) in (0..).zip(EVERY) {
        stretch::<Sequential>(10 + index, base, INTERFERED, every, Between::Adversary(adversary));
        stretch::<Random>(20 + index, base, INTERFERED, every, Between::Adversary(adversary));
        stretch::<Strided>(30 + index, base, INTERFERED, every, Between::Adversary(adversary));
        stretch::<Matrix>(40 + index, base, INTERFERED, every, Between::Adversary(adversary));
    }
}

/// The thread that has its turn between two chunks.
#[derive(Clone, Copy)]
enum Between {
    Nobody,
    Adversary(Notification),
    Observer,
}

fn emptied(base: u32) {
    in_both_ways::<Sequential>(10, base, ACCESSES);
    in_both_ways::<Random>(20, base, ACCESSES);
    in_both_ways::<Strided>(30, base, ACCESSES);
    in_both_ways::<Matrix>(40, base, MATRIX);
}

fn in_both_ways<P: Pattern>(number: u32, base: u32, accesses: u32) {
    stretch::<P>(number, base, accesses, accesses, Between::Nobody);
    stretch::<P>(number + 1, base, EMPTIED, 1, Between::Observer);
    for (number, every) in (number + 2..).zip(EVERY) {
        stretch::<P>(number, base, INTERFERED, every, Between::Observer);
    }
}

/// One stretch: chunks of `every` accesses, after each of which somebody has a turn.
fn stretch<P: Pattern>(number: u32, base: u32, accesses: u32, every: u32, between: Between) {
    let mut pattern = P::default();
    let (mut left, mut sum) = (accesses, 0u32);
    results::stretch(number);
    while left > 0 {
        let count = every.min(left);
        sum = sum.wrapping_add(chunk(&mut pattern, base, count));
        left -= count;
        match between {
            Between::Nobody => {}
            Between::Adversary(adversary) => drop(adversary.signal(1)),
            Between::Observer => results::interfere(),
        }
    }
    results::stretch(0);
    results::report(u64::from(sum));
}

#[inline(never)]
fn chunk<P: Pattern>(pattern: &mut P, base: u32, count: u32) -> u32 {
    let mut sum = 0u32;
    probe_chunk_start();
    for _ in 0..count {
        // SAFETY: the index is below the number of words, all of which this domain may read.
        sum = sum.wrapping_add(unsafe { ((base + pattern.next() * 4) as *const u32).read_volatile() });
    }
    probe_chunk_end();
    sum
}

fn paged_adversary(start: Start) -> u32 {
    Notification::named(start.info, "paged").map_or(1, |turn| interfere::by_signal(start.info, turn, "heap", REGION))
}

fn pinned_adversary(start: Start) -> u32 {
    Notification::named(start.info, "pinned").map_or(1, |turn| interfere::by_signal(start.info, turn, "foe", REGION))
}
