//! Does one thing that a domain may not do: the thread's argument says which. Addresses are those of the soft core (boards/ibex-rtmmu).
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::{Area, Start};

cofferdam::entry!(main);

/// Exit code of a domain that was not stopped.
const GOT_AWAY: u32 = 1;

fn load(address: u32) {
    // SAFETY: it is not: the fault is what the program is for. So it is below.
    unsafe { (address as *const u32).read_volatile() };
}

fn store(address: u32) {
    // SAFETY: as above.
    unsafe { (address as *mut u32).write_volatile(0) };
}

fn add(address: u32) {
    // SAFETY: as above.
    unsafe { (*(address as *const AtomicU32)).fetch_add(1, Ordering::Relaxed) };
}

fn jump(address: u32) {
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, extern "C" fn()>(address as usize)() };
}

/// Calls itself until the stack ends.
#[inline(never)]
fn deep(turns: u32) -> u32 {
    let room = black_box([turns; 32]);
    if turns == 0 { room[0] } else { black_box(deep(turns - 1)) + room[1] }
}

fn area(start: &Start, name: &str) -> Area {
    start.info.area(name).unwrap_or_else(|| cofferdam::sys::exit(2))
}

fn main(start: Start) -> u32 {
    let end = |name: &str| area(&start, name).base + area(&start, name).bytes;
    match start.argument {
        // The kernel's code, its objects, timer, end of a run, registers of the MMU, tables.
        0 => load(0),
        1 => store(0x0003_0000),
        2 => store(0x1001_4000),
        3 => store(0x1000_1008),
        4 => store(0x1002_0004),
        5 => load(0x2000_0000),
        // Memory of others by its physical address, and the console's device.
        6 => load(0x0004_8000),
        7 => store(0x1000_0000),
        // Own code, and own data as code.
        8 => store(area(&start, "code").base),
        9 => {
            // `ret`, on the stack.
            let code = black_box([0x8082_8082_u32; 2]);
            jump((&raw const code) as u32);
        }
        // Behind an area, in the space and behind it.
        10 => load(end("data")),
        11 => load(end("stack") - 2),
        12 => load(0xffff_f000),
        13 => drop(deep(black_box(1000))),
        // Instructions of the kernel's.
        14 => {
            // SAFETY: as above.
            unsafe { core::arch::asm!("csrw mstatus, {0}", in(reg) 0x1800) };
        }
        15 => {
            // SAFETY: as above.
            unsafe { core::arch::asm!("csrw pmpcfg0, zero") };
        }
        16 => {
            // SAFETY: as above.
            unsafe { core::arch::asm!("mret") };
        }
        17 => {
            // SAFETY: as above.
            unsafe { core::arch::asm!("ebreak") };
        }
        // An atomic instruction, which the kernel performs: its memory, a register of its own, own code, a word that begins at no word, and a page of nobody.
        18 => add(0x0003_0000),
        19 => add(0x1001_4000),
        20 => add(area(&start, "code").base),
        21 => add(area(&start, "stack").base + 2),
        22 => add(0xc000_0000),
        _ => return 3,
    }
    GOT_AWAY
}
