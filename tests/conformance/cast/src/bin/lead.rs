//! Performs the rows one after the other: restarts the cast, lets it act, and writes what came of it into the trace. Exit code 2: the board's
//! file has no table `[foreign]`.
#![no_std]
#![no_main]

use cast::board::Board;
use cast::scene::{set_stretch, ticks_per_us};
use cofferdam::abi::{Kind, Mapping, access};
use cofferdam::{Error, Info, Start, sys};
use conformance::{
    ACTORS, Actor, DOMAINS, Dom, LENGTH_US, NOTICE_US, PERIOD_US, Record, START_US, UNTYPED_BYTES, places, rows,
    selected, verdict,
};

cofferdam::entry!(main);

/// Marker of a row that was performed: this and its number. The value is 0 or a packed shortfall.
const ROW: u32 = 0x4000;
/// Marker of the end; the value is the number of rows.
const END: u32 = 0x3fff;

fn main(start: Start) -> u32 {
    let info = start.info;
    set_stretch(start.argument);
    let Some(board) = Board::find(info) else { return 1 };
    let Some(places) = places(info.board()) else { return 2 };
    if places.window.is_none() {
        let Some(pool) = pool(info, places.heaps) else { return 3 };
        board.set_pool(pool);
    }
    let mut count = 0;
    let (first, most) = selected(start.argument);
    for (number, row) in rows().enumerate().skip(first).take(most) {
        clear(info);
        board.set(number as u32);
        if !restart(info) {
            return 6;
        }
        if !untype(info) {
            return 7;
        }
        let Some(begin) = begin(info) else { return 5 };
        board.set_start(begin);
        let _ = sys::sleep_until(begin + u64::from(LENGTH_US * ticks_per_us(info)));
        let mut records = [Record::default(); ACTORS];
        for actor in Actor::ALL {
            records[*actor as usize] = board.record(*actor);
        }
        let packed = verdict(row, &records, &stop(info)).err().map_or(0, |shortfall| shortfall.pack());
        let _ = sys::mark(ROW | number as u32, packed);
        count += 1;
    }
    let _ = sys::mark(END, count);
    0
}

/// When the row can start: right after a replenishment, and when everybody has noticed.
fn begin(info: Info) -> Option<u64> {
    let (_, next) = sys::budget_query(info.cap("purse", Kind::Budget)?.slot).ok()?;
    let ticks = |us: u32| us * ticks_per_us(info);
    let next = u64::from(if next < ticks(3 * NOTICE_US) { next + ticks(PERIOD_US) } else { next });
    Some(sys::time_now() + next + u64::from(ticks(START_US)))
}

/// Handle of a domain of the cast.
fn domain(info: Info, dom: Dom) -> u32 {
    info.cap(dom.name(), Kind::Domain).map_or(u32::MAX, |cap| cap.slot)
}

fn cast() -> impl Iterator<Item = Dom> {
    Dom::ALL.into_iter().filter(|dom| *dom != Dom::Lead)
}

/// Stops the cast; kinds of unread faults.
fn stop(info: Info) -> [u32; DOMAINS] {
    let mut faults = [0; DOMAINS];
    for dom in cast() {
        let slot = domain(info, dom);
        let _ = sys::domain_stop(slot);
        faults[dom as usize] = sys::fault_next(slot).map_or(0, |(kind, _)| kind);
    }
    faults
}

/// Restarts the cast.
fn restart(info: Info) -> bool {
    /// More steps than any restart takes.
    const STEPS: u32 = 5_000;
    cast().all(|dom| {
        let slot = domain(info, dom);
        let _ = sys::domain_stop(slot);
        (0..STEPS).any(|step| {
            if step % 512 == 511 {
                // A thread that is inside of a gate returns from there first.
                let _ = sys::sleep_until(sys::time_now() + u64::from(100 * ticks_per_us(info)));
            }
            sys::domain_restart(slot) == Ok(true)
        })
    })
}

/// Clears the bits of notifications, which a restart does not reset.
fn clear(info: Info) {
    stop(info);
    let notifications = info.caps().filter(|(_, cap)| cap.kind == Kind::Notification);
    for (_, cap) in notifications {
        let _ = sys::poll(cap.slot, u32::MAX);
    }
}

/// Nor does it make memory untyped that was retyped.
fn untype(info: Info) -> bool {
    let Some(pool) = info.cap("pool", Kind::Frames) else { return false };
    loop {
        match sys::frames_clean(pool.slot, 0, UNTYPED_BYTES) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Address of the pool, in the memory that begins in the MiB of `memory`: at any other address, the kernel
/// says that these frames are not there.
fn pool(info: Info, memory: u32) -> Option<u32> {
    let (target, frames) = (info.cap("myself", Kind::Domain)?.slot as u16, info.cap("pool", Kind::Frames)?.slot as u16);
    let asked = |at: u32| Mapping { target, frames, at, access: access::READ, offset: 0, bytes: 0x1000 };
    let inside = |at: &u32| sys::frames_map(&asked(*at)) != Err(Error::BadAddress);
    let first = memory & !0xf_ffff;
    (first..first + 0x100_0000).step_by(0x1000).find(inside)
}
