//! Hardware that all domains have in common, as the board has it.

use crate::admission::platform;
use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Manifest, NearTables};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let hardware = &manifest.hardware;
    let ways = platform(board).pages().map_or(0, |pages| u32::from(pages.ways));
    let mut found = Vec::new();
    found.extend(locked_ways(hardware.locked_ways, ways));
    found.extend(hardware.near_tables.and_then(|place| near_tables(place, hardware.locked_ways, ways)));
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
                .rule("tables of domains are locked in ways of a second-level cache (PL310)")
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
