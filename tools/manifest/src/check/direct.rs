//! Interrupts that reach handlers without the kernel: what a manifest says of them is whole, the board can do it, and there is no more than the
//! kernel looks at.

use crate::board::Board;
use crate::board_file::{Memory, MemoryKind};
use crate::diagnostic::Refusal;
use crate::schema::{Delivery, Domain, Handlers, InterruptLine, Manifest, Meter};
use system::direct::{LEVELS, MAX_DIRECT, MAX_OPEN, MAX_OWNERS};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (name, domain) in &manifest.domain {
        found.extend(domain.interrupt.iter().filter_map(|(key, line)| whole(name, key, line)));
        found.extend(domain.interrupt.iter().filter_map(|(key, line)| priority(name, key, line)));
        found.extend(shared(name, domain));
        found.extend(domain.handlers.as_ref().and_then(|handlers| stack(name, handlers)));
        found.extend(domain.handlers.as_ref().and_then(|handlers| capacity(name, handlers)));
    }
    let owners: Vec<(&str, &Domain)> = manifest.domain.iter().map(|(name, domain)| (name.as_str(), domain)).collect();
    let owners: Vec<_> = owners.into_iter().filter(|(_, domain)| domain.direct().next().is_some()).collect();
    let Some((first, domain)) = owners.first() else { return found };
    for (owner, domain) in &owners {
        found.extend(meter(owner, domain, board));
    }
    if board.secure().is_none() {
        found.push(no_state(first, domain, board));
        return found;
    }
    found.extend(no_sampler(first, domain, board));
    found.extend(occupant(&owners));
    found.extend(one_meter(&owners, board));
    found.extend(lines(&owners));
    for (owner, domain) in &owners {
        found.extend(devices(owner, domain, board));
        found.extend(memory(owner, domain, board));
        found.extend(ranges(owner, domain));
    }
    found
}

/// One of several says that its handlers are reached when the system starts.
fn occupant(owners: &[(&str, &Domain)]) -> Option<Refusal> {
    let occupies = |(_, domain): &&(&str, &Domain)| domain.handlers.as_ref().is_some_and(|own| own.occupies);
    let said: Vec<&str> = owners.iter().filter(occupies).map(|(name, _)| *name).collect();
    let names: Vec<&str> = owners.iter().map(|(name, _)| *name).collect();
    let refuse = |name: &str, text: String| {
        Refusal::at("CF0211", format!("domain.{name}.handlers.occupies"), text)
            .value(format!("handlers of {}", names.join(", ")))
            .limit("one of them with `occupies = true`")
            .rule("the processor's Non-secure state is one domain's at a time; the kernel takes the interrupts of the others")
    };
    match said[..] {
        [] if owners.len() > 1 => Some(
            refuse(names[0], "nothing says whose handlers are reached when the system starts".to_owned())
                .remedy("write `occupies = true` for one of them"),
        ),
        [first, second, ..] => Some(
            refuse(second, format!("handlers of `{first}` and of `{second}` are both to be reached at the start"))
                .remedy(format!("remove `occupies` of `{first}` or of `{second}`")),
        ),
        _ => None,
    }
}

/// A direct line names its handler, a priority and a separation; another one none of them.
fn whole(domain: &str, key: &str, line: &InterruptLine) -> Option<Refusal> {
    let place = format!("domain.{domain}.interrupt.{key}");
    let given = [
        ("handler", line.handler.is_some()),
        ("priority", line.priority.is_some()),
        ("separation", line.separation.is_some()),
    ];
    let is_direct = line.delivery == Delivery::Direct;
    let (wrong, _) = given.into_iter().find(|(_, is_given)| *is_given != is_direct)?;
    Some(if is_direct {
        let example = match wrong {
            "handler" => "handler = \"symbol\"",
            "priority" => "priority = 0",
            _ => "separation = \"100 us\"",
        };
        Refusal::at("CF0211", place, format!("a direct interrupt without `{wrong}`"))
            .value("delivery = \"direct\"")
            .limit(format!("no `{wrong}`"))
            .rule("the processor calls a function at a priority among handlers, and the analysis counts on a least time between two interrupts")
            .remedy(format!("write `{example}`, or remove `delivery`: the kernel takes the interrupt then"))
    } else {
        Refusal::at("CF0211", format!("{place}.{wrong}"), format!("`{wrong}` of an interrupt that the kernel takes"))
            .limit("only with `delivery = \"direct\"`")
            .rule("an interrupt that the kernel takes signals its notification, and no handler is called")
            .remedy(format!("remove `{wrong}`, or write `delivery = \"direct\"`"))
    })
}

fn priority(domain: &str, key: &str, line: &InterruptLine) -> Option<Refusal> {
    let given = line.priority.filter(|given| *given >= LEVELS)?;
    let place = format!("domain.{domain}.interrupt.{key}.priority");
    Some(
        Refusal::at("CF0407", place, "there is no such priority of handlers")
            .value(given.to_string())
            .limit(format!("0 (most important) to {}", LEVELS - 1))
            .rule(format!("handlers have {LEVELS} priorities, all above the kernel and threads"))
            .remedy(format!("choose a number from 0 to {}", LEVELS - 1)),
    )
}

/// A domain says what its handlers share, if it has any.
fn shared(name: &str, domain: &Domain) -> Option<Refusal> {
    let direct = domain.direct().next();
    match (direct, &domain.handlers) {
        (Some((key, _)), None) => Some(
            Refusal::at(
                "CF0211",
                format!("domain.{name}.interrupt.{key}.delivery"),
                format!("nothing bounds the time of handlers of `{name}`"),
            )
            .value("delivery = \"direct\"")
            .limit(format!("no [domain.{name}.handlers]"))
            .rule(
                "handlers of a domain share a stack, and a capacity in a period, at the end of which they are cut off",
            )
            .remedy(format!("add [domain.{name}.handlers] with `period` and `capacity`")),
        ),
        (None, Some(_)) => Some(
            Refusal::at("CF0211", format!("domain.{name}.handlers"), format!("`{name}` has no handlers"))
                .limit("no interrupt with `delivery = \"direct\"`")
                .rule("handlers are what direct interrupts reach")
                .remedy(format!("remove [domain.{name}.handlers], or deliver an interrupt directly")),
        ),
        _ => None,
    }
}

fn stack(name: &str, handlers: &Handlers) -> Option<Refusal> {
    let bytes = handlers.stack.0;
    (bytes == 0 || !bytes.is_multiple_of(8)).then(|| {
        Refusal::at("CF0104", format!("domain.{name}.handlers.stack"), "handlers cannot have this stack")
            .value(handlers.stack.to_string())
            .limit("a multiple of 8 bytes")
            .rule("a stack is of whole double words")
            .remedy(format!("write `stack = \"{} B\"`", (bytes.saturating_add(7) & !7).max(8)))
    })
}

fn capacity(name: &str, handlers: &Handlers) -> Option<Refusal> {
    (handlers.capacity > handlers.period).then(|| {
        Refusal::at(
            "CF0414",
            format!("domain.{name}.handlers.capacity"),
            format!("handlers of `{name}` are promised more than their period"),
        )
        .value(format!("{} every {}", handlers.capacity, handlers.period))
        .limit(handlers.period.to_string())
        .rule("a capacity is at most the period")
        .remedy(format!("write `capacity = \"{}\"` or less", handlers.period))
    })
}

fn first<'d>(name: &str, domain: &'d Domain) -> Option<(String, &'d InterruptLine)> {
    domain.direct().next().map(|(key, line)| (format!("domain.{name}.interrupt.{key}"), line))
}

fn no_state(owner: &str, domain: &Domain, board: &Board) -> Refusal {
    let place = first(owner, domain).map_or_else(String::new, |(place, _)| format!("{place}.delivery"));
    Refusal::at("CF0322", place, "this board cannot deliver an interrupt directly")
        .value(format!("`{}`", board.name))
        .limit("the processor has one security state")
        .rule("a handler runs in a second security state, in which it has nothing of what it interrupts")
        .remedy("remove `delivery`: the kernel takes the interrupt then; or choose a board whose processor has a second state")
}

/// With either meter it is the sampler that finds handlers which run beyond the others' sight: the kernel does not start without it.
fn no_sampler(owner: &str, domain: &Domain, board: &Board) -> Option<Refusal> {
    let (place, _) = first(owner, domain).filter(|_| board.sampler.is_none())?;
    Some(
        Refusal::at("CF0322", format!("{place}.delivery"), "nothing on this board looks at handlers")
            .value(format!("`{}`", board.name))
            .limit("its file has no [sampler]")
            .rule("a timer of the kernel's looks at random times whether handlers run, and for how long")
            .remedy("remove `delivery`: the kernel takes the interrupt then; or name a timer of the kernel's as [sampler] in the board's file"),
    )
}

/// The board has the instrument that is asked for.
fn meter(owner: &str, domain: &Domain, board: &Board) -> Option<Refusal> {
    let asked = domain.handlers.as_ref().and_then(|handlers| handlers.meter);
    (asked == Some(Meter::Counter) && board.counter.is_none()).then(|| {
        Refusal::at("CF0322", format!("domain.{owner}.handlers.meter"), "nothing on this board counts handlers' cycles")
            .value("counter")
            .limit(format!("`{}` has no counter", board.name))
            .rule("a counter is of cycles of the second security state alone, and interrupts above that state")
            .remedy("remove `meter`, or write `meter = \"sampler\"`")
    })
}

/// One instrument meters the handlers of all domains.
fn one_meter(owners: &[(&str, &Domain)], board: &Board) -> Option<Refusal> {
    let of = |(_, domain): &(&str, &Domain)| {
        let asked = domain.handlers.as_ref().and_then(|handlers| handlers.meter);
        asked.unwrap_or(if board.counter.is_some() { Meter::Counter } else { Meter::Sampler })
    };
    let first = owners.first()?;
    let other = owners.iter().find(|owner| of(owner) != of(first))?;
    let name = |meter| if meter == Meter::Counter { "counter" } else { "sampler" };
    Some(
        Refusal::at(
            "CF0211",
            format!("domain.{}.handlers.meter", other.0),
            format!("handlers of `{}` and of `{}` have different meters", first.0, other.0),
        )
        .value(format!("`{}`: {}, `{}`: {}", first.0, name(of(first)), other.0, name(of(other))))
        .limit("one meter in a system")
        .rule("one instrument meters whoever occupies the processor's Non-secure state")
        .remedy(format!("write `meter = \"{}\"` for both", name(of(first)))),
    )
}

/// Each device that handlers use is the domain's, and can be Non-secure.
fn devices(owner: &str, domain: &Domain, board: &Board) -> Vec<Refusal> {
    let of_lines = domain.direct().map(|(key, line)| (format!("domain.{owner}.interrupt.{key}.device"), &line.device));
    let named = domain.handlers.iter().flat_map(|handlers| handlers.devices.iter().enumerate());
    let named: Vec<_> = named.map(|(i, name)| (format!("domain.{owner}.handlers.devices[{i}]"), name)).collect();
    let foreign = named.iter().filter(|(_, name)| !domain.devices.contains(name));
    let foreign: Vec<_> = foreign.map(|(place, name)| not_its_own(place, name, domain)).collect();
    let can = |name: &str| board.device(name).is_none_or(|device| board.can_open(device));
    let closed = of_lines.chain(named.iter().cloned()).filter(|(_, name)| !can(name));
    foreign.into_iter().chain(closed.map(|(place, name)| closed_device(place, name, board))).collect()
}

fn not_its_own(place: &str, name: &str, domain: &Domain) -> Refusal {
    Refusal::at("CF0307", place, format!("the domain does not own the device `{name}`"))
        .limit(format!("devices of the domain: {}", domain.devices.join(", ")))
        .rule("handlers use devices of their domain")
        .remedy(format!("add \"{name}\" to the domain's `devices`"))
}

fn closed_device(place: String, name: &str, board: &Board) -> Refusal {
    let open: Vec<&str> = board.device.iter().filter(|(_, d)| board.can_open(d)).map(|(n, _)| n.as_str()).collect();
    Refusal::at("CF0322", place, format!("handlers cannot use the device `{name}`"))
        .value(name)
        .limit(format!("devices that can be Non-secure: {}", open.join(", ")))
        .rule("a handler uses its device from Non-secure state, to which a controller of the board opens it")
        .remedy("choose another device, or remove `delivery`; if the board has a register for it, name it with `open` in the board's file")
}

/// Data can be Non-secure, and is never paged.
fn memory(owner: &str, domain: &Domain, board: &Board) -> Option<Refusal> {
    let data = &domain.data;
    let at = |key: &str, text: String| Refusal::at("CF0322", format!("domain.{owner}.data.{key}"), text);
    if !data.spec.pinned() {
        return Some(
            at("spec", format!("handlers of `{owner}` cannot use paged data"))
                .limit("deterministic")
                .rule("no handler waits for the kernel to load a region")
                .remedy("remove `spec`, or write `spec = \"deterministic\"`"),
        );
    }
    let closed = board.memory(&data.memory).is_some_and(|memory| memory.block().is_none());
    let can = |memory: &Memory| memory.kind == MemoryKind::Ram && memory.block().is_some();
    let open = || board.memory.iter().filter(|(_, memory)| can(memory)).map(|(name, _)| name.as_str());
    closed.then(|| {
        at("memory", format!("handlers of `{owner}` cannot use `{}`", data.memory))
            .value(data.memory.as_str())
            .limit(format!("memories with controllers: {}", open().collect::<Vec<_>>().join(", ")))
            .rule(
                "threads and handlers share data, in blocks of memory that a controller of the board makes Non-secure",
            )
            .remedy("name another memory for `data`, or remove `delivery`")
    })
}

/// The kernel looks at no more domains, and at no more lines when it cuts handlers off.
fn lines(owners: &[(&str, &Domain)]) -> Vec<Refusal> {
    let refuse = |(name, domain): &(&str, &Domain), text: String, value: String, most: usize, rule: &str| {
        let place = first(name, domain).map_or_else(String::new, |(place, _)| format!("{place}.delivery"));
        Refusal::at("CF0323", place, text)
            .value(value)
            .limit(most.to_string())
            .rule(rule)
            .remedy("let the kernel take some of them: remove `delivery`")
    };
    let rule = "the kernel keeps a record for each domain whose handlers it can let in";
    let value = format!("{} domains", owners.len());
    let domains =
        owners.get(MAX_OWNERS).map(|one| refuse(one, "too many domains have handlers".into(), value, MAX_OWNERS, rule));
    let rule = "the kernel switches each line off when it cuts handlers off, in bounded time";
    let count = |upto: usize| owners[..upto].iter().map(|(_, domain)| domain.direct().count()).sum::<usize>();
    let value = format!("{} lines", count(owners.len()));
    let over = (0..owners.len()).find(|index| count(index + 1) > MAX_DIRECT);
    let lines = over.map(|index| refuse(&owners[index], "too many direct interrupts".into(), value, MAX_DIRECT, rule));
    domains.into_iter().chain(lines).collect()
}

/// Attribution has so many regions.
fn ranges(owner: &str, domain: &Domain) -> Option<Refusal> {
    let devices = domain.devices.iter().filter(|device| domain.is_open(device)).count();
    let ranges = 2 + devices;
    (ranges > MAX_OPEN).then(|| {
        let text = format!("handlers of `{owner}` use too many ranges");
        Refusal::at("CF0323", format!("domain.{owner}.interrupt"), text)
            .value(format!("{ranges}: code, data and {devices} devices"))
            .limit(MAX_OPEN.to_string())
            .rule("the processor's attribution unit has a region for each range, and one for the way into the kernel")
            .remedy("let the kernel take some of them: remove `delivery`")
    })
}
