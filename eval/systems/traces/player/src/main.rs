//! Replays a history with a heap over the demand area, and prints how long its operations took, in ticks of the kernel's clock: that of a program
//! ([`history`]), or the synthetic one (`traces::synthetic`), of which the thread's argument says how many actions. Bit 31 of it: the heap keeps its pages.
//! Frames have been the domain's before, so that no first touch clears one.
#![no_std]
#![no_main]

mod history;
mod stats;

use core::cell::UnsafeCell;
use core::fmt::Write;
use core::ptr::{read_volatile, write_volatile};

use cofferdam::{Budget, Console, Start, demand, sys};
use heap::demand::{Kernel, Parts};
use memory::demand::{Below, Deferred, DemandHeap, KeptHeap, PAGE};
use memory::heap::Error;
use stats::{Stats, Times};
use traces::{Action, Envelope, Recorded, Synthetic, synthetic};

cofferdam::entry!(main);

/// Bit of the argument.
const KEPT: u32 = 1 << 31;
/// So often a heap that keeps its pages grows before it shrinks, at most.
const GROWN: usize = 1024;
/// Most blocks at once.
const SLOTS: usize = 1 << 14;
/// Periods of the thread's budget in a second.
const PERIODS_PER_SECOND: u32 = 10;

/// Tables that are too large for a stack.
struct All {
    times: [Times; 4],
    slots: [u32; SLOTS],
    free: [u16; SLOTS],
    grown: [u32; GROWN],
}

/// The only one of them.
struct Only(UnsafeCell<All>);

// SAFETY: the domain has one thread.
unsafe impl Sync for Only {}

static ALL: Only =
    Only(UnsafeCell::new(All { times: [Times::NONE; 4], slots: [0; SLOTS], free: [0; SLOTS], grown: [0; GROWN] }));

fn main(start: Start) -> u32 {
    let (Some(area), Some(budget)) = (start.info.area("arena0"), Budget::named(start.info, "mine")) else { return 2 };
    // SAFETY: nobody else uses them.
    let All { times, slots, free, grown } = unsafe { &mut *ALL.0.get() };
    let period = start.info.ticks_per_second() / PERIODS_PER_SECOND;
    let is_kept = start.argument & KEPT != 0;
    let played = match history::FILE.map(|file| Recorded::new(file, free)) {
        None => {
            let actions = Synthetic::new(start.argument & !KEPT, 1);
            play(area.base, synthetic::ENVELOPE, actions, is_kept, (times, budget, period), (slots, grown))
        }
        Some(Some(recorded)) => {
            play(area.base, recorded.envelope, recorded, is_kept, (times, budget, period), (slots, grown))
        }
        Some(None) => return 3,
    };
    let mut console = Console::new();
    match played {
        Ok(found) => found.print(&mut console),
        Err(error) => {
            let _ = writeln!(console, "the heap said {error:?}");
            return 4;
        }
    }
    0
}

fn play(
    base: u32,
    envelope: Envelope,
    actions: impl Iterator<Item = Action>,
    is_kept: bool,
    (times, budget, period): (&'static mut [Times; 4], Budget, u32),
    (slots, grown): (&mut [u32], &mut [u32]),
) -> Result<Stats, Error> {
    let layout = traces::layout(envelope.count).ok_or(Error::Piece)?;
    // SAFETY: the demand area, of which nothing has been used.
    let Parts { layout, memory, counts, piece } = unsafe { Parts::new(base, layout) }?;
    own_frames(piece, if history::FILE.is_some() { Recorded::PAGES } else { Synthetic::PAGES })?;
    let stats = Stats::new(times, budget, period);
    if is_kept {
        let memory = Deferred::new(memory, Below::default(), piece, layout.piece);
        let mut heap = KeptHeap::new(memory, &layout, base, Kernel::new(piece), grown)?;
        replay(actions, stats, slots, &mut heap, KeptHeap::alloc, KeptHeap::free)
    } else {
        let memory = Deferred::new(memory, counts, piece, layout.piece);
        let mut heap = DemandHeap::new(memory, &layout, base, envelope.count, Kernel::new(piece))?;
        replay(actions, stats, slots, &mut heap, DemandHeap::alloc, DemandHeap::free)
    }
}

/// Touches so many pages, and gives them back: the domain has had so many of its frames then, which come first.
fn own_frames(piece: u32, frames: u32) -> Result<(), Error> {
    sys::region_map(piece, frames, 0).map_err(|_| Error::Piece)?;
    for page in 0..frames {
        // SAFETY: a page of the domain's own.
        unsafe { write_volatile((piece + page * PAGE) as *mut u32, page) };
    }
    demand::unmap(piece, 1).map_err(|_| Error::Piece)
}

fn replay<H>(
    actions: impl Iterator<Item = Action>,
    mut stats: Stats,
    slots: &mut [u32],
    heap: &mut H,
    alloc: impl Fn(&mut H, u32) -> Result<u32, Error>,
    free: impl Fn(&mut H, u32) -> Result<(), Error>,
) -> Result<Stats, Error> {
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
                let access = || unsafe { if write { write_volatile(at, 1) } else { _ = read_volatile(at) } };
                let (took, ()) = stats.ticks(access);
                stats.touch(took);
            }
        }
    }
    Ok(stats)
}
