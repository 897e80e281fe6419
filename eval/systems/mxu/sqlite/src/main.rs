//! SQLite with a database in memory. The thread's argument is the number of rows in bits 0-15, and from bit 16 on how they are worked
//! on (`workload.c`). Results, in this order: rows inserted, deleted, updated, found, deleted at the end, left; the sum over what was
//! found; the most bytes in use.
#![no_std]
#![no_main]

use core::ffi::c_void;

use cofferdam::Start;
use common::{interfere, memory, results};

cofferdam::entry!(main);
common::probes!(probe_1_start probe_1_end);
cofferdam::thread!(mxu_adversary, adversary);

/// Bytes between the words that the adversary loads: one region of the paper's geometry.
const STRIDE: u32 = 128 * 1024;

/// SQLite's own allocator has the heap, not that of `common`; the heap lies in one piece.
const BUDDIES: u32 = 16;

#[repr(C)]
struct Order {
    rows: i32,
    how: u32,
    heap: *mut c_void,
    heap_bytes: i32,
}

#[repr(C)]
#[derive(Default)]
struct Results {
    inserted: u32,
    deleted: u32,
    updated: u32,
    found: u32,
    left: u32,
    changed: u32,
    sum: i64,
}

unsafe extern "C" {
    fn workload(order: *const Order, results: *mut Results) -> i32;
    fn workload_peak() -> u32;
}

fn main(start: Start) -> u32 {
    cofferdam_c::begin(start);
    let order = order(start);
    if order.how & BUDDIES == 0 {
        memory::open(start.info);
    }
    let mut found = Results::default();
    results::stretch(1);
    let status = work(&order, &mut found);
    results::stretch(0);
    interfere::stop();
    if status != 0 {
        results::too_large(memory::largest_refused());
        return status as u32;
    }
    for count in [found.inserted, found.deleted, found.updated, found.found, found.changed, found.left] {
        results::report(u64::from(count));
    }
    results::report(found.sum as u64);
    // SAFETY: SQLite was started.
    results::report(u64::from(unsafe { workload_peak() }));
    0
}

fn order(start: Start) -> Order {
    let (heap, heap_bytes) = start.info.heap();
    Order {
        rows: (start.argument & 0xffff) as i32,
        how: start.argument >> 16,
        heap: heap as *mut c_void,
        heap_bytes: heap_bytes as i32,
    }
}

#[inline(never)]
fn work(order: &Order, found: &mut Results) -> i32 {
    probe_1_start();
    // SAFETY: the structures are laid out as C's.
    let status = unsafe { workload(order, found) };
    probe_1_end();
    status
}

fn adversary(start: Start) -> u32 {
    interfere::by_time(start, STRIDE)
}
