//! A manifest of `eval/systems/mxu`, varied.

use toml::{Table, Value};

use super::variation::{Adversary, Heap, Kept, Usage, Variation};
use crate::chip::Geometry;

/// Flags of an adversary's argument, beside the time.
const WAITS: u32 = 1 << 16;
const EVICTS: u32 = 2 << 16;
/// The specification that pinned registers meet.
const PINNED: &str = "deterministic";
/// The one that leaves an area to paged registers.
const PAGED: &str = "best-effort";
/// More important than the workload.
const PRIORITY: i64 = 10;

/// Writes a variation on a board into the manifest; `None` when the manifest lacks a part that is varied.
pub(super) fn vary(manifest: &mut Table, variation: &Variation, board: &str) -> Option<()> {
    let system = table(manifest, "system")?;
    if system.insert("board".into(), Value::from(board)) != Some(Value::from(board)) {
        system.remove("profile");
    }
    let work = work(manifest)?;
    let thread = work.get_mut("thread")?.get_mut(0)?.as_table_mut()?;
    thread.insert("argument".into(), Value::from(variation.argument));
    for area in &variation.paged_too {
        table(work, area)?.insert("spec".into(), Value::from(PAGED));
    }
    heap(manifest, &variation.heap)?;
    if let Some(how) = variation.usage {
        usage(manifest, how)?;
    }
    adversary(manifest, variation.adversary)
}

/// Locked ways, and one specification for everything that the workload has.
fn usage(manifest: &mut Table, how: Usage) -> Option<()> {
    let (spec, near) = match how.kept {
        Kept::Tlb => (PINNED, None),
        Kept::OnChip => ("l2", Some("on-chip")),
        Kept::LockedWays => ("l2", Some("locked-ways")),
        Kept::Memory => ("best-effort", None),
    };
    let hardware = table(manifest, "hardware")?;
    hardware.insert("locked_ways".into(), Value::from(how.ways));
    hardware.insert("prefetch".into(), Value::from(how.prefetch));
    if let Some(near) = near {
        hardware.insert("near_tables".into(), Value::from(near));
    }
    let work = work(manifest)?;
    for area in ["code", "data", "stack"] {
        table(work, area)?.insert("spec".into(), Value::from(spec));
    }
    if let Some(heap) = work.get_mut("heap") {
        heap.as_table_mut()?.insert("spec".into(), Value::from(spec));
    }
    for file in work.get_mut("files").and_then(Value::as_array_mut).into_iter().flatten() {
        let mut used = Table::new();
        used.insert("name".into(), file.clone());
        used.insert("spec".into(), Value::from(spec));
        *file = Value::Table(used);
    }
    Some(())
}

fn table<'t>(within: &'t mut Table, key: &str) -> Option<&'t mut Table> {
    within.entry(key).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
}

fn work(manifest: &mut Table) -> Option<&mut Table> {
    manifest.get_mut("domain")?.get_mut("work")?.as_table_mut()
}

/// The memory of the workload's heap.
fn heap_memory(manifest: &mut Table) -> Option<Value> {
    work(manifest)?.get("heap")?.get("memory").cloned()
}

fn heap(manifest: &mut Table, how: &Heap) -> Option<()> {
    if *how == Heap::AsWritten {
        return Some(());
    }
    let Some(area) = work(manifest)?.get_mut("heap").and_then(Value::as_table_mut) else {
        return slots(manifest, how);
    };
    match how {
        Heap::AsWritten => {}
        Heap::Sized(size) => {
            area.remove("page");
            area.insert("size".into(), Value::from(size.as_str()));
        }
        Heap::Pinned => {
            area.remove("page");
            area.insert("spec".into(), Value::from(PINNED));
        }
        Heap::Paged { geometry, fixed, .. } => {
            cut(area, geometry);
            let area = area.clone();
            slots(manifest, how)?;
            if let Some(size) = fixed {
                pinned_area(manifest, size)?;
            }
            if *geometry == Geometry::Hostile {
                let other = other(manifest, 0)?;
                other.insert("heap".into(), Value::Table(area));
            }
        }
    }
    Some(())
}

/// The number of slots for paged areas, and their replacement.
fn slots(manifest: &mut Table, how: &Heap) -> Option<()> {
    if let Heap::Paged { slots, replacement, .. } = how {
        let paging = table(work(manifest)?, "paging")?;
        paging.insert("slots".into(), Value::from(*slots));
        paging.insert("replacement".into(), Value::from(*replacement));
    }
    Some(())
}

fn cut(heap: &mut Table, geometry: &Geometry) {
    if *geometry != Geometry::Written {
        heap.remove("page");
    }
    match geometry {
        Geometry::Paper => {
            heap.insert("page".into(), Value::from("128 KiB"));
        }
        Geometry::Regions(size) => {
            heap.insert("page".into(), Value::from(size.as_str()));
        }
        Geometry::Planner | Geometry::Written => {}
        Geometry::Hostile => {
            heap.insert("page".into(), Value::from("64 KiB"));
            heap.insert("interleave".into(), Value::from("frames"));
        }
    }
}

/// A pinned area `fixed`, which the workload's allocator uses first.
fn pinned_area(manifest: &mut Table, size: &str) -> Option<()> {
    let mut area = Table::new();
    area.insert("size".into(), Value::from(size));
    area.insert("memory".into(), heap_memory(manifest)?);
    table(manifest, "shared")?.insert("fixed".into(), Value::Table(area));
    let mut used = Table::new();
    used.insert("name".into(), Value::from("fixed"));
    used.insert("access".into(), Value::from("rw"));
    used.insert("spec".into(), Value::from(PINNED));
    work(manifest)?.insert("shared".into(), Value::Array(vec![Value::Table(used)]));
    Some(())
}

/// The other domain, with a thread of that argument.
fn other(manifest: &mut Table, argument: u32) -> Option<&mut Table> {
    // Longer than any run, so that nobody waits for a boundary.
    let budgets = table(manifest, "budget")?;
    for (name, capacity) in [("work", "40 s"), ("other", "15 s")] {
        let budget = table(budgets, name)?;
        budget.insert("period".into(), Value::from("60 s"));
        budget.insert("capacity".into(), Value::from(capacity));
    }
    let other = table(table(manifest, "domain")?, "other")?;
    other.insert("crate".into(), Value::from("other"));
    other.insert("thread".into(), Value::Array(vec![thread("main", None, "other", argument)]));
    Some(other)
}

fn thread(name: &str, entry: Option<&str>, budget: &str, argument: u32) -> Value {
    let mut thread = Table::new();
    thread.insert("name".into(), Value::from(name));
    if let Some(entry) = entry {
        thread.insert("entry".into(), Value::from(entry));
    }
    thread.insert("priority".into(), Value::from(PRIORITY));
    thread.insert("budget".into(), Value::from(budget));
    thread.insert("argument".into(), Value::from(argument));
    Value::Table(thread)
}

fn adversary(manifest: &mut Table, who: Adversary) -> Option<()> {
    let deed = |loads| if loads { EVICTS } else { WAITS };
    match who {
        Adversary::Nobody => {}
        Adversary::Inside(time, loads) => {
            let threads = work(manifest)?.get_mut("thread")?.as_array_mut()?;
            threads.push(thread("foe", Some("mxu_adversary"), "work", time | deed(loads)));
        }
        Adversary::Across(time, loads) => {
            let mut heap = Table::new();
            heap.insert("memory".into(), heap_memory(manifest)?);
            heap.insert("size".into(), Value::from("1 MiB"));
            heap.insert("page".into(), Value::from("128 KiB"));
            other(manifest, time | deed(loads))?.insert("heap".into(), Value::Table(heap));
        }
        Adversary::Signalled(loads) => {
            let other = manifest.get_mut("domain")?.get_mut("other")?;
            let thread = other.get_mut("thread")?.get_mut(0)?.as_table_mut()?;
            thread.insert("argument".into(), Value::from(deed(loads)));
        }
    }
    Some(())
}
