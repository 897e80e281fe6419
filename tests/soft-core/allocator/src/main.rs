//! Allocates from a demand area as Rust programs do, and says which pages are in use. Its lock is an atomic instruction, which the core does not have.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

use cofferdam::{Console, Start, sys};
use heap::DEFAULT;

cofferdam::entry!(main);

fn main(_: Start) -> u32 {
    let mut console = Console::new();
    let word = AtomicU32::new(0);
    let before = sys::time_now() as u32;
    word.swap(sys::time_now() as u32, SeqCst);
    let ticks = (sys::time_now() as u32).wrapping_sub(word.load(SeqCst)) - (word.load(SeqCst) - before);
    let _ = writeln!(console, "atomic: {}, in {ticks} ticks", atomic());
    let small: Vec<Box<u32>> = (0..100).map(Box::new).collect();
    let used = DEFAULT.pages().0;
    let mut large = vec![1_u8; 60_000];
    let with_large = DEFAULT.pages().0;
    large[30_000] = 7;
    let sum: u32 = large.iter().map(|byte| u32::from(*byte)).sum();
    drop(large);
    let without = DEFAULT.pages().0;
    let mut map: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    (0..40).for_each(|key| _ = map.insert(key, vec![key; 100]));
    let kept = map.iter().all(|(key, words)| words.iter().all(|word| word == key))
        && small.iter().map(|word| **word).eq(0..100);
    drop((small, map));
    let _ = writeln!(console, "pages: {used}, {with_large}, {without}, {}; sum {sum}, kept {kept}", DEFAULT.pages().0);
    0
}

/// Whether each atomic operation does what it should.
fn atomic() -> bool {
    let (word, signed) = (AtomicU32::new(5), AtomicI32::new(-3));
    let told = [
        word.swap(9, SeqCst) == 5,
        word.fetch_add(u32::MAX, SeqCst) == 9,
        word.fetch_or(0x10, SeqCst) == 8,
        word.fetch_and(0x1c, SeqCst) == 0x18,
        word.fetch_xor(1, SeqCst) == 0x18,
        word.fetch_max(u32::MAX - 1, SeqCst) == 0x19,
        word.fetch_min(100, SeqCst) == u32::MAX - 1,
        signed.fetch_min(4, SeqCst) == -3,
        signed.fetch_max(2, SeqCst) == -3,
        signed.fetch_min(-7, SeqCst) == 2,
        word.compare_exchange(100, 1, SeqCst, SeqCst) == Ok(100),
        word.compare_exchange(100, 2, SeqCst, SeqCst) == Err(1),
        word.load(SeqCst) == 1 && signed.load(SeqCst) == -7,
    ];
    told.iter().all(|is_right| *is_right)
}
