//! Why an access faulted, in words.

use abi::trace::Fault;
use record::{Architecture, Deed, FaultContext};

use crate::describe::{Area, Domain, SystemDescription};
use crate::page::format;

/// Bytes in plain characters.
fn bytes(value: u64) -> String {
    match value {
        0..1024 => format!("{value} byte{}", if value == 1 { "" } else { "s" }),
        _ => format::bytes(value).replace('\u{a0}', " "),
    }
}

/// Addresses below are mostly reached through a null pointer.
const NULL_BYTES: u64 = 4096;
/// An area that is farther away has nothing to do with the address.
const NEAR_BYTES: u64 = 1 << 16;

/// Description of a fault, and the reason of the refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// `read`, `write` or `execute`; absent where that is not known, or not what it is about.
    pub access: Option<String>,
    /// "write to 0x0".
    pub what: String,
    /// "no area here; null pointer?"; may be empty.
    pub why: String,
}

impl Account {
    fn new(what: impl Into<String>, why: impl Into<String>) -> Account {
        Account { access: None, what: what.into(), why: why.into() }
    }
}

/// Says what a fault of a domain at an address was.
pub fn account(
    system: &SystemDescription,
    fault: Fault,
    (domain, address): (u8, u64),
    context: Option<&FaultContext>,
    architecture: Architecture,
) -> Account {
    let deed = context.and_then(|context| context.instruction);
    match fault {
        Fault::Data => data(system, domain, address, deed),
        Fault::Execute => Account {
            access: Some("execute".to_owned()),
            ..Account::new(format!("execution at {address:#x}"), refusal(system, domain, address, 'x'))
        },
        Fault::Stack => stack(system, address, context),
        Fault::Usage => usage(deed, context.and_then(|context| context.status), architecture),
        Fault::Bus if address == 0 => {
            Account::new("a store failed late", "the bus refused it after the program had gone on")
        }
        Fault::Bus => bus(address),
        Fault::GateOverrun => {
            let gate = system.gates.iter().find(|gate| u64::from(gate.index) == address);
            let name = gate.map_or_else(|| format!("gate {address}"), |gate| format!("gate {}", gate.name));
            Account::new(format!("a call of {name} ran longer than its bound"), "the call was unwound")
        }
        Fault::Return => Account::new("illegal return from an exception", "no exception is active in a domain"),
        Fault::Miss => Account::new("the budget of misses was exceeded", ""),
    }
}

/// Says what a handler that interrupts reach without the kernel did, of which the kernel knows little; `None`: no handler does that.
pub fn of_handler(fault: Fault, address: u64) -> Option<Account> {
    let account = match fault {
        Fault::Data if address == 0 => Account::new(
            "an access to what is not its own, or time that it hid",
            "the processor kept no address; a thread's stack, or a device that the handlers' `devices` do not name?",
        ),
        Fault::Data => Account::new(format!("access to {address:#x}"), "not open to its handlers"),
        Fault::Bus => bus(address),
        Fault::Usage => Account::new("an instruction that is not for handlers", ""),
        Fault::Execute => Account::new("entry to code that is not for handlers", ""),
        Fault::Return => Account::new("a return that is not its own, or masks that it left set", ""),
        _ => return None,
    };
    Some(account)
}

fn bus(address: u64) -> Account {
    Account::new(format!("bus error at {address:#x}"), "no memory or device answers there so")
}

fn data(system: &SystemDescription, domain: u8, address: u64, deed: Option<Deed>) -> Account {
    let (access, what, letter) = match deed {
        Some(Deed::Read) => (Some("read"), "read from", 'r'),
        Some(Deed::Write) => (Some("write"), "write to", 'w'),
        _ => (None, "access to", 'r'),
    };
    let account = Account::new(format!("{what} {address:#x}"), refusal(system, domain, address, letter));
    Account { access: access.map(str::to_owned), ..account }
}

/// Why a domain may not access an address so: a letter of [`Area::access`].
fn refusal(system: &SystemDescription, domain: u8, address: u64, letter: char) -> String {
    let own = system.domains.iter().find(|known| known.index == domain);
    let areas = || own.into_iter().flat_map(|domain| &domain.areas).filter(|area| area.bytes > 0);
    if let Some(area) = areas().find(|area| area.contains(address)) {
        return inside(area, letter);
    }
    if address < NULL_BYTES {
        return "no area here; null pointer?".to_owned();
    }
    // In a space of its own nobody else has anything at the domain's addresses.
    let holds = |domain: &&Domain| !system.own_spaces && domain.areas.iter().any(|area| area.contains(address));
    let owners: Vec<&str> = system.domains.iter().filter(holds).map(|domain| &*domain.name).collect();
    if let [.., last] = owners[..] {
        let area = system.domains.iter().flat_map(|domain| &domain.areas).find(|area| area.contains(address));
        let name = area.map_or("", |area| &area.name);
        let owners = if owners.len() > 3 { format!("{} domains", owners.len()) } else { owners.join(", ") };
        let whose = if last == owners { "domain" } else { "domains" };
        return format!("`{name}` of {whose} {owners}");
    }
    if let Some(area) = system.kernel_areas.iter().find(|area| area.contains(address)) {
        return format!("the kernel's ({})", area.name);
    }
    let away = |area: &Area| if address < area.base { area.base - address } else { address - area.end() + 1 };
    match areas().min_by_key(|area| away(area)).filter(|area| away(area) <= NEAR_BYTES) {
        Some(area) => {
            let side = if address < area.base { "below" } else { "above" };
            format!("no area here; {} {side} `{}`", bytes(away(area)), area.name)
        }
        None => "no area here".to_owned(),
    }
}

/// Why an access inside an area of the domain's own was refused.
fn inside(area: &Area, letter: char) -> String {
    let name = &area.name;
    match letter {
        _ if area.access.contains(letter) && area.memory == "device" => {
            format!("device `{name}` does not take an access like this")
        }
        _ if area.access.contains(letter) && area.on_demand => {
            format!("`{name}` has no region there, or no frame is left")
        }
        _ if area.access.contains(letter) => format!("it leaves `{name}`, or is not aligned"),
        'w' => format!("`{name}` is read-only"),
        'x' => format!("`{name}` is not executable"),
        _ => format!("`{name}` may not be read"),
    }
}

fn stack(system: &SystemDescription, address: u64, context: Option<&FaultContext>) -> Account {
    let place = context.and_then(|context| context.stack_of);
    let Some(stack) = place.and_then(|place| system.stacks.get(usize::from(place))) else {
        return Account::new(format!("the stack pointer left its stack for {address:#x}"), "");
    };
    let thread = stack.thread.and_then(|index| system.threads.iter().find(|thread| thread.index == index));
    let domain =
        || system.domains.iter().find(|domain| domain.index == stack.domain).map_or("?", |domain| &domain.name);
    let whose = match thread {
        Some(thread) if thread.name == domain() => format!("stack of {}.main", thread.name),
        Some(thread) => format!("stack of {}", thread.name),
        None => format!("stack of a gate of {}", domain()),
    };
    let size = bytes(stack.bytes);
    match stack.base.checked_sub(address) {
        Some(over) if over > 0 => Account::new(format!("{whose} ({size}) overflowed by {}", bytes(over)), ""),
        _ => Account::new(format!("the stack pointer left the {whose} ({size}) for {address:#x}"), ""),
    }
}

fn usage(deed: Option<Deed>, status: Option<u32>, architecture: Architecture) -> Account {
    if architecture.needed_status().zip(status).is_some_and(|(needed, status)| status & needed == 0) {
        return Account::new("jump to code of another instruction set", "bit 0 of the address was clear");
    }
    match deed {
        Some(Deed::Divide) => Account::new("division by zero", ""),
        Some(Deed::Trap) => Account::new("trap instruction", "an abort, or an assertion that failed"),
        Some(Deed::System) => Account::new("privileged instruction", "domains run unprivileged"),
        Some(Deed::Read) => Account { access: Some("read".to_owned()), ..Account::new("unaligned read", "") },
        Some(Deed::Write) => Account { access: Some("write".to_owned()), ..Account::new("unaligned write", "") },
        Some(Deed::Undefined | Deed::Other) | None => Account::new("undefined instruction", ""),
    }
}
