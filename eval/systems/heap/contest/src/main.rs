//! Allocators side by side. Each one in turn has the domain's heap and serves
//!
//! 1. requests of every size from 32 bytes to 1 MiB, each freed at once, in an otherwise empty heap;
//! 2. a long random history, at most [`Contestant::MOST_LIVE`] bytes live, the same for all;
//! 3. (but newlib's, which cannot be begun anew) a part of that history in ever less memory, until it does not suffice.
//!
//! Ours does so a second time, with smaller sizes, in tightly coupled memory, where no cache shows.
//!
//! `eval/bench/src/heaps/mod.rs` measures between the labels `probe_heap_*` and reads the marks.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // a function that holds a label is neither inlined nor a loop, so it stays single

mod contestants;
mod history;

use cofferdam::{Start, sys};

use contestants::{Buddy, Contestant, InTcm, Newlib, O1Heap, Ours, Rlsf, Within};
use history::Random;

/// Operations of the long history.
const OPERATIONS: u32 = 1_000_000;
/// Operations of the history that is repeated in less and less memory.
const PART: u32 = 10_000;
/// Unlabelled operations at the beginning of each part, so that nothing is measured at its first use.
const WARM: u32 = 500;
/// Rounds for each size.
const ROUNDS: u32 = 24;
/// The steps in which memory is taken away: so many.
const STEPS: u32 = 256;

/// Marks: `NEED + n` the bytes that contestant `n` needed, `FAILED + n` its refusals in the long history.
const NEED: u32 = 0x10;
const FAILED: u32 = 0x20;
const LIVE: u32 = 0x30;
const COUNT: u32 = 0x31;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let (base, bytes) = start.info.heap();
    contest::<Ours>(0, base, bytes);
    contest::<Rlsf>(1, base, bytes);
    contest::<O1Heap>(2, base, bytes);
    contest::<Buddy>(3, base, bytes);
    let (tcm, tcm_bytes) = contestants::tcm();
    contest::<InTcm>(5, tcm, tcm_bytes);
    contest::<Within>(6, base, bytes);
    // The last one: it never gives memory back.
    Newlib::begin(base, bytes);
    let live = history::play::<Newlib>(&mut Random::new(), PART, |_, _| ()).most_live;
    mark(NEED + 4, Newlib::taken());
    measure::<Newlib>(4);
    mark(LIVE, live);
    mark(COUNT, OPERATIONS);
    0
}

fn mark(id: u32, value: u32) {
    let _ = sys::mark(id, value);
}

fn contest<C: Contestant>(number: u32, base: u32, bytes: u32) {
    C::begin(base, bytes);
    measure::<C>(number);
    let enough = |bytes: u32| {
        C::begin(base, bytes);
        history::play::<C>(&mut Random::new(), PART, |_, _| ()).refused == 0
    };
    let (mut too_few, mut most, step) = (0, STEPS, bytes / STEPS);
    while too_few + 1 < most {
        let middle = (too_few + most) / 2;
        if enough(middle * step) { most = middle } else { too_few = middle }
    }
    mark(NEED + number, most * step + C::BESIDE);
}

fn measure<C: Contestant>(number: u32) {
    sizes::<C>();
    let mut random = Random::new();
    history::play::<C>(&mut random, WARM, |_, _| ());
    let done = history::play_measured::<C>(&mut random, OPERATIONS);
    mark(FAILED + number, done.refused);
}

/// Every power of two from 32 bytes to 1 MiB (of the heap in TCM: to 1 KiB), and two sizes between it and the next.
fn sizes<C: Contestant>() {
    for warm in [true, false] {
        for log2 in 5..=5 + C::POWERS {
            for round in 0..ROUNDS {
                let size = 1u32 << log2;
                let bytes = (size + [0, size / 4 + 12, size / 2 + 4][round as usize % 3]).min(32 << C::POWERS);
                if warm {
                    let (block, small) = (C::alloc(bytes), C::alloc(32));
                    C::free(block, bytes);
                    C::free(small, 32);
                } else {
                    let (block, small) = (C::size_alloc(bytes), C::size_alloc(32));
                    C::size_free(block, bytes);
                    C::size_free(small, 32);
                }
            }
        }
    }
}
