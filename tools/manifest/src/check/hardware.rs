//! Hardware that all domains have in common, as the board has it.

use crate::board::{Board, platform};
use crate::diagnostic::Refusal;
use crate::schema::{Manifest, NearTables};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let hardware = &manifest.hardware;
    let ways = platform(board).pages().map_or(0, |pages| u32::from(pages.ways));
    let mut found = Vec::new();
    found.extend(locked_ways(hardware.locked_ways, ways));
    found.extend(hardware.near_tables.and_then(|place| near_tables(place, hardware.locked_ways, ways)));
    if hardware.prefetch {
        found.extend(prefetch(manifest, ways));
    }
    found
}

/// There are as many ways as asked for.
fn locked_ways(asked: u32, ways: u32) -> Option<Refusal> {
    let refusal = Refusal::at("CF0317", "hardware.locked_ways", format!("{asked} ways of a cache cannot be locked"))
        .value(format!("{asked} ways"));
    match ways {
        _ if asked <= ways => None,
        0 => Some(
            refusal
                .limit("0: the board has no second-level cache whose ways can be locked")
                .rule("tables of domains are locked in ways of a second-level cache")
                .remedy("remove `locked_ways`, or choose a board with page tables"),
        ),
        _ => Some(
            refusal
                .limit(format!("0 to {ways}"))
                .rule("the second-level cache has so many ways")
                .remedy(format!("write `locked_ways = {ways}` or less")),
        ),
    }
}

/// The place for tables is there.
fn near_tables(place: NearTables, locked: u32, ways: u32) -> Option<Refusal> {
    let key = "hardware.near_tables";
    match place {
        _ if ways == 0 => Some(
            Refusal::at("CF0317", key, "no page tables lie anywhere")
                .limit("the board checks accesses by region registers")
                .rule("`near_tables` says where page tables of domains lie that are checked on the chip")
                .remedy("remove `near_tables`, or choose a board with page tables"),
        ),
        NearTables::LockedWays if locked == 0 => Some(
            Refusal::at("CF0317", key, "no way is locked in which tables could lie")
                .value("locked-ways")
                .limit("0 locked ways")
                .rule("tables lie in locked ways only where ways are locked")
                .remedy("write `locked_ways = 1` or more"),
        ),
        _ => None,
    }
}

/// The processor can read ahead, and nobody relies on costs that were observed while it does not.
fn prefetch(manifest: &Manifest, ways: u32) -> Option<Refusal> {
    let key = "hardware.prefetch";
    if ways == 0 {
        return Some(
            Refusal::at("CF0317", key, "there is no prefetcher")
                .limit("the processor of the board has none")
                .rule("`prefetch` switches the data prefetcher of the processor on")
                .remedy("remove `prefetch`"),
        );
    }
    let threads = manifest.domain.iter().flat_map(|(name, domain)| domain.thread.iter().map(move |t| (name, t)));
    let mut timed = threads.filter(|(_, thread)| thread.deadline().is_some());
    timed.next().map(|(domain, thread)| {
        Refusal::at(
            "CF0317",
            key,
            format!("`{domain}.{}` has a deadline, and the processor would read ahead", thread.name),
        )
        .limit("no thread with a deadline")
        .rule("the costs of the kernel that admission counts with were observed with the prefetcher off")
        .remedy("remove `prefetch`, or the thread's `period` and `deadline`")
    })
}
