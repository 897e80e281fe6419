//! The memory map: each memory to scale, and its parts as labelled blocks.

use super::{format, units};
use crate::describe::{Area, Memory};
use crate::schema::Report;

/// One memory of the chip.
pub struct MemoryView {
    pub name: String,
    pub range: String,
    pub capacity: String,
    pub used: String,
    pub share: String,
    pub blocks: Vec<BlockView>,
}

/// A stretch of a memory: an area, or a gap between areas.
pub struct BlockView {
    /// Position and width on the strip that is to scale.
    pub left: String,
    pub width: String,
    /// Relative width of the labelled block: logarithmic, so that small areas stay readable.
    pub grow: String,
    pub gap: bool,
    pub class: String,
    pub name: String,
    pub owners: String,
    pub size: String,
    pub range: String,
    pub from: String,
    pub to: String,
    pub access: String,
    pub how: String,
}

struct Part<'a> {
    area: &'a Area,
    /// A part of it that is checked at once, singular and plural.
    part: &'a [String; 2],
    /// How its checks are kept, as a phrase.
    kept: &'a str,
    owners: Vec<&'a str>,
    color: Option<u8>,
}

/// The memories of a report, in the order of their addresses; areas outside every memory (devices) come last.
pub fn memories(report: &Report) -> Vec<MemoryView> {
    let parts = parts(report);
    let mut memories: Vec<_> = report.memories.iter().collect();
    memories.sort_by_key(|memory| memory.base);
    let mut views = Vec::new();
    for memory in &memories {
        let mine: Vec<_> = parts.iter().filter(|part| part.area.memory == memory.name).collect();
        views.push(MemoryView {
            name: match memory.stands_in_for.as_slice() {
                [] => memory.name.clone(),
                names => format!("{} (in the place of {})", memory.name, names.join(", ")),
            },
            range: range(memory.base, memory.base + memory.capacity),
            capacity: format::bytes(memory.capacity),
            used: format::bytes(memory.used),
            share: format::percent(memory.used as f64 / memory.capacity.max(1) as f64),
            blocks: blocks(&mine, memory),
        });
    }
    let other: Vec<_> = parts.iter().filter(|part| memories.iter().all(|m| m.name != part.area.memory)).collect();
    if let Some(first) = other.first() {
        let bytes: u64 = other.iter().map(|part| part.area.bytes).sum();
        views.push(MemoryView {
            name: "devices".to_owned(),
            range: format!("from {}", format::address(first.area.base)),
            capacity: String::new(),
            used: format::bytes(bytes),
            share: String::new(),
            blocks: other.iter().map(|part| block(part, &Memory { capacity: 1, ..Memory::default() })).collect(),
        });
    }
    views
}

/// Every area once; an area that several domains share has several owners.
fn parts(report: &Report) -> Vec<Part<'_>> {
    let mut parts: Vec<Part> = Vec::new();
    let part = &report.checks.part;
    let text =
        |area: &Area| report.keeping.iter().find(|way| way.kept == area.kept).map_or("", |way| way.text.as_str());
    let domains = report.domains.iter().map(|d| (&d.areas, d.name.as_str(), Some(d.color)));
    for (areas, owner, color) in domains.chain([(&report.kernel_areas, "kernel", None)]) {
        for area in areas {
            let same = |part: &&mut Part| part.area.base == area.base && part.area.bytes == area.bytes;
            match parts.iter_mut().find(same) {
                Some(part) => part.owners.push(owner),
                None => parts.push(Part { area, part, kept: text(area), owners: vec![owner], color }),
            }
        }
    }
    parts.sort_by_key(|part| (part.area.base, part.area.bytes));
    parts
}

impl Part<'_> {
    /// Its first address in a memory, which the kernel knows, and domains may have elsewhere.
    fn start(&self, memory: &Memory) -> u64 {
        self.area.base + if self.color.is_some() { memory.offset } else { 0 }
    }
}

fn blocks(parts: &[&Part], memory: &Memory) -> Vec<BlockView> {
    let Memory { base, capacity, .. } = *memory;
    let mut out = Vec::new();
    let mut at = base;
    let mut parts = parts.to_vec();
    parts.sort_by_key(|part| part.start(memory));
    for part in parts {
        let start = part.start(memory);
        if start > at {
            out.push(gap(at, start, base, capacity));
        }
        out.push(block(part, memory));
        at = at.max(start + part.area.bytes);
    }
    if base + capacity > at {
        out.push(gap(at, base + capacity, base, capacity));
    }
    out
}

fn grow(bytes: u64) -> String {
    format!("{:.2}", (bytes.max(64) as f64 / 32.0).log2())
}

fn range(from: u64, to: u64) -> String {
    format!("{} – {}", format::address(from), format::address(to))
}

fn gap(from: u64, to: u64, base: u64, capacity: u64) -> BlockView {
    BlockView {
        left: format::position((from - base) as f64, capacity as f64),
        width: format::position((to - from) as f64, capacity as f64),
        grow: grow((to - from).min(1 << 12)),
        gap: true,
        class: "gap".to_owned(),
        name: "free".to_owned(),
        owners: String::new(),
        size: format::bytes(to - from),
        range: range(from, to),
        from: format::address(from),
        to: format::address(to),
        access: String::new(),
        how: String::new(),
    }
}

fn block(part: &Part, memory: &Memory) -> BlockView {
    let Memory { base, capacity, .. } = *memory;
    let Part { area, owners, color, .. } = part;
    let how = match (color, area.pages) {
        (None, _) => "kernel only".to_owned(),
        (_, 0) => part.kept.to_owned(),
        (_, count) => format!("{}, {}", part.kept, format::counted(count.into(), &part.part[0], &part.part[1])),
    };
    // The bound is that of the check alone.
    let how = match area.bound_cycles {
        Some(cycles) => {
            format!("{how}; {}: checked at {} within {cycles} cycles ({})", area.spec, area.level, area.bound_method)
        }
        None => how,
    };
    let class = color.map_or_else(|| "ck".to_owned(), units::color);
    BlockView {
        left: format::position(part.start(memory).saturating_sub(base) as f64, capacity as f64),
        width: format::position(area.bytes as f64, capacity as f64),
        grow: grow(area.bytes),
        gap: false,
        class: format!("{class}{}", if area.pinned || part.color.is_none() { "" } else { " paged" }),
        name: area.name.clone(),
        owners: owners.join(", "),
        size: format::bytes(area.bytes),
        range: range(area.base, area.end()),
        from: format::address(area.base),
        to: format::address(area.end()),
        access: area.access.clone(),
        how,
    }
}

#[cfg(test)]
mod tests;
