//! Divides the marks of the kernel's frame table among the ranges of frames that domains hold: nobody can use up another's, and every quota
//! of the memory manager has those that it needs however scattered memory is.

use manager::PoolAt;
use manager::tally::{marks_kept, marks_most};
use manifest::Object;
use manifest::resolved::{Frames, System};
use system::build::Builder;
use system::objects::MAX_MARKS;

use crate::error::PlaceError;
use crate::ledger::pools;

/// Marks of a range that is no pool, where the manifest does not say.
const OWN: u32 = 32;
/// Bytes of the smallest part of a range that can be typed.
const GRANULE: u32 = 32;

/// A range that somebody holds.
struct Share {
    /// Its number.
    range: usize,
    /// Marks without which something that is promised could not be kept.
    least: u32,
    /// Marks that it is to have.
    marks: u32,
    /// So many more would be of use.
    more: u32,
}

/// Writes the marks of each range into the tables, and of each pool into what is handed to the manager.
///
/// # Errors
/// [`PlaceError::Marks`]: a range would have fewer than it needs.
pub(crate) fn divide(system: &System, tables: &mut Builder, held: &mut [PoolAt]) -> Result<(), PlaceError> {
    let mut shares = shares(system);
    // Every range and every area of a domain has two ends.
    let fixed = 2 * (tables.frames.len() + tables.areas.len()) as u32 + 1;
    let mut left = (MAX_MARKS as u32).saturating_sub(fixed);
    for Share { range, least, marks, .. } in &shares {
        let refused = |asked: u32, left: u32| {
            let Frames { name, marks, .. } = &system.frames[*range];
            Err(PlaceError::Marks { range: name.clone(), asked, left, given: marks.is_some() })
        };
        if marks < least {
            return refused(*least, *marks);
        }
        left = if *marks > left { return refused(*marks, left) } else { left - marks };
    }
    // The others get the marks that the first does not need.
    shares.sort_by_key(|share| share.more);
    for (index, count) in (0..shares.len()).zip((1..=shares.len() as u32).rev()) {
        let share = &mut shares[index];
        let more = share.more.min(left / count);
        (share.marks, left) = (share.marks + more, left - more);
    }
    for share in shares {
        let range = &mut tables.frames[share.range];
        range.marks = share.marks;
        held.iter_mut().filter(|pool| pool.base == range.base).for_each(|pool| pool.marks = share.marks);
    }
    Ok(())
}

/// The ranges that domains hold, with what each needs.
fn shares(system: &System) -> Vec<Share> {
    let scatters = system.platform.scheme().scatters;
    let managed: Vec<usize> = pools(system).map(|(_, range)| range).collect();
    let caps = || system.domains.iter().flat_map(|domain| &domain.caps);
    let holds = |range: usize| caps().any(|cap| cap.object == Object::Frames(range));
    let share = |(range, frames): (usize, &Frames)| {
        if !managed.contains(&range) {
            let most = OWN.min((frames.bytes / GRANULE).saturating_sub(1));
            return Share { range, least: 0, marks: frames.marks.unwrap_or(most), more: 0 };
        }
        let most = marks_most(frames.bytes, scatters);
        let least = marks_kept(frames.quotas.iter().map(|quota| quota.1), scatters).min(most);
        let marks = frames.marks.unwrap_or(least);
        Share { range, least, marks, more: if frames.marks.is_some() { 0 } else { most - least } }
    };
    system.frames.iter().enumerate().filter(|(range, _)| holds(*range)).map(share).collect()
}
