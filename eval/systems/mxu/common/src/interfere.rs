//! The adversary: a thread that wakes after a fixed time, or is woken after a fixed number of accesses, and loads one word of each
//! of several regions, so that whatever the registers of its domain held before is gone.

use core::sync::atomic::{AtomicBool, Ordering};

use cofferdam::{Info, Notification, Start, now, sys};

/// Words of the adversary's argument: bits 0-15 the time between two turns in microseconds, bits 16-17 what it does.
const TIME: u32 = 0xffff;
const DEED_SHIFT: u32 = 16;
/// Length of a turn, whatever is done in it: longer than it takes to miss on every region.
const TURN_MICROSECONDS: u32 = 12;
/// Regions that are loaded from in a turn: more than there are paged registers.
const REGIONS: u32 = 8;

/// The adversary's act in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It has no turns.
    Nothing,
    /// It lets the time of its turn pass.
    Waits,
    /// It loads from its regions and lets the rest of the time pass.
    Evicts,
}

static OVER: AtomicBool = AtomicBool::new(false);

/// Ends the adversary of this domain at its next turn.
pub fn stop() {
    OVER.store(true, Ordering::Relaxed);
}

/// Loads one word of each of [`REGIONS`] regions at the end of the area `name`, `stride` bytes apart.
pub fn evict(info: Info, name: &str, stride: u32) {
    let Some(area) = info.area(name) else { return };
    let count = (area.bytes / stride).min(REGIONS);
    let first = area.base + area.bytes - count * stride;
    for index in 0..count {
        // SAFETY: the word lies in the area, which this domain may read.
        unsafe { core::ptr::read_volatile((first + index * stride) as *const u32) };
    }
}

/// Decodes the act from the thread's argument.
pub fn deed(start: Start) -> Deed {
    match start.argument >> DEED_SHIFT {
        1 => Deed::Waits,
        2 => Deed::Evicts,
        _ => Deed::Nothing,
    }
}

/// A thread that has turns until [`stop`]. Its argument packs the time between them and the [`Deed`].
pub fn by_time(start: Start, stride: u32) -> u32 {
    let deed = deed(start);
    let ticks = |microseconds: u32| u64::from(microseconds * (start.info.ticks_per_second() / 1_000_000));
    let (between, turn) = (ticks(start.argument & TIME), ticks(TURN_MICROSECONDS));
    let mut end = now();
    while deed != Deed::Nothing && !OVER.load(Ordering::Relaxed) {
        if sys::sleep_until(end + between).is_err() {
            return 1;
        }
        end = now() + turn;
        if deed == Deed::Evicts {
            evict(start.info, "heap", stride);
        }
        while now() < end {
            // Ask for the time now and then, not all the time.
            (0..16).for_each(|_| core::hint::spin_loop());
        }
    }
    0
}

/// A thread that has a turn for each signal of `turn` bit 0, and ends at bit 1. An area that is not there is not loaded from.
pub fn by_signal(info: Info, turn: Notification, area: &str, stride: u32) -> u32 {
    loop {
        match turn.wait(3) {
            Ok(bits) if bits & 2 != 0 => return 0,
            Ok(_) => evict(info, area, stride),
            Err(_) => return 1,
        }
    }
}
