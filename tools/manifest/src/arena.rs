//! Envelopes that are too big, with the largest that would fit.

use memory::demand::{Layout, PAGE};
use memory::heap::{record_bytes, worst_case_bytes};
use spec::{Envelope, largest_that};

use crate::diagnostic::Refusal;
use crate::quantity::Size;
use crate::scheme::Scheme;

/// Bytes that the arena of an envelope must hold: its blocks in their worst order, and their records; on demand, its frames.
pub(crate) fn arena_bytes(envelope: &Envelope, on_demand: bool) -> Option<u64> {
    let Envelope { live, largest, count, .. } = *envelope;
    if on_demand {
        return Layout::new(live, largest, count).map(|layout| u64::from(layout.frames) * u64::from(PAGE));
    }
    Some(worst_case_bytes(live, largest, count, 1)? + record_bytes(count, 1))
}

/// The refusal of an envelope whose arena does not fit what is left of a memory (bytes, name), with the least change of one figure that makes it fit: fewer live
/// bytes if that is enough, otherwise fewer blocks, otherwise smaller ones, otherwise fewer of the same average size.
///
/// `is_placed` says that everything else has its place, so that what fits is admitted.
pub fn too_big(
    place: String,
    declared: &Envelope,
    (left, memory): (u64, &str),
    is_placed: bool,
    (scheme, on_demand): (&dyn Scheme, bool),
) -> Refusal {
    let Envelope { live, largest, count, .. } = *declared;
    let arena = |live: u32, largest: u32, count: u32| {
        scheme.area_bytes(arena_bytes(&Envelope { live, largest, count, ..*declared }, on_demand)?)
    };
    let fits = |live: u32, largest: u32, count: u32| arena(live, largest, count).is_some_and(|bytes| bytes <= left);
    let size = |bytes: u32| Size(u64::from(bytes));
    let fewer = |low: u32, high: u32, fits: &dyn Fn(u32) -> bool| largest_that(low.max(1), high, fits);
    let less_live =
        fewer(largest, live, &|live| fits(live, largest, count)).map(|live| format!("live = \"{}\"", size(live)));
    let least_count = live.div_ceil(largest.max(1));
    let less_count =
        || fewer(least_count, count, &|count| fits(live, largest, count)).map(|count| format!("count = {count}"));
    let least_largest = live.div_ceil(count.max(1));
    let smaller = || {
        fewer(least_largest, largest, &|largest| fits(live, largest, count))
            .map(|largest| format!("largest = \"{}\"", size(largest)))
    };
    // Fewer blocks of the same average size.
    let part = |blocks: u32| (u64::from(live) * u64::from(blocks) / u64::from(count.max(1))) as u32;
    let both = || {
        let least = (1..=count).find(|blocks| part(*blocks) >= largest).unwrap_or(count);
        let blocks = fewer(least, count, &|blocks| fits(part(blocks), largest, blocks))?;
        Some(format!("live = \"{}\"` and `count = {blocks}", size(part(blocks))))
    };
    let change = less_live.or_else(less_count).or_else(smaller).or_else(both);
    let asked =
        arena(live, largest, count).map_or("more than an address space".into(), |bytes| format!("{bytes} bytes"));
    Refusal::at("CF0316", place, "the arena of this envelope does not fit")
        .value(format!("{asked} for {} live in {count} blocks of at most {}", size(live), size(largest)))
        .limit(format!("{left} bytes of `{memory}`"))
        .rule("an arena has as many bytes as the worst fragmentation can need, so that nothing within the envelope is refused")
        .remedy(change.map_or_else(
            || "lower several figures, or choose a larger memory".into(),
            |change| {
                let then = if is_placed { "that is admitted" } else { "that fits if nothing else is in this memory" };
                format!("write `{change}`: {then}")
            },
        ))
}
