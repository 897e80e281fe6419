//! Memory at addresses that the manifest fixes: inside its memory, aligned, without overlap. Memory that the tool places itself needs no
//! check here.

use super::memory::MOST_BYTES;
use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::Manifest;
use crate::scheme::Fixed;

fn declared(manifest: &Manifest) -> Vec<Fixed> {
    let shared = manifest.shared.iter().filter_map(|(name, s)| {
        let (place, name) = (format!("shared.{name}"), format!("shared memory `{name}`"));
        Some(Fixed { place, name, memory: s.memory.clone(), base: u64::from(s.at?.0), bytes: s.size.0 })
    });
    let heaps = manifest.domain.iter().filter_map(|(name, d)| {
        let heap = d.heap.as_ref()?;
        let (place, name) = (format!("domain.{name}.heap"), format!("the heap of `{name}`"));
        Some(Fixed { place, name, memory: heap.memory.clone(), base: u64::from(heap.at?.0), bytes: heap.size.0 })
    });
    // Sizes that cannot be are refused elsewhere.
    shared.chain(heaps).filter(|fixed| fixed.bytes <= MOST_BYTES).collect()
}

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let all = declared(manifest);
    let mut found: Vec<Refusal> = all.iter().filter_map(|fixed| board.protection.expresses(fixed)).collect();
    found.extend(all.iter().filter_map(|fixed| inside(fixed, board)));
    for (index, fixed) in all.iter().enumerate() {
        let other = all[..index].iter().find(|o| o.base < fixed.base + fixed.bytes && fixed.base < o.base + o.bytes);
        found.extend(other.map(|other| overlap(fixed, other)));
    }
    found
}

fn inside(fixed: &Fixed, board: &Board) -> Option<Refusal> {
    let memory = board.memory(&fixed.memory)?;
    let (from, end) = (u64::from(memory.base + memory.reserved), u64::from(memory.base) + u64::from(memory.bytes));
    if fixed.base >= from && fixed.base + fixed.bytes <= end {
        return None;
    }
    Some(
        Refusal::at(
            "CF0305",
            format!("{}.at", fixed.place),
            format!("{} does not lie in `{}`", fixed.name, fixed.memory),
        )
        .value(format!("{:#010x} to {:#010x}", fixed.base, fixed.base + fixed.bytes))
        .limit(format!("{from:#010x} to {end:#010x}"))
        .rule("memory lies where chip and board have it, behind what the kernel keeps")
        .remedy("remove `at`, or choose an address inside"),
    )
}

fn overlap(fixed: &Fixed, other: &Fixed) -> Refusal {
    let range = |f: &Fixed| format!("{:#010x} to {:#010x}", f.base, f.base + f.bytes);
    Refusal::at("CF0302", format!("{}.at", fixed.place), format!("{} overlaps {}", fixed.name, other.name))
        .value(range(fixed))
        .limit(format!("{} is taken", range(other)))
        .rule("two areas have no byte in common, unless both name the same shared memory")
        .remedy("remove one `at`, or move one of them")
}
