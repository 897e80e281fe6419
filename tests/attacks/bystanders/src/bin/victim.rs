//! A victim with a hard deadline: every millisecond it checks that its registers and its memory are as it left them. Its `wcet` leaves little room beyond
//! the time that this takes when none of that memory is in the cache.
//! Names: area `heap`. It faults when anything has changed, which fails the run.
#![no_std]
#![no_main]

use cofferdam::abi::Call;
use cofferdam::hostile::{Held, hold, undefined};
use cofferdam::{Start, sys};

cofferdam::entry!(main);

/// The value of its registers; recognisable wherever it turns up.
const SECRET: u32 = 0x5ec2_e700;

fn main(start: Start) -> u32 {
    let Some(heap) = start.info.area("heap") else { return 1 };
    let (heap, words) = (heap.base as *mut u32, heap.bytes as usize / 4);
    for index in 0..words {
        // SAFETY: within the heap.
        unsafe { heap.add(index).write_volatile(SECRET ^ index as u32) };
    }
    loop {
        let request = Held { pattern: SECRET, number: Call::WaitPeriod as u32, ..Held::default() };
        // SAFETY: the call touches no memory.
        let held = unsafe { hold(request) };
        // SAFETY: as above.
        let is_same = (0..words).all(|index| unsafe { heap.add(index).read_volatile() } == SECRET ^ index as u32);
        if held.status != 0 || held.changed != 0 || !is_same {
            let _ = sys::mark(5, held.changed);
            undefined();
        }
    }
}
