//! Uses memory that is mapped at its first touch: makes regions, touches pages, frees them, and prints what it costs. With an argument it does one thing
//! that ends it.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::ptr::{read_unaligned, read_volatile, write_volatile};

use cofferdam::{Console, Error, Start, demand, sys};

cofferdam::entry!(main);

const PAGE: u32 = 4096;
/// Pages of the large region, and with another argument.
const MANY: u32 = 64;
const MOST: u32 = 4096;

/// Ticks that something takes, less those of asking for the time.
fn ticks(act: impl FnOnce()) -> u32 {
    let before = sys::time_now() as u32;
    let asked = (sys::time_now() as u32).wrapping_sub(before);
    let before = sys::time_now() as u32;
    act();
    (sys::time_now() as u32).wrapping_sub(before) - asked
}

fn load(at: u32) -> u32 {
    // SAFETY: the domain's own memory, or the fault is what the program is for.
    unsafe { read_volatile(at as *const u32) }
}

fn store(at: u32, value: u32) {
    // SAFETY: as above.
    unsafe { write_volatile(at as *mut u32, value) }
}

/// Whether every word of a page has a value.
fn holds(page: u32, value: u32) -> bool {
    (0..PAGE).step_by(4).all(|offset| load(page + offset) == value)
}

fn main(start: Start) -> u32 {
    let Some(area) = start.info.area("arena0") else { return 2 };
    match start.argument {
        0 => report(area.base, area.bytes / PAGE, MANY),
        5 => report(area.base, area.bytes / PAGE, MOST),
        // A page that is part of no region, one that was released, one behind the area; and more pages than there are frames.
        1 => load(area.base),
        2 => {
            let _ = sys::region_map(area.base, 1, 0);
            store(area.base, 1);
            let _ = demand::unmap(area.base, 1);
            load(area.base)
        }
        3 => load(area.base + area.bytes),
        _ => {
            let pages = area.bytes / PAGE;
            let _ = sys::region_map(area.base, pages, 0);
            (0..pages).map(|page| load(area.base + page * PAGE)).sum()
        }
    }
}

/// Prints all that is measured; the exit code.
fn report(base: u32, pages: u32, many: u32) -> u32 {
    let mut console = Console::new();
    let page = |number: u32| base + number * PAGE;
    let refusals = [
        (sys::region_map(base, 0, 0), Error::BadAddress),
        (sys::region_map(base, pages + 1, 0), Error::BadAddress),
        (sys::region_map(base - PAGE, 2, 0), Error::BadAddress),
        (sys::region_map(base + 4, 1, 0), Error::BadArgument),
        (sys::region_map(base, 1, 4), Error::BadArgument),
        (sys::region_map(0x1000, 1, 0), Error::BadAddress),
        (demand::unmap(base, 1), Error::BadState),
        (sys::region_unmap(base, 0).map(drop), Error::BadArgument),
        (demand::unmap(base, 4), Error::BadArgument),
    ];
    let wrong = refusals.iter().position(|(told, wanted)| *told != Err(*wanted));
    let _ = writeln!(console, "refusals: {wrong:?}");
    let made = sys::region_map(base, many + 2, 3);
    let _ = writeln!(console, "made: {made:?}, again: {:?}", sys::region_map(page(many + 1), 2, 0));
    let cleared = ticks(|| store(page(1), 0x0123_4567));
    store(page(1), 0);
    let _ = writeln!(console, "clear: {}", holds(page(1), 0));
    // The last byte of one page and three of the next one.
    // SAFETY: the domain's own memory.
    let split = unsafe { read_unaligned((page(3) - 1) as *const u32) };
    let _ = writeln!(console, "split: {split}");
    (1..=many).for_each(|number| store(page(number), number));
    let kept = (1..=many).all(|number| load(page(number)) == number);
    let freed = ticks(|| _ = demand::unmap(page(1), 1));
    let _ = writeln!(console, "kept: {kept}");
    let _ = writeln!(console, "made again: {:?}", sys::region_map(page(1), 1, 0));
    let again = ticks(|| store(page(1), 7));
    let mapped = ticks(|| store(page(1), 8));
    let one = ticks(|| _ = demand::unmap(page(1), 1));
    let _ = writeln!(console, "ends: {:?}", [demand::unmap(base, 1), demand::unmap(page(many + 1), 1)]);
    let _ = writeln!(console, "all: {:?}", sys::region_map(base, pages, 0));
    let _ = writeln!(
        console,
        "ticks: first touch {cleared} with clearing, {again} without, mapped {mapped}; free of {many} pages {freed}, of 1 {one}"
    );
    0
}
