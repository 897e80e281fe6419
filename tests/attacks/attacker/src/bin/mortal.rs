//! Lives as often as the file `lives` says. Each life counts the free slots of its table, checks that its memory is as it was at the first
//! start, takes what it can (slots, notification bits, paged regions, a place in a gate, a place in the time queue) and dies of
//! one of several causes without giving any of it back.
//!
//! Names: gates `inner` (its own), `service`; notification `bell`; area `heap`; file `lives`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use attacks::order;
use cofferdam::abi::rights;
use cofferdam::{Error, Gate, Notification, Start, hostile, now, sys};
use repertoire::Chip;

cofferdam::entry!(main);
cofferdam::thread!(mortal_second, second);
cofferdam::gate!(mortal_inner, inner);

/// Slots that a copy went into; the same in every life.
const FREE_MARKER: u32 = 8;
/// Sum of what the memory held that must be initial.
const MEMORY_MARKER: u32 = 9;
const FIRST_FREE: u32 = 4;

static INITIAL: [AtomicU32; 8] = [const { AtomicU32::new(0x1357_9bdf) }; 8];
static CLEAR: [AtomicU32; 32] = [const { AtomicU32::new(0) }; 32];

fn main(start: Start) -> u32 {
    let (Some(gate), Some(service), Some(bell), Some(heap), Some(lives), Some(chip)) = (
        Gate::named(start.info, "inner"),
        Gate::named(start.info, "service"),
        Notification::named(start.info, "bell"),
        start.info.area("heap"),
        order::number(start.info, "lives"),
        Chip::find(start.info),
    ) else {
        return 2;
    };
    let free =
        (FIRST_FREE..16).filter(|slot| sys::cap_copy(gate.slot(), *slot, u32::from(rights::WRITE)).is_ok()).count();
    let _ = sys::mark(FREE_MARKER, free as u32);
    let sum = INITIAL.iter().chain(&CLEAR).map(|word| word.swap(start.restarts | 1, Ordering::Relaxed));
    let _ = sys::mark(MEMORY_MARKER, sum.fold(0, u32::wrapping_add));
    if start.restarts >= lives {
        return 0;
    }
    let _ = bell.signal(start.restarts);
    // SAFETY: the own heap, which is paged.
    unsafe { ((heap.base + (start.restarts * 4096) % heap.bytes) as *mut u32).write_volatile(1) };
    let local = [start.restarts; 4];
    let _ = service.call(local.as_ptr() as u32, 16, 0);
    die(start.restarts, gate, chip.foreign.kernel_objects);
    3
}

/// Dies of one of several causes; `kernel` is where the kernel has data.
fn die(restarts: u32, gate: Gate, kernel: u32) {
    // SAFETY: there is none; these are faults.
    unsafe {
        match restarts % 6 {
            0 => (kernel as *mut u32).write_volatile(1),
            1 => hostile::jump(kernel | 1),
            2 => hostile::undefined(),
            3 => hostile::call_on_stack(kernel + 0x400),
            4 => drop(gate.call(0, 0, 0)),
            _ => drop(gate.call(1, 0, 0)),
        }
    }
}

/// Dies inside its own gate, at once or by overrunning the bound.
fn inner(_badge: u32, how: u32, _b: u32, _c: u32) -> Result<u32, Error> {
    if how == 0 {
        hostile::undefined();
    }
    loop {
        core::hint::spin_loop();
    }
}

/// Sleeps in the time queue or waits for the bell, whichever it is in when the domain dies.
fn second(start: Start) -> u32 {
    let bell = Notification::named(start.info, "bell");
    let (Some(bell), Some(lives)) = (bell, order::number(start.info, "lives")) else { return 1 };
    while start.restarts < lives {
        if start.restarts.is_multiple_of(2) {
            let _ = bell.wait(0x8000_0000);
        }
        let _ = sys::sleep_until(now() + 1_000_000);
    }
    0
}
