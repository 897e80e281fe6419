//! Memory as declared: which memory can hold what, who owns a device, and how many region registers are needed at least.

use std::collections::HashMap;

use crate::board::Board;
use crate::board_file::MemoryKind;
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
        let quotas = frames.quota.iter();
        found.extend(quotas.filter_map(|(who, quota)| not_too_big(format!("frames.{name}.quota.{who}"), quota.0)));
    }
    for (name, domain) in &manifest.domain {
        found.extend(homes(board, name, domain));
        found.extend(stacks(board, name, domain));
        found.extend(sizes(name, domain));
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
    if board.memory(&domain.code.memory).is_some_and(|m| m.kind == MemoryKind::Ram) {
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

/// The largest area: more than any memory that a board has for domains, and so little that the sum of a domain's fits a word.
pub(super) const MOST_BYTES: u64 = 1 << 30;

pub(super) fn not_empty(place: String, bytes: u64) -> Option<Refusal> {
    let refused = Refusal::at("CF0104", &place, "this size cannot be")
        .value(format!("{bytes} bytes"))
        .limit("1 byte to 1 GiB")
        .rule("an area is not empty")
        .remedy("give it a size");
    if bytes == 0 { Some(refused) } else { not_too_big(place, bytes) }
}

fn not_too_big(place: String, bytes: u64) -> Option<Refusal> {
    (bytes > MOST_BYTES).then(|| {
        Refusal::at("CF0104", place, "this size cannot be")
            .value(format!("{bytes} bytes"))
            .limit("1 GiB")
            .rule("an area is in a memory of the board")
            .remedy("make it smaller than the memory")
    })
}

/// Sizes of a domain that may be nothing, or whose least is checked elsewhere.
fn sizes(name: &str, domain: &Domain) -> Vec<Refusal> {
    let mut all = vec![(format!("domain.{name}.data.extra"), domain.data.extra.0)];
    all.extend(domain.handlers.as_ref().map(|handlers| (format!("domain.{name}.handlers.stack"), handlers.stack.0)));
    let stacks = stack_sizes(name, domain);
    all.extend(stacks.iter().cloned());
    let mut found: Vec<Refusal> = all.into_iter().filter_map(|(place, bytes)| not_too_big(place, bytes)).collect();
    // Each thread without a stack of its own has one of the domain's size.
    let own = domain.thread.iter().map(|thread| thread.stack.unwrap_or(domain.stack.size).0);
    let sum = own.chain(domain.gate.values().map(|gate| gate.stack.0)).fold(0u64, u64::saturating_add);
    if found.is_empty() && sum > MOST_BYTES {
        found.push(
            Refusal::at("CF0104", format!("domain.{name}"), "the stacks of this domain cannot be")
                .value(format!("{sum} bytes"))
                .limit("1 GiB")
                .rule("the stacks of all threads and gates of a domain are in one area")
                .remedy("make them smaller, or have fewer threads and gates"),
        );
    }
    found
}

/// The sizes of stacks that a domain declares, each with its place.
fn stack_sizes(name: &str, domain: &Domain) -> Vec<(String, u64)> {
    let threads = domain.thread.iter().enumerate();
    let mut sizes: Vec<(String, u64)> =
        threads.filter_map(|(i, t)| t.stack.map(|s| (format!("domain.{name}.thread[{i}].stack"), s.0))).collect();
    sizes.push((format!("domain.{name}.stack.size"), domain.stack.size.0));
    sizes.extend(domain.gate.iter().map(|(g, gate)| (format!("domain.{name}.gate.{g}.stack"), gate.stack.0)));
    sizes
}

fn stacks(board: &Board, name: &str, domain: &Domain) -> Vec<Refusal> {
    let mut found = Vec::new();
    if board.core.exceptions.stacked && !domain.stack.spec.pinned() && domain.stack.spec.error.is_none() {
        found.push(
            Refusal::at("CF0306", format!("domain.{name}.stack.spec"), "a stack cannot be paged")
                .value(format!("spec = \"{}\"", domain.stack.spec.text))
                .rule("stacks are always pinned: an exception that cannot save its registers cannot be restarted")
                .remedy("remove `spec`"),
        );
    }
    for (place, bytes) in stack_sizes(name, domain) {
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
            if board.device(device).is_some_and(|d| d.kernel) {
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
