//! First touches and releases of pages that `cofferdam bench` measures on boards with demand areas; see `../caller`.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; a function that holds one is neither inlined nor a loop, so it stays single

use core::ptr::write_volatile;

use bench_probe::probe;
use cofferdam::{Error, Notification, Start, demand, sys};

/// Rounds of each operation, as in `../caller`; each has a page of its own.
const ROUNDS: u32 = 1100;
const PAGE: u32 = 4096;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let Some(go) = Notification::named(start.info, "touch") else { return 1 };
    let Some(area) = start.info.area("arena0") else { return 2 };
    if go.wait(1).is_err() {
        return 3;
    }
    if run(area.base).is_err() {
        return 4;
    }
    // The next to be measured.
    let next = Notification::named(start.info, "request");
    next.map_or(5, |next| next.signal(1).map_or(6, |_| 0))
}

/// Frames that nobody has used are cleared at the first touch; those of the second round were this domain's.
fn run(base: u32) -> Result<(), Error> {
    let pages = |round: u32| base + round * PAGE;
    sys::region_map(base, ROUNDS, 0)?;
    (0..ROUNDS).for_each(|round| touch_new(pages(round)));
    demand::unmap(base, 1)?;
    sys::region_map(base, ROUNDS, 0)?;
    (0..ROUNDS).for_each(|round| touch_again(pages(round)));
    (0..ROUNDS).for_each(|round| touch_mapped(pages(round)));
    demand::unmap(base, 1)?;
    (0..ROUNDS).try_for_each(|round| {
        sys::region_map(pages(round), 1, 0)?;
        store(pages(round));
        release(pages(round))
    })
}

fn store(page: u32) {
    // SAFETY: a page of this domain's own demand area, where nothing else is.
    unsafe { write_volatile(page as *mut u32, page) }
}

#[inline(never)]
fn touch_new(page: u32) {
    probe!("probe_new_start", begins);
    store(page);
    probe!("probe_new_end");
}

#[inline(never)]
fn touch_again(page: u32) {
    probe!("probe_again_start", begins);
    store(page);
    probe!("probe_again_end");
}

#[inline(never)]
fn touch_mapped(page: u32) {
    probe!("probe_mapped_start", begins);
    store(page);
    probe!("probe_mapped_end");
}

#[inline(never)]
fn release(page: u32) -> Result<(), Error> {
    probe!("probe_release_start", begins);
    demand::unmap(page, 1)?;
    probe!("probe_release_end"); // where only success leads, so that the compiler does not double it
    Ok(())
}
