//! Statistics of a probe's samples.

use std::io::Read;

use record::{EventsReader, observed};

use crate::rows::Cycles;

/// The first samples of each probe warm the caches and are not counted.
pub const WARM: usize = 100;
/// Fewer counted samples than this are not a figure.
pub const LEAST: usize = 1000;

/// The cycles of every sample, for each probe in the order of the request.
///
/// # Errors
/// A text when the events cannot be read to their end.
pub fn collect(events: impl Read, probes: usize) -> Result<Vec<Vec<u64>>, String> {
    let mut samples = vec![Vec::new(); probes];
    for event in EventsReader::new(events).map_err(|error| error.to_string())? {
        let event = event.map_err(|error| error.to_string())?;
        if event.event == observed::PROBE
            && let Some(list) = samples.get_mut(usize::from(event.detail))
        {
            list.push(u64::from(event.payload));
        }
    }
    Ok(samples)
}

/// Median (of an even number the upper) and maximum without the warming samples; `None` when fewer than [`LEAST`] are left.
pub fn warm(samples: &[u64]) -> Option<Cycles> {
    warm_at_least(samples, LEAST)
}

/// As [`warm`], when at least so many are left, and at least one.
pub fn warm_at_least<T: Copy + Ord + Into<u64>>(samples: &[T], least: usize) -> Option<Cycles> {
    behind(WARM, samples, least)
}

/// The same of what is behind the first `warm` samples, of which hardware without caches needs none.
pub fn behind<T: Copy + Ord + Into<u64>>(warm: usize, samples: &[T], least: usize) -> Option<Cycles> {
    let mut counted = samples.get(warm..)?.to_vec();
    if counted.len() < least {
        return None;
    }
    counted.sort_unstable();
    Some(Cycles { median: (*counted.get(counted.len() / 2)?).into(), max: (*counted.last()?).into() })
}
