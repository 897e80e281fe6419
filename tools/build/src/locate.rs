//! Refusals of placement with their place in the manifest.

use manifest::{Diagnostic, Domain, Manifest, Refusal, Scheme};
use place::PlaceError;

use crate::load::Loaded;

/// The diagnostic for a refusal of placement.
pub(crate) fn locate(loaded: &Loaded, error: &PlaceError) -> Diagnostic {
    loaded.document.locate(refusal(&loaded.document.manifest, &loaded.board.protection, error))
}

/// `data of domain control` -> `domain.control.data`; `file x` -> `file.x`; `shared memory x` -> `shared.x`.
fn place_of(what: &str) -> String {
    if let Some((part, domain)) = what.split_once(" of domain ") {
        return format!("domain.{domain}.{}", if part == "initial data" { "data" } else { part });
    }
    let sections = [("file ", "file"), ("shared memory ", "shared"), ("frames ", "frames")];
    let found = sections.iter().find_map(|(prefix, key)| Some(format!("{key}.{}", what.strip_prefix(prefix)?)));
    found.unwrap_or_default()
}

/// The refusal of an envelope for whose arena there is no room.
fn too_big(manifest: &Manifest, scheme: &Scheme, what: &str, left: u64) -> Option<Refusal> {
    let (part, domain) = what.split_once(" of domain ")?;
    let index: usize = part.strip_prefix("envelope[")?.strip_suffix(']')?.parse().ok()?;
    let declared = manifest.domain.get(domain)?.envelope.get(index)?;
    Some(crate::envelope::too_big(&place_of(what), declared, left, scheme))
}

/// Where the manifest names a symbol.
fn symbol_place(manifest: &Manifest, domain: &str, symbol: &str) -> String {
    let base = format!("domain.{domain}");
    let Some(found) = manifest.domain.get(domain) else { return base };
    let thread = found.thread.iter().position(|t| t.entry.as_deref() == Some(symbol));
    let gate = found.gate.iter().find(|(_, g)| g.entry == symbol);
    match (thread, gate) {
        (Some(index), _) => format!("{base}.thread[{index}].entry"),
        (None, Some((name, _))) => format!("{base}.gate.{name}.entry"),
        (None, None) => base,
    }
}

/// Whether something other than tables lies in a memory because the manifest says so.
fn is_asked_for(manifest: &Manifest, memory: &str) -> bool {
    let own = |domain: &Domain| {
        let heap = domain.heap.iter().map(|heap| &heap.memory);
        let arenas = domain.envelope.iter().map(|envelope| &envelope.memory);
        let more = heap.chain(arenas).chain(&domain.stack.memory).any(|own| own == memory);
        more || domain.data.memory == memory
    };
    let shared = manifest.shared.values().any(|shared| shared.memory == memory);
    shared || manifest.frames.values().any(|frames| frames.memory == memory) || manifest.domain.values().any(own)
}

/// How there is more memory for tables whose walks stay on the chip.
fn more_tables(manifest: &Manifest, memory: &str) -> String {
    let areas = if is_asked_for(manifest, memory) { format!("move areas out of `{memory}`, ") } else { String::new() };
    let hardware = &manifest.hardware;
    let ways = match (hardware.near_tables, hardware.locked_ways) {
        (Some(_), _) => "remove `near_tables` under `[hardware]`".to_owned(),
        (None, ways) => {
            format!("lock ways of the level-2 cache for tables (`locked_ways = {}` under `[hardware]`)", ways + 1)
        }
    };
    format!(
        "{areas}{ways}, merge domains, or write `spec = \"best-effort\"` for what may be checked by tables off the chip"
    )
}

/// The refusal for an error of placement, at its place in the manifest.
pub(crate) fn refusal(manifest: &Manifest, scheme: &Scheme, error: &PlaceError) -> Refusal {
    let at = |code, place: String| Refusal::at(code, place, error.to_string());
    let of = |domain: &str| format!("domain.{domain}");
    match error {
        PlaceError::Elf { domain, .. } => at("CF0507", of(domain))
            .rule("a program is a complete ELF executable with one segment for code and constants and one for data")
            .remedy("link it with user/domain.ld: `cofferdam sdk` prints the flags"),
        PlaceError::Architecture { domain, found, needed } => at("CF0502", of(domain))
            .value(found.as_str())
            .limit(*needed)
            .rule("a program is built for the board's processor and its floating-point convention")
            .remedy("build it with the flags that `cofferdam sdk` prints"),
        PlaceError::Symbol { domain, symbol } => at("CF0505", symbol_place(manifest, domain, symbol))
            .value(symbol.as_str())
            .rule("an entry is a function of the program that the linker keeps")
            .remedy("correct the name, or mark the function COF_ENTRY (in Rust: as an entry of the run-time)"),
        PlaceError::Fixed { domain, address, .. } => at("CF0503", of(domain))
            .value(format!("{address:#010x}"))
            .rule("a program without relocations stays at the addresses for which it was linked")
            .remedy("link it with -Wl,--emit-relocs, so that it can be moved, or for a free address"),
        PlaceError::Relocation { domain, kind, address, reason } => at("CF0504", of(domain))
            .value(format!("type {kind} at {address:#010x}"))
            .limit(*reason)
            .rule("code and data are moved by different distances")
            .remedy("compile without position-independent code and with the flags that `cofferdam sdk` prints"),
        PlaceError::Unnamed { domain, address } => at("CF0504", of(domain))
            .value(format!("{address:#010x}"))
            .rule("a relocation, or a veneer that the tool knows, names every word that depends on where a program lies")
            .remedy("compile this part without hand-written addresses, and link with the flags that `cofferdam sdk` prints"),
        PlaceError::Full { what, left, .. } if what.starts_with("envelope[") => {
            too_big(manifest, scheme, what, *left).unwrap_or_else(|| at("CF0316", place_of(what)))
        }
        PlaceError::Full { what, memory, asked, left, .. } if what.starts_with("table of domain ") => {
            let place = place_of(what);
            at("CF0314", place.strip_suffix(".table").unwrap_or(&place).to_owned())
                .value(format!("{asked} bytes"))
                .limit(format!("{left} bytes of `{memory}`"))
                .rule("a domain takes 8 KiB on the chip for its first-level table, and 1 KiB for each aligned MiB that it has near pages in")
                .remedy(more_tables(manifest, memory))
        }
        PlaceError::Full { what, asked, rounded, left, .. } => at("CF0305", place_of(what))
            .value(format!("{asked} bytes, rounded to {rounded}"))
            .limit(format!("{left} bytes in the largest gap"))
            .rule("everything fits the chip's memory as the profile states it")
            .remedy("make it smaller, or move it to another memory"),
        PlaceError::Unit { what, asked, most } => at("CF0303", place_of(what))
            .value(format!("{asked} bytes with all of the domain that have the same rights"))
            .limit(format!("{most} bytes"))
            .rule("what is kept in a locked entry of the TLB lies, with all of the domain that have the same rights, in one unit of 4 KiB, 64 KiB or 1 MiB")
            .remedy("make it smaller, or write `spec = \"l2\"`: walks of its tables then stay on the chip"),
        PlaceError::At { what, address, reason } => {
            let code = if reason.contains("free") { "CF0302" } else { "CF0301" };
            at(code, format!("{}.at", place_of(what)))
                .value(format!("{address:#010x}"))
                .limit(reason.as_str())
                .rule("a range at a fixed address is free and expressed exactly by one region register")
                .remedy("remove `at`, or choose an address that is free and aligned")
        }
        PlaceError::Refused { what, pinned, refusal } => {
            let place = place_of(what);
            let place = place.strip_suffix(".table").unwrap_or(&place);
            manifest::refused(place, &format!("`{what}`"), &format!("; pinned: {pinned}"), refusal)
        }
        PlaceError::Objects(objects) => at("CF0319", "domain".to_owned())
            .value(format!("{} bytes: {}, ...", objects.used, objects.largest()))
            .limit(format!("{} bytes", objects.bytes))
            .rule("the kernel's objects fit the memory on the chip that the board's kernel.ld leaves for them")
            .remedy("give domains as many `handles` as they use (32 without the key), merge domains, or have fewer threads, gates and budgets"),
        PlaceError::Marks { range, asked, left, given } => {
            at("CF0320", format!("frames.{range}{}", if *given { ".marks" } else { "" }))
                .value(format!("{asked} marks"))
                .limit(format!("{left} marks"))
                .rule("each range of frames has marks of its own in the kernel's frame table: two for each piece that it is divided into, and those that its quotas need at worst")
                .remedy("lower its quotas, write fewer `marks` for other frames, or let fewer domains hold frames")
        }
        PlaceError::Tables(_) => at("CF0605", String::new())
            .rule("the kernel's own parser accepts the tables")
            .remedy("this is a defect of the tool: report it with the manifest"),
    }
}
