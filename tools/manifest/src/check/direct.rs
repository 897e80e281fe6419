//! Interrupts that reach handlers without the kernel: what a manifest says of them is whole, the board can do it, and there is no more than the
//! kernel looks at.

use crate::board::Board;
use crate::board_file::{Memory, MemoryKind};
use crate::diagnostic::Refusal;
use crate::schema::{Delivery, Domain, Handlers, InterruptLine, Manifest, Meter};
use system::direct::{LEVELS, MAX_DIRECT, MAX_OPEN};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (name, domain) in &manifest.domain {
        found.extend(domain.interrupt.iter().filter_map(|(key, line)| whole(name, key, line)));
        found.extend(domain.interrupt.iter().filter_map(|(key, line)| priority(name, key, line)));
        found.extend(shared(name, domain));
        found.extend(domain.handlers.as_ref().and_then(|handlers| stack(name, handlers)));
        found.extend(domain.handlers.as_ref().and_then(|handlers| capacity(name, handlers)));
    }
    let mut owners = manifest.domain.iter().filter(|(_, domain)| domain.direct().next().is_some());
    let Some((owner, domain)) = owners.next() else { return found };
    found.extend(owners.map(|(other, domain)| second(owner, other, domain)));
    found.extend(meter(owner, domain, board));
    if board.secure().is_none() {
        found.push(no_state(owner, domain, board));
        return found;
    }
    found.extend(devices(owner, domain, board));
    found.extend(memory(owner, domain, board));
    found.extend(many(owner, domain));
    found
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
            .remedy(format!("write `stack = \"{} B\"`", bytes.next_multiple_of(8).max(8)))
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

fn second(owner: &str, other: &str, domain: &Domain) -> Refusal {
    let place = first(other, domain).map_or_else(String::new, |(place, _)| format!("{place}.delivery"));
    Refusal::at("CF0323", place, format!("`{owner}` has handlers already"))
        .value(other)
        .limit("one domain with handlers")
        .rule("handlers of one domain have the Non-secure state of the processor: of two, each could reach what is the other's")
        .remedy(format!("let the kernel take the interrupts of `{other}`: remove `delivery`, or merge the domains"))
}

fn no_state(owner: &str, domain: &Domain, board: &Board) -> Refusal {
    let place = first(owner, domain).map_or_else(String::new, |(place, _)| format!("{place}.delivery"));
    Refusal::at("CF0322", place, "this board cannot deliver an interrupt directly")
        .value(format!("`{}`", board.name))
        .limit("the processor has one security state")
        .rule("a handler runs in a second security state, in which it has nothing of what it interrupts")
        .remedy("remove `delivery`: the kernel takes the interrupt then; or choose a board whose processor has a second state")
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

/// Each device of a direct line can be Non-secure.
fn devices(owner: &str, domain: &Domain, board: &Board) -> Vec<Refusal> {
    let closed = |line: &InterruptLine| board.device(&line.device).is_some_and(|device| device.open.is_none());
    let wrong = domain.direct().filter(|(_, line)| closed(line));
    wrong
        .map(|(key, line)| {
            let open: Vec<&str> = board.device.iter().filter(|(_, d)| d.open.is_some()).map(|(n, _)| n.as_str()).collect();
            Refusal::at(
                "CF0322",
                format!("domain.{owner}.interrupt.{key}.device"),
                format!("handlers cannot use the device `{}`", line.device),
            )
            .value(line.device.as_str())
            .limit(format!("devices that can be Non-secure: {}", open.join(", ")))
            .rule("a handler uses its device from Non-secure state, to which a controller of the board opens it")
            .remedy("choose another device, or remove `delivery`; if the board has a register for it, name it with `open` in the board's file")
        })
        .collect()
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

/// The kernel looks at no more when it cuts handlers off.
fn many(owner: &str, domain: &Domain) -> Vec<Refusal> {
    let lines = domain.direct().count();
    let devices = domain.devices.iter().filter(|device| domain.is_open(device)).count();
    let ranges = 2 + devices;
    let refuse = |text: String, value: String, most: usize, rule: &str| {
        Refusal::at("CF0323", format!("domain.{owner}.interrupt"), text)
            .value(value)
            .limit(most.to_string())
            .rule(rule)
            .remedy("let the kernel take some of them: remove `delivery`")
    };
    let rule = "the kernel switches each line off when it cuts handlers off, in bounded time";
    let too_many = (lines > MAX_DIRECT).then(|| {
        refuse(format!("`{owner}` has too many direct interrupts"), format!("{lines} lines"), MAX_DIRECT, rule)
    });
    let rule = "the processor's attribution unit has a region for each range, and one for the way into the kernel";
    let too_wide = (ranges > MAX_OPEN).then(|| {
        let value = format!("{ranges}: code, data and {devices} devices");
        refuse(format!("handlers of `{owner}` use too many ranges"), value, MAX_OPEN, rule)
    });
    too_many.into_iter().chain(too_wide).collect()
}
