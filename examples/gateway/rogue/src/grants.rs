//! Attacks on the memory manager: on what it granted to others, on what others share, and on what is left for them. It refuses
//! each; what it grants meanwhile is this domain's own, and is given back.

use cofferdam::memory::{AccessLevel, Manager, SharedWanted, TemporalSpec, access};
use repertoire::refused::Outcome;

/// The attacks, in order.
pub const ATTACKS: [(&str, fn(Manager) -> Outcome); 4] = [
    ("memory that was granted to somebody else", take_from_others),
    ("shared memory that was not permitted", map_unpermitted),
    ("a name that others look for", squat),
    ("more memory than there is", ask_without_end),
];

/// Owner and name of the only shared memory.
const OWNER: &str = "store";
const SERIES: &str = "series";
/// Most pieces that a client of the manager can hold.
const PIECES: usize = 32;

fn spec(level: AccessLevel) -> u32 {
    TemporalSpec::level(level).bits()
}

fn must(refused: bool, otherwise: &'static str) -> Outcome {
    if refused { Ok(()) } else { Err(otherwise) }
}

/// Asks for, and tries to release, every address at a multiple of 32 KiB within 512 KiB of a piece
/// of its own.
fn take_from_others(manager: Manager) -> Outcome {
    const STEP: u32 = 32 * 1024;
    const AROUND: u32 = 16;
    let own = manager.grant(256, spec(AccessLevel::Deterministic), 0).map_err(|_| "not one piece was granted")?;
    let first = (own.base / STEP).saturating_sub(AROUND) * STEP;
    for base in (0..2 * AROUND).map(|step| first + step * STEP).filter(|base| *base != own.base) {
        must(manager.release(base).is_err(), "somebody else's memory was released")?;
        must(manager.scrub(base).is_err(), "somebody else's memory was cleared")?;
        must(manager.query(base).is_err(), "the manager told about somebody else's memory")?;
        must(manager.grant(256, spec(AccessLevel::Deterministic), base).is_err() || release(manager, base), "kept")?;
    }
    manager.free(own.base).map_err(|_| "one's own memory could not be given back")
}

/// A place that happened to be free was granted as it should be.
fn release(manager: Manager, base: u32) -> bool {
    manager.free(base).is_ok()
}

fn wanted(access: u32) -> SharedWanted<'static> {
    SharedWanted { name: SERIES, bytes: 256, spec: spec(AccessLevel::L2), access, alignment: 0 }
}

fn map_unpermitted(manager: Manager) -> Outcome {
    for access in [access::READ, access::READ | access::WRITE] {
        must(manager.join(OWNER, &wanted(access)).is_err(), "shared memory was mapped without permission")?;
    }
    must(manager.permit(SERIES, "rogue", access::READ).is_err(), "somebody else's memory was permitted")?;
    must(manager.permit(SERIES, "", access::READ).is_err(), "somebody else's memory was permitted to all")?;
    must(manager.revoke(SERIES).is_err(), "somebody else's memory was revoked")
}

/// Memory of its own, under the name that others look for, for everybody to read and write.
fn squat(manager: Manager) -> Outcome {
    let everybody = access::READ | access::ALL_READ | access::ALL_WRITE;
    for name in [SERIES, "", "rogue"] {
        let squatted = manager.share(&SharedWanted { name, ..wanted(everybody) });
        must(squatted.is_err(), "shared memory was made that the manifest does not declare")?;
    }
    Ok(())
}

/// Larger pieces first, then smaller ones, of each until no more are granted.
fn ask_without_end(manager: Manager) -> Outcome {
    let mut held = [0; PIECES];
    let mut count = 0;
    for bytes in [64 * 1024, 4 * 1024, 256] {
        while let Ok(granted) = manager.grant(bytes, spec(AccessLevel::BestEffort), 0) {
            *held.get_mut(count).ok_or("the manager grants without end")? = granted.base;
            count += 1;
        }
    }
    must(count > 0, "nothing was granted to begin with")?;
    held.iter().take(count).try_for_each(|base| manager.free(*base)).map_err(|_| "memory could not be given back")
}
