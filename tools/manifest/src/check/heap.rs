//! Heaps: their pages, how regions are chosen, and heaps that alternate.

use std::collections::BTreeMap;

use super::memory::not_empty;
use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Geometry, HeapArea, Manifest};
use crate::scheme::LEAST_PAGE_BYTES;

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found: Vec<Refusal> = manifest.domain.iter().flat_map(|(name, domain)| heap(name, domain)).collect();
    let mut groups: BTreeMap<&str, Vec<(&str, &HeapArea)>> = BTreeMap::new();
    for (name, domain) in &manifest.domain {
        let Some(heap) = &domain.heap else { continue };
        if let Some(group) = &heap.interleave {
            groups.entry(group).or_default().push((name, heap));
        }
    }
    if !board.protection.facts().eighths {
        found.extend(groups.values().filter_map(|members| contiguous(members)));
    } else if found.is_empty() {
        found.extend(groups.iter().filter_map(|(group, members)| interleaved(group, members)));
    }
    found
}

fn heap(name: &str, domain: &Domain) -> Vec<Refusal> {
    let Some(heap) = &domain.heap else { return Vec::new() };
    let place = |key: &str| format!("domain.{name}.heap.{key}");
    let mut found: Vec<Refusal> = not_empty(place("size"), heap.size.0).into_iter().collect();
    let Some(page) = heap.page else {
        found.extend(without_page(name, heap));
        return found;
    };
    let rule = "one paged region is loaded by one register: a power of two of at least 256 bytes that divides the area";
    if heap.spec.pinned() {
        found.push(
            Refusal::at("CF0310", place("page"), "a pinned heap has no pages")
                .rule(rule)
                .remedy("remove `page`, or page the heap"),
        );
    } else if page.0 < LEAST_PAGE_BYTES || !page.0.is_power_of_two() || !heap.size.0.is_multiple_of(page.0) {
        found.push(
            Refusal::at("CF0310", place("page"), "this page size cannot be used")
                .value(format!("pages of {page} in {}", heap.size))
                .limit("256 B, 512 B, 1 KiB and so on up to the size of the heap")
                .rule(rule)
                .remedy("choose a power of two and a heap of whole pages"),
        );
    }
    found.extend(alternating(name, heap, page.0));
    found
}

/// Without regions that have eighths, memory that the tool places is where it is, and nothing alternates with it.
fn contiguous(members: &[(&str, &HeapArea)]) -> Option<Refusal> {
    let (name, heap) = members.first()?;
    Some(
        Refusal::at("CF0311", format!("domain.{name}.heap.interleave"), "heaps do not alternate on this board")
            .value(heap.interleave.clone().unwrap_or_default())
            .rule("heaps alternate by the eighths of region registers, and this board's protection has none")
            .remedy("remove `interleave`"),
    )
}

/// `page` is what alternates, or what one region covers.
fn without_page(name: &str, heap: &HeapArea) -> Option<Refusal> {
    let key = match (&heap.interleave, heap.regions) {
        (Some(_), _) => "interleave",
        (None, Some(Geometry::Page)) => "regions",
        _ => return None,
    };
    Some(
        Refusal::at("CF0310", format!("domain.{name}.heap.{key}"), format!("`{key}` needs a page size"))
            .rule("`page` is the size of the frames that alternate, and of those that get a region each")
            .remedy("add `page = \"64 KiB\"`"),
    )
}

/// Rules for a single heap that alternates.
fn alternating(name: &str, heap: &HeapArea, page: u64) -> Option<Refusal> {
    heap.interleave.as_ref()?;
    let refuse = |key: &str, text: &str| {
        let place = format!("domain.{name}.heap.{key}");
        Refusal::at("CF0311", place, text).rule("heaps that alternate are paged, and lie where the tool chooses")
    };
    if heap.spec.pinned() {
        return Some(refuse("spec", "a pinned heap cannot alternate").remedy("remove `interleave`, or page the heap"));
    }
    if heap.at.is_some() {
        return Some(refuse("at", "heaps that alternate cannot be fixed").remedy("remove `at` or `interleave`"));
    }
    (page < 256).then(|| {
        refuse("page", "these frames are too small to alternate")
            .value(format!("{page} B"))
            .limit("256 B")
            .remedy("write `page = \"256 B\"` or more")
    })
}

/// The heaps of one group alternate in eighths of regions.
fn interleaved(group: &str, members: &[(&str, &HeapArea)]) -> Option<Refusal> {
    let (first_name, first) = members[0];
    let count = members.len();
    let refuse = |name: &str, key: &str, text: String| {
        Refusal::at("CF0311", format!("domain.{name}.heap.{key}"), text)
            .rule("2, 4 or 8 heaps of equal size, page, memory and regions alternate, so that eighths of regions select each one's")
    };
    if ![2, 4, 8].contains(&count) {
        return Some(
            refuse(first_name, "interleave", format!("a group of {count} cannot alternate"))
                .value(members.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
                .limit("2, 4 or 8 heaps in a group")
                .remedy(format!("give another domain a heap with `interleave = \"{group}\"`, or take one away")),
        );
    }
    let differs = |(_, heap): &&(&str, &HeapArea)| {
        let same = |h: &HeapArea| (h.memory.clone(), h.size, h.page, h.geometry());
        same(heap) != same(first)
    };
    if let Some((name, _)) = members.iter().find(differs) {
        return Some(
            refuse(name, "interleave", format!("the heaps of `{first_name}` and `{name}` differ"))
                .remedy(format!("give both the same `memory`, `size`, `page` and `regions` as `{first_name}`")),
        );
    }
    let page = first.page.map_or(1, |page| page.0);
    let whole = page * 8 / count as u64;
    (!first.size.0.is_multiple_of(whole)).then(|| {
        let needed = crate::Size(first.size.0.next_multiple_of(whole));
        refuse(first_name, "size", "these heaps do not fill the regions in which they alternate".into())
            .value(format!("{} for each of {count}", first.size))
            .limit(format!("multiples of {}", crate::Size(whole)))
            .remedy(format!("write `size = \"{needed}\"`"))
    })
}
