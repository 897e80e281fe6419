//! Drives the operations that `cofferdam bench` measures, one after another. The labels `probe_*` are what the observer
//! measures between; they emit no instruction. `docs/bench.md` says which pair belongs to which figure.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; a function that holds one is neither inlined nor a loop, so it stays single

use bench_probe::probe;
use cofferdam::{Error, Gate, Info, Notification, Start, sys};

/// Rounds of each operation; the first 100 warm the caches and are not counted.
const ROUNDS: u32 = 1100;
/// Paged regions of the heap.
const PAGES: u32 = 16;

cofferdam::entry!(main);
cofferdam::thread!(bench_within, within);

fn main(start: Start) -> u32 {
    match run(start.info) {
        Ok(()) => loop {
            // The interrupt of the other domain hits this loop; the run ends when that domain has finished.
            core::hint::spin_loop();
        },
        Err(code) => code,
    }
}

/// Everything up to the interrupts. The error is the exit code: the number of the step that went wrong.
fn run(info: Info) -> Result<(), u32> {
    let gate = Gate::named(info, "add").ok_or(1u32)?;
    let named = |name| Notification::named(info, name).ok_or(2u32);
    let (wake, within, across, timer) = (named("wake")?, named("within")?, named("across")?, named("timer")?);
    if calls(gate) != Ok(ROUNDS) {
        return Err(3);
    }
    (0..ROUNDS).try_for_each(|_| signal(wake)).map_err(|_| 4u32)?;
    within.signal(1).map_err(|_| 5u32)?;
    let _ = sys::yield_now(); // the other thread enters its loop
    (0..ROUNDS).for_each(|_| yield_within());
    let _ = sys::yield_now(); // and leaves it
    across.signal(1).map_err(|_| 6u32)?;
    let _ = sys::yield_now();
    (0..ROUNDS).for_each(|_| yield_across());
    let _ = sys::yield_now();
    let (heap, bytes) = info.heap();
    misses(heap, bytes / PAGES);
    // The other domains' misses come last: a figure is measured from the last fault before its label.
    // A domain that a board has no use for does not exist there.
    for other in ["deep", "outside", "onchip", "touch"] {
        Notification::named(info, other).map_or(Ok(()), |go| go.signal(1)).map_err(|_| 8u32)?;
    }
    timer.signal(1).map_err(|_| 7u32)
}

/// A gate of the other domain that adds one: call, work, return.
fn calls(gate: Gate) -> Result<u32, Error> {
    (0..ROUNDS).try_fold(0, |value, _| call(gate, value))
}

#[inline(never)]
fn call(gate: Gate, value: u32) -> Result<u32, Error> {
    probe!("probe_gate_start");
    let value = gate.call(value, 0, 0)?;
    probe!("probe_gate_end"); // where only success leads, so that the compiler does not double it
    Ok(value)
}

/// A notification that wakes a more important thread of the other domain.
#[inline(never)]
fn signal(wake: Notification) -> Result<(), Error> {
    probe!("probe_notify_start");
    wake.signal(1)
}

/// Yields to a thread of the same priority in this domain, which yields back.
#[inline(never)]
fn yield_within() {
    probe!("probe_within_start");
    let _ = sys::yield_now();
    probe!("probe_within_round");
}

/// Yields to a thread of the same priority in the other domain, which yields back.
#[inline(never)]
fn yield_across() {
    probe!("probe_across_start");
    let _ = sys::yield_now();
    probe!("probe_across_round");
}

/// Loads one word of each page in turn; there are more pages than region registers, so that each load misses.
fn misses(heap: u32, page_bytes: u32) {
    (0..ROUNDS).for_each(|round| _ = load(heap + (round % PAGES) * page_bytes));
}

#[inline(never)]
fn load(address: u32) -> u32 {
    let word = address as *const u32;
    probe!("probe_miss_load"); // the instruction behind it is the load
    // SAFETY: the address lies in the heap, which this domain may read.
    unsafe { word.read_volatile() }
}

/// The thread that yields back within this domain.
fn within(start: Start) -> u32 {
    let Some(go) = Notification::named(start.info, "within") else { return 1 };
    if go.wait(1).is_err() {
        return 2;
    }
    (0..=ROUNDS).for_each(|_| yield_back());
    0
}

#[inline(never)]
fn yield_back() {
    let _ = sys::yield_now();
    probe!("probe_within_end");
}
