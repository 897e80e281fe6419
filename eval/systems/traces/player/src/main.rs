//! Replays the synthetic history (`traces::synthetic`) with a heap over the demand area, and prints how long its operations took, in ticks of the kernel's clock.
//! The thread's argument is the number of actions; bit 31: the heap keeps its pages. Every frame has been the domain's before, so that no first touch clears one.
#![no_std]
#![no_main]

mod stats;

use core::cell::UnsafeCell;
use core::fmt::Write;
use core::ptr::{read_volatile, write_volatile};

use cofferdam::{Console, Start, demand, sys};
use heap::demand::{Kernel, Parts};
use memory::demand::{Below, Deferred, DemandHeap, KeptHeap, PAGE};
use memory::heap::Error;
use stats::{Stats, Times};
use traces::synthetic::{COUNT, ENVELOPE};
use traces::{Action, Envelope, Synthetic};

cofferdam::entry!(main);

/// Bit of the argument.
const KEPT: u32 = 1 << 31;
/// Periods of the thread's budget in a second.
const PERIODS_PER_SECOND: u32 = 10;
/// So often a heap that keeps its pages grows before it shrinks, at most.
const GROWN: usize = 1024;

/// Times, which are too many for a stack.
struct All(UnsafeCell<[Times; 4]>);

// SAFETY: the domain has one thread.
unsafe impl Sync for All {}

static ALL: All = All(UnsafeCell::new([Times::NONE; 4]));

fn main(start: Start) -> u32 {
    let Some(area) = start.info.area("arena0") else { return 2 };
    let Envelope { live, largest, count } = ENVELOPE;
    let mut console = Console::new();
    // SAFETY: the demand area, of which nothing has been used.
    let parts = unsafe { Parts::new((area.base, area.bytes), live, largest, count) };
    let Ok(Parts { layout, memory, counts, piece }) = parts else { return 3 };
    if !own_frames(piece, layout.in_piece()) {
        return 4;
    }
    let actions = Synthetic::new(start.argument & !KEPT, 1);
    // SAFETY: nobody else uses them.
    let times = unsafe { &mut *ALL.0.get() };
    let stats = Stats::new(times, start.info.ticks_per_second() / PERIODS_PER_SECOND);
    let found = if start.argument & KEPT == 0 {
        let memory = Deferred::new(memory, counts, piece, layout.piece);
        let heap = DemandHeap::new(memory, &layout, area.base, count, Kernel::new(piece));
        heap.and_then(|mut heap| replay(actions, stats, &mut heap, DemandHeap::alloc, DemandHeap::free))
    } else {
        let memory = Deferred::new(memory, Below::default(), piece, layout.piece);
        let mut grown = [0; GROWN];
        let heap = KeptHeap::new(memory, &layout, area.base, Kernel::new(piece), &mut grown);
        heap.and_then(|mut heap| replay(actions, stats, &mut heap, KeptHeap::alloc, KeptHeap::free))
    };
    match found {
        Ok(found) => found.print(&mut console),
        Err(error) => {
            let _ = writeln!(console, "the heap said {error:?}");
            return 5;
        }
    }
    0
}

/// Touches as many pages as the domain has frames for, and gives them back: the domain has had all of its frames then.
fn own_frames(piece: u32, frames: u32) -> bool {
    let mapped = sys::region_map(piece, frames, 0);
    for page in 0..frames {
        // SAFETY: a page of the domain's own.
        unsafe { write_volatile((piece + page * PAGE) as *mut u32, page) };
    }
    mapped.is_ok() && demand::unmap(piece, 1).is_ok()
}

fn replay<H>(
    actions: impl Iterator<Item = Action>,
    mut stats: Stats,
    heap: &mut H,
    alloc: impl Fn(&mut H, u32) -> Result<u32, Error>,
    free: impl Fn(&mut H, u32) -> Result<(), Error>,
) -> Result<Stats, Error> {
    let mut slots = [0_u32; COUNT];
    for action in actions {
        match action {
            Action::Alloc { slot, bytes } => {
                let (took, at) = stats.ticks(|| alloc(heap, bytes));
                slots[slot as usize] = at?;
                stats.alloc.add(took);
            }
            Action::Free { slot } => {
                let (took, freed) = stats.ticks(|| free(heap, slots[slot as usize]));
                freed?;
                stats.free.add(took);
            }
            Action::Touch { slot, offset, write } => {
                let at = (slots[slot as usize] + offset) as *mut u8;
                // SAFETY: a byte of a live block.
                let (took, ()) = stats.ticks(|| unsafe { if write { write_volatile(at, slot as u8) } else { _ = read_volatile(at) } });
                stats.touch(took);
            }
        }
    }
    Ok(stats)
}
