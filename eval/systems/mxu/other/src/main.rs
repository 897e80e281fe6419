//! Another domain: its heap takes every second frame of the workload's memory, and its thread has turns like the adversary in the
//! workload's own domain, in memory of its own. Its argument says how, as the adversary's does.
#![no_std]
#![no_main]

use cofferdam::{Notification, Start};
use common::interfere::{self, Deed};

cofferdam::entry!(main);

/// Bytes between the words that are loaded.
const BY_TIME: u32 = 128 * 1024;
const BY_SIGNAL: u32 = 8 * 1024;

fn main(start: Start) -> u32 {
    let Some(turn) = Notification::named(start.info, "other") else { return interfere::by_time(start, BY_TIME) };
    let area = if interfere::deed(start) == Deed::Evicts { "heap" } else { "" };
    interfere::by_signal(start.info, turn, area, BY_SIGNAL)
}
