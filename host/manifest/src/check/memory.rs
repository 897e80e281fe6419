//! Memory as declared: which memory can hold what, who owns a device, and how many region registers are needed at least.

use std::collections::HashMap;

use crate::board::{Board, MemoryKind};
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Manifest};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (name, shared) in &manifest.shared {
        found.extend(home(board, format!("shared.{name}.memory"), &shared.memory, true));
        found.extend(not_empty(format!("shared.{name}.size"), shared.size.0));
    }
    for (name, frames) in &manifest.frames {
        found.extend(home(board, format!("frames.{name}.memory"), &frames.memory, true));
        found.extend(not_empty(format!("frames.{name}.size"), frames.size.0));
    }
    for (name, domain) in &manifest.domain {
        found.extend(homes(board, name, domain));
        found.extend(heap(name, domain));
        found.extend(stacks(name, domain));
        found.extend(registers(board, name, domain));
    }
    found.extend(devices(manifest, board));
    found
}

/// The memory exists and can hold what is asked.
fn home(board: &Board, place: String, memory: &str, written: bool) -> Option<Refusal> {
    let Some(found) = board.memory(memory) else {
        return Some(
            Refusal::at("CF0202", place, format!("there is no memory `{memory}` for domains"))
                .value(memory)
                .limit(format!("known: {}", board.memory_names()))
                .rule("memory is named as in the board's description")
                .remedy("choose one of the known memories"),
        );
    };
    if written && found.kind == MemoryKind::Rom {
        return Some(
            Refusal::at("CF0309", place, format!("`{memory}` cannot be written"))
                .value(memory)
                .rule("what a domain writes lies in RAM")
                .remedy("choose a RAM, for example \"sram\""),
        );
    }
    None
}

fn homes(board: &Board, name: &str, domain: &Domain) -> Vec<Refusal> {
    let place = |area: &str| format!("domain.{name}.{area}.memory");
    let mut found = Vec::new();
    found.extend(home(board, place("code"), &domain.code.memory, false));
    if board.memory(&domain.code.memory).is_some_and(|m| m.kind != MemoryKind::Rom) {
        found.push(
            Refusal::at("CF0309", place("code"), "code is executed where it is stored")
                .value(domain.code.memory.clone())
                .rule("code lies in read-only memory, so that no restart has to load it again")
                .remedy("write `memory = \"flash\"`"),
        );
    }
    found.extend(home(board, place("data"), &domain.data.memory, true));
    if let Some(memory) = &domain.stack.memory {
        found.extend(home(board, place("stack"), memory, true));
    }
    if let Some(heap) = &domain.heap {
        found.extend(home(board, place("heap"), &heap.memory, true));
    }
    found
}

fn not_empty(place: String, bytes: u64) -> Option<Refusal> {
    if bytes > 0 && bytes <= 1 << 30 {
        return None;
    }
    Some(
        Refusal::at("CF0104", place, "this size cannot be")
            .value(format!("{bytes} bytes"))
            .limit("1 byte to 1 GiB")
            .rule("an area is not empty")
            .remedy("give it a size"),
    )
}

fn heap(name: &str, domain: &Domain) -> Vec<Refusal> {
    let Some(heap) = &domain.heap else { return Vec::new() };
    let place = |key: &str| format!("domain.{name}.heap.{key}");
    let mut found: Vec<Refusal> = not_empty(place("size"), heap.size.0).into_iter().collect();
    let Some(page) = heap.page else { return found };
    let rule = "one paged region is loaded by one register: a power of two of at least 32 bytes that divides the area";
    if heap.pinned {
        found.push(
            Refusal::at("CF0310", place("page"), "a pinned heap has no pages")
                .rule(rule)
                .remedy("remove `page` or `pinned`"),
        );
    } else if page.0 < 32 || !page.0.is_power_of_two() || !heap.size.0.is_multiple_of(page.0) {
        found.push(
            Refusal::at("CF0310", place("page"), "this page size cannot be used")
                .value(format!("pages of {page} in {}", heap.size))
                .limit("32 B, 64 B, 128 B and so on up to the size of the heap")
                .rule(rule)
                .remedy("choose a power of two and a heap of whole pages"),
        );
    }
    found
}

fn stacks(name: &str, domain: &Domain) -> Vec<Refusal> {
    let mut found = Vec::new();
    if !domain.stack.pinned {
        found.push(
            Refusal::at("CF0306", format!("domain.{name}.stack.pinned"), "a stack cannot be paged")
                .value("pinned = false")
                .rule("stacks are always pinned: an exception that cannot save its registers cannot be restarted")
                .remedy("remove `pinned = false`"),
        );
    }
    let threads = domain.thread.iter().enumerate();
    let mut sizes: Vec<(String, u64)> =
        threads.filter_map(|(i, t)| t.stack.map(|s| (format!("domain.{name}.thread[{i}].stack"), s.0))).collect();
    sizes.push((format!("domain.{name}.stack.size"), domain.stack.size.0));
    sizes.extend(domain.gate.iter().map(|(g, gate)| (format!("domain.{name}.gate.{g}.stack"), gate.stack.0)));
    for (place, bytes) in sizes {
        if bytes < 256 || !bytes.is_multiple_of(8) {
            found.push(
                Refusal::at("CF0306", place, "this stack is too small or not aligned")
                    .value(format!("{bytes} bytes"))
                    .limit("at least 256 bytes, a multiple of 8")
                    .rule("a stack holds an exception frame with floating-point registers (104 bytes) and more, aligned to 8")
                    .remedy("give it at least `512 B`"),
            );
        }
    }
    found
}

/// Each device has one owner, and the kernel's own has none.
fn devices(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for (name, domain) in &manifest.domain {
        for (i, device) in domain.devices.iter().enumerate() {
            let place = format!("domain.{name}.devices[{i}]");
            if board.device.get(device).is_some_and(|d| d.kernel) {
                found.push(
                    Refusal::at("CF0308", &place, format!("`{device}` belongs to the kernel"))
                        .rule("whoever could stop the kernel's clock could stop every budget")
                        .remedy("choose another device"),
                );
            }
            if let Some(owner) = owners.insert(device, name).filter(|owner| owner != name) {
                found.push(
                    Refusal::at("CF0307", &place, format!("the device `{device}` would have two owners"))
                        .value(name.as_str())
                        .limit(format!("owned by `{owner}`"))
                        .rule("a device has one owner")
                        .remedy(format!("let `{owner}` offer a gate, and let `{name}` use it")),
                );
            }
        }
    }
    found
}

/// The areas that are pinned as declared, and whether anything is paged.
fn pinned_areas(domain: &Domain) -> (Vec<String>, bool) {
    let mut pinned = Vec::new();
    let mut paged = false;
    let mut area = |is_pinned: bool, name: String| {
        if is_pinned { pinned.push(name) } else { paged = true }
    };
    area(domain.code.pinned, "code".into());
    let data = domain.data.memory.as_str();
    let together = domain.data.pinned && domain.stack.memory.as_deref().is_none_or(|m| m == data);
    if together {
        area(true, "data with stacks".into());
    } else {
        area(true, "stacks".into());
        area(domain.data.pinned, "data".into());
    }
    if let Some(heap) = &domain.heap {
        area(heap.pinned, "heap".into());
    }
    domain.shared.iter().for_each(|s| area(s.pinned, s.name.clone()));
    domain.files.iter().for_each(|f| area(f.pinned, f.name.clone()));
    domain.devices.iter().for_each(|d| area(true, d.clone()));
    (pinned, paged)
}

/// At least one register for each pinned area must be there, and enough for what is paged.
fn registers(board: &Board, name: &str, domain: &Domain) -> Option<Refusal> {
    let (pinned, paged) = pinned_areas(domain);
    let have = board.protection.regions as usize;
    let place = format!("domain.{name}");
    if pinned.len() > have {
        return Some(
            Refusal::at("CF0303", place, format!("domain `{name}` pins more memory than there are region registers"))
                .value(format!("{} pinned: {}", pinned.len(), pinned.join(", ")))
                .limit(format!("{have} region registers"))
                .rule("pinned memory is in region registers whenever the domain runs")
                .remedy(format!("page at least {} of them, or put them into one area", pinned.len() - have)),
        );
    }
    let need = if !paged {
        0
    } else if domain.code.pinned {
        2
    } else {
        4
    };
    let left = have - pinned.len();
    if left < need {
        let why = if domain.code.pinned { "an operand" } else { "code and an operand" };
        return Some(
            Refusal::at("CF0304", place, format!("too few region registers are left for the paged memory of `{name}`"))
                .value(format!("{need} slots for paged memory, beside {} pinned: {}", pinned.len(), pinned.join(", ")))
                .limit(format!("{left} of {have} region registers"))
                .rule(format!(
                    "{why} can cross region borders within one instruction: {need} slots let every instruction progress"
                ))
                .remedy(format!("pin at least {} fewer, or page nothing", need - left)),
        );
    }
    None
}
