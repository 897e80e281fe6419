//! Refusals of placement with their place in the manifest.

use manifest::resolved::{Domain, Item, Part, System};
use manifest::{Refusal, Scheme};
use place::{PlaceError, Suspect};

/// Place in the manifest that names a symbol.
fn symbol_place(system: &System, domain: &str, symbol: &str) -> String {
    let base = format!("domain.{domain}");
    let Some(found) = system.domains.iter().find(|found| found.name == domain) else { return base };
    let thread = found.threads.iter().position(|t| t.entry.as_deref() == Some(symbol));
    if let Some(index) = thread {
        return format!("{base}.thread[{index}].entry");
    }
    if let Some(gate) = found.gates.iter().find(|gate| gate.entry == symbol) {
        return format!("{base}.gate.{}.entry", gate.name);
    }
    let mut handlers = found.interrupts.iter().filter_map(|line| line.direct.as_ref());
    handlers
        .find(|direct| direct.handler == symbol)
        .map_or(base.clone(), |direct| format!("{base}.interrupt.{}.handler", direct.key))
}

/// The symbol of the first of a way: `` `fired` main.c:9 ``.
fn first_of(way: &[String]) -> &str {
    way.first().and_then(|first| first.split('`').nth(1)).unwrap_or_default()
}

/// Whether something other than tables lies in a memory because the manifest says so.
fn is_asked_for(system: &System, memory: &str) -> bool {
    let own = |domain: &Domain| {
        let heap = domain.heap.iter().map(|heap| &heap.area);
        let arenas = domain.envelopes.iter().map(|envelope| &envelope.area);
        [&domain.data, &domain.stack].into_iter().chain(heap).chain(arenas).map(|area| area.memory).collect::<Vec<_>>()
    };
    let shared = system.shared.iter().map(|shared| shared.memory);
    let mut used =
        shared.chain(system.frames.iter().map(|frames| frames.memory)).chain(system.domains.iter().flat_map(own));
    used.any(|number| system.memories[number].name == memory)
}

/// The rule of a domain's table that there is no room for in a memory, and how there is more.
fn of_tables(system: &System, memory: &str) -> (&'static str, String) {
    let areas = if is_asked_for(system, memory) { format!("move areas out of `{memory}`, ") } else { String::new() };
    if let Some(pages) = &system.pages {
        let ways = if pages.one_place {
            "remove `near_tables` under `[hardware]`".to_owned()
        } else {
            let ways = pages.locked_ways + 1;
            format!("lock ways of the level-2 cache for tables (`locked_ways = {ways}` under `[hardware]`)")
        };
        let rule = "a domain takes 8 KiB on the chip for its first-level table, and 1 KiB for each aligned MiB that it has near pages in";
        let off = "merge domains, or write `spec = \"best-effort\"` for what may be checked by tables off the chip";
        (rule, format!("{areas}{ways}, {off}"))
    } else if system.memories.iter().any(|own| own.name == memory) {
        let rule = "a domain whose areas are more than its region registers has a table of nodes on the chip, with room for what may be mapped to it";
        let less = "declare fewer envelopes and frames for the domain, or give it fewer areas that are not pinned";
        (rule, format!("{areas}{less}"))
    } else {
        let rule = "all domains share the entries of the hardware's tables: each takes as many as its pages reach up to, rounded up to a power of two";
        (rule, "merge domains, or let demand areas and what is mapped at run time be smaller".to_owned())
    }
}

/// The refusal of a program, whatever system it is for; its place is the domain.
pub(crate) fn of_program(error: &PlaceError) -> Refusal {
    let at = |code, domain: &str| Refusal::at(code, format!("domain.{domain}"), error.to_string());
    match error {
        PlaceError::Elf { domain, .. } => at("CF0507", domain)
            .rule("a program is a complete ELF executable with one segment for code and constants and one for data")
            .remedy("link it with user/domain.ld: `cofferdam sdk` prints the flags"),
        PlaceError::Version { domain, found } => at("CF0508", domain)
            .value(found.map_or("no note".to_owned(), |version| format!("version {version}")))
            .limit(format!("version {}", abi::info::VERSION))
            .rule("a program says in a note for which version of the interface of kernel and programs it was built")
            .remedy("build it again with this SDK: `cofferdam sdk` prints the flags; the run-time carries the note"),
        PlaceError::Alignment { domain, align, .. } => at("CF0503", domain)
            .value(format!("{align} bytes"))
            .rule("a program is moved by multiples of the largest alignment in it")
            .remedy("ask for less alignment in the program, or give the area an address with `at`"),
        PlaceError::Architecture { domain, found, needed } => at("CF0502", domain)
            .value(found.as_str())
            .limit(*needed)
            .rule("a program is built for the board's processor and its floating-point convention")
            .remedy("build it with the flags that `cofferdam sdk` prints"),
        PlaceError::Fixed { domain, address, .. } => at("CF0503", domain)
            .value(format!("{address:#010x}"))
            .rule("a program without relocations stays at the addresses for which it was linked")
            .remedy("link it with -Wl,--emit-relocs, so that it can be moved, or for a free address"),
        PlaceError::Relocation { domain, kind, address, reason } => at("CF0504", domain)
            .value(format!("type {kind} at {address:#010x}"))
            .limit(*reason)
            .rule("code and data are moved by different distances")
            .remedy("compile without position-independent code and with the flags that `cofferdam sdk` prints"),
        PlaceError::Unnamed { domain, address } => at("CF0504", domain)
            .value(format!("{address:#010x}"))
            .rule(
                "a relocation, or a veneer that the tool knows, names every word that depends on where a program lies",
            )
            .remedy(
                "compile this part without hand-written addresses, and link with the flags that `cofferdam sdk` prints",
            ),
        _ => Refusal::at("CF0605", String::new(), error.to_string())
            .rule("the kernel's own parser accepts the tables")
            .remedy("this is a defect of the tool: report it with the manifest"),
    }
}

/// So many words that may be addresses are named.
const NAMED: usize = 8;

/// The warning of the words of a program that may be addresses, if there are any.
pub(crate) fn of_suspects(domain: &str, suspects: &[Suspect]) -> Option<Refusal> {
    let symbol = |near: &Option<(String, u32)>| match near {
        Some((name, 0)) => format!("`{name}`"),
        Some((name, from)) => format!("`{name}` + {from:#x}"),
        None => "no symbol".to_owned(),
    };
    let line = |suspect: &Suspect| {
        let Suspect { address, within, value, leads_to } = suspect;
        format!("{address:#010x} in {}: {value:#010x}, {}", symbol(within), symbol(leads_to))
    };
    let lines: Vec<String> = suspects.iter().take(NAMED).map(line).collect();
    let more = suspects.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    (!suspects.is_empty()).then(|| {
        let text = format!("the program of `{domain}` holds {} words that may be addresses and are not moved", suspects.len());
        Refusal::at("CF0510", format!("domain.{domain}.elf"), text)
            .value(format!("{}{more}", lines.join("; ")))
            .rule("a relocation, or a veneer that the tool knows, names every address in a program")
            .remedy("nothing, if they are numbers; otherwise give addresses by symbols, or the sources with `c`: they are linked twice and compared")
    })
}

/// The refusal for an error of placement, at its place in the manifest.
pub(crate) fn refusal(system: &System, scheme: &dyn Scheme, error: &PlaceError) -> Refusal {
    let at = |code, place: String| Refusal::at(code, place, error.to_string());
    match error {
        PlaceError::Symbol { domain, symbol } => at("CF0505", symbol_place(system, domain, symbol))
            .value(symbol.as_str())
            .rule("an entry is a function of the program that the linker keeps")
            .remedy("correct the name, or mark the function COF_ENTRY (in Rust: as an entry of the run-time)"),
        PlaceError::NotCode { domain, symbol, address } => at("CF0505", symbol_place(system, domain, symbol))
            .value(format!("{address:#010x}"))
            .rule("an entry is a function in the code of the program, which nobody can write")
            .remedy("name a function in a section that is executable and not writable"),
        PlaceError::Begins { domain, symbol, address, rule } => {
            let name = symbol.as_deref().unwrap_or("the entry");
            at("CF0505", symbol_place(system, domain, symbol.as_deref().unwrap_or_default()))
                .value(format!("{address:#010x}"))
                .rule(*rule)
                .remedy(format!("name a function; in assembly, `.type {name}, %function` (of Thumb code `.thumb_func`) in front of the label makes it one"))
        }
        PlaceError::Full { what: Item::Of(Part::Envelope(index), domain), left, memory, .. } => {
            let found = system.domains.iter().find(|found| found.name == *domain);
            let place = Item::Of(Part::Envelope(*index), domain.clone()).place();
            match found.and_then(|found| found.envelopes.get(*index)) {
                Some(declared) => manifest::too_big(place, &declared.envelope, (*left, memory), true, (scheme, declared.on_demand.is_some())),
                None => at("CF0316", place),
            }
        }
        PlaceError::Full { what: what @ Item::Of(Part::Table, _), memory, asked, left, .. } => {
            let (rule, remedy) = of_tables(system, memory);
            at("CF0314", what.place())
                .value(format!("{asked} bytes"))
                .limit(format!("{left} bytes of `{memory}`"))
                .rule(rule)
                .remedy(remedy)
        }
        PlaceError::Full { what, asked, rounded, left, .. } => at("CF0305", what.place())
            .value(format!("{}, rounded to {}", manifest::Size(*asked), rounded))
            .limit(format!("{} in the largest gap", manifest::Size(*left)))
            .rule("everything fits the chip's memory as the profile states it")
            .remedy("make it smaller, or move it to another memory"),
        PlaceError::Unit { what, asked, most } => at("CF0303", what.place())
            .value(format!("{asked} bytes with all of the domain that have the same rights"))
            .limit(format!("{most} bytes"))
            .rule("what is kept in a locked entry of the TLB lies, with all of the domain that have the same rights, in one unit of 4 KiB, 64 KiB or 1 MiB")
            .remedy("make it smaller, or write `spec = \"l2\"`: walks of its tables then stay on the chip"),
        PlaceError::At { what, address, reason } => {
            let code = if reason.contains("free") { "CF0302" } else { "CF0301" };
            at(code, format!("{}.at", what.place()))
                .value(format!("{address:#010x}"))
                .limit(reason.as_str())
                .rule("a range at a fixed address is free and expressed exactly by one region register; if handlers use it, it is one controller's")
                .remedy("remove `at`, or choose an address that is free and aligned")
        }
        PlaceError::Reaches { domain, way, reason, remedy } => at("CF0512", symbol_place(system, domain, first_of(way)))
            .value(way.join(" -> "))
            .limit(*reason)
            .rule("what a handler executes is placed a second time, in Non-secure memory, and leads to nothing that is Secure")
            .remedy(*remedy),
        PlaceError::HandlerStack { domain, way, needed, there, given } => {
            let place = format!("domain.{domain}.handlers");
            let at = |place| at("CF0513", place).value(way.join(" -> "));
            match needed {
                Some(needed) => at(format!("{place}.stack"))
                    .limit(format!("{there} bytes"))
                    .rule("handlers of a domain share one stack: it holds the deepest calls of a handler of each priority, and 40 bytes for each interrupt above another")
                    .remedy(format!("write `stack = \"{} B\"` under [{place}], or make large variables `static`", given + needed.saturating_sub(*there).next_multiple_of(8))),
                None => at(symbol_place(system, domain, first_of(way)))
                    .limit("no function that calls itself, directly or through others")
                    .rule("what a handler needs of its stack is known when the system is built")
                    .remedy("write the recursion as a loop, or do it in the thread that `wake` wakes"),
            }
        }
        PlaceError::Refused(refused) => manifest::refused(refused),
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
        PlaceError::TooMany { what, asked, most } => at("CF0208", "domain".to_owned())
            .value(format!("{asked} {what}"))
            .limit(format!("{most} {what}"))
            .rule("each of the tables that the kernel boots from has at most 256 entries, and all of them have 16 KiB, so that every loop over them is bounded")
            .remedy("join files, and let domains have fewer of them, of shared memory and of devices: each is an area; or write fewer `uses` and gates"),
        other => of_program(other),
    }
}
