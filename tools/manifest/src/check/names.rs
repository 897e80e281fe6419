//! Names: well-formed, unique where they are looked up, and declared where they are used.

use std::collections::{HashMap, HashSet};

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::nearest::correct;
use crate::references;
use crate::schema::{Domain, FaultPolicy, Manifest};

/// Longest name.
const NAME_MAX: usize = 31;
/// Longest name that programs look up: the fields of the information block, and of the memory manager's messages, hold one byte more.
const LOOKED_UP_MAX: usize = abi::info::NAME_BYTES - 1;
/// The kernel's tables hold this many entries each.
const ENTRIES_MAX: usize = 256;
/// The kernel's queues hold this many threads, and budgets (`kernel/src/queue/mod.rs`): with more it does not boot.
pub(crate) const QUEUED_MAX: usize = 32;

/// Whether something that no program looks up can have this name: a system, a board, a budget.
pub fn name_ok(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(may_stand)
}

fn may_stand(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = well_formed(manifest);
    found.extend(manifest.run.awaited.iter().enumerate().filter_map(|(index, name)| {
        let place = format!("run.await[{index}]");
        declared("domain", name, manifest.domain.contains_key(name), place, manifest.domain.keys())
    }));
    for (index, (name, domain)) in manifest.domain.iter().enumerate() {
        found.extend(program(name, domain));
        found.extend(unique(name, domain));
        found.extend(uses(manifest, board, name, domain));
        match references::grants(manifest, index) {
            Ok(_) => found.extend(calls(manifest, index, name, domain)),
            Err(refusal) => found.push(*refusal),
        }
        found.extend(supervised(manifest, index, name, domain));
    }
    for (frames, declaration) in &manifest.frames {
        found.extend(declaration.quota.keys().filter_map(|name| {
            let at = format!("frames.{frames}.quota.{name}");
            declared("domain", name, manifest.domain.contains_key(name), at, manifest.domain.keys())
        }));
    }
    found.extend(lines(manifest, board));
    found.extend(counts(manifest));
    found
}

fn well_formed(manifest: &Manifest) -> Vec<Refusal> {
    let mut all = vec![("system.name".to_owned(), manifest.system.name.clone(), NAME_MAX)];
    let mut section = |kind: &str, keys: Vec<&String>, most: usize| {
        all.extend(keys.into_iter().map(|k| (format!("{kind}.{k}"), k.clone(), most)));
    };
    section("shared", manifest.shared.keys().collect(), LOOKED_UP_MAX);
    section("file", manifest.file.keys().collect(), LOOKED_UP_MAX);
    section("frames", manifest.frames.keys().collect(), LOOKED_UP_MAX);
    section("budget", manifest.budget.keys().collect(), NAME_MAX);
    section("notification", manifest.notification.keys().collect(), NAME_MAX);
    section("domain", manifest.domain.keys().collect(), LOOKED_UP_MAX);
    for (name, domain) in &manifest.domain {
        section(&format!("domain.{name}.gate"), domain.gate.keys().collect(), NAME_MAX);
        section(&format!("domain.{name}.interrupt"), domain.interrupt.keys().collect(), LOOKED_UP_MAX);
        section(&format!("domain.{name}.uses"), domain.uses.keys().collect(), LOOKED_UP_MAX);
        section(&format!("domain.{name}.shares"), domain.shares.keys().collect(), LOOKED_UP_MAX);
    }
    for (name, domain) in &manifest.domain {
        let place = |index| format!("domain.{name}.thread[{index}].name");
        all.extend(domain.thread.iter().enumerate().map(|(index, t)| (place(index), t.name.clone(), NAME_MAX)));
    }
    let wrong = all.into_iter().filter(|(_, name, most)| !name_ok(name) || name.len() > *most);
    wrong
        .map(|(place, name, most)| {
            let rule = if most == NAME_MAX {
                "a name is a word, short enough for a line of a report"
            } else {
                "programs find things by name in fields of fixed size"
            };
            Refusal::at("CF0201", place, format!("`{name}` cannot be a name"))
                .value(asked(&name))
                .limit(format!("1 to {most} letters, digits, `-` or `_`"))
                .rule(rule)
                .remedy("choose a shorter or simpler name")
        })
        .collect()
}

/// Unusable part of a name: its first character that may not stand in one, or its length.
fn asked(name: &str) -> String {
    match name.chars().find(|c| !may_stand(*c)) {
        Some(' ') => "a blank".into(),
        Some(c) => format!("`{c}`"),
        None => format!("{} characters", name.chars().count()),
    }
}

/// Refuses a name that is not declared, and lists those that are.
pub(super) fn declared<'k>(
    kind: &str,
    name: &str,
    exists: bool,
    place: String,
    known: impl Iterator<Item = &'k String>,
) -> Option<Refusal> {
    if exists {
        return None;
    }
    let known: Vec<&str> = known.map(String::as_str).collect();
    let list = if known.is_empty() { format!("no {kind} is declared") } else { format!("known: {}", known.join(", ")) };
    Some(
        Refusal::at("CF0202", place, format!("there is no {kind} `{name}`"))
            .value(name)
            .limit(list)
            .rule("a name that is used is declared in the same manifest, or belongs to the board")
            .remedy(correct(name, known.into_iter(), format!("declare the {kind}, or correct the name"))),
    )
}

fn program(name: &str, domain: &Domain) -> Vec<Refusal> {
    let place = format!("domain.{name}");
    let mut found = Vec::new();
    let given = [domain.package.is_some(), domain.c.is_some(), domain.elf.is_some()];
    let count = given.iter().filter(|g| **g).count();
    if count != 1 {
        found.push(
            Refusal::at("CF0204", &place, format!("domain `{name}` names {count} programs"))
                .rule("a domain is built from exactly one of `crate`, `c` and `elf`")
                .remedy("name one program, for example `crate = \"directory\"`"),
        );
    }
    if domain.thread.is_empty() && domain.gate.is_empty() {
        found.push(
            Refusal::at("CF0205", &place, format!("domain `{name}` has neither a thread nor a gate"))
                .rule("a domain runs on threads of its own or is entered through its gates")
                .remedy(format!("add [[domain.{name}.thread]]")),
        );
    }
    for (index, thread) in domain.thread.iter().enumerate().skip(1) {
        if thread.entry.is_none() {
            found.push(
                Refusal::at("CF0104", format!("{place}.thread[{index}]"), "this thread has no `entry`")
                    .rule("only the first thread starts at the ELF entry, which sets the run-time up")
                    .remedy("name the entry function: `entry = \"symbol\"`"),
            );
        }
    }
    found
}

/// Areas, capabilities and threads are each looked up by name within the domain.
fn unique(name: &str, domain: &Domain) -> Vec<Refusal> {
    let place = format!("domain.{name}");
    let areas = ["code", "data", "stack", "heap"].map(|n| (n.to_owned(), place.clone()));
    let shared = domain.shared.iter().enumerate().map(|(i, s)| (s.name.clone(), format!("{place}.shared[{i}]")));
    let files = domain.files.iter().enumerate().map(|(i, f)| (f.name.clone(), format!("{place}.files[{i}]")));
    let devices = domain.devices.iter().enumerate().map(|(i, d)| (d.clone(), format!("{place}.devices[{i}]")));
    let areas = areas.into_iter().chain(shared).chain(files).chain(devices).collect();
    let keys = |section: &str, keys: Vec<&String>| -> Vec<(String, String)> {
        keys.into_iter().map(|k| (k.clone(), format!("{place}.{section}.{k}"))).collect()
    };
    let mut caps = keys("uses", domain.uses.keys().collect());
    caps.extend(keys("interrupt", domain.interrupt.keys().collect()));
    let threads = domain.thread.iter().enumerate().map(|(i, t)| (t.name.clone(), format!("{place}.thread[{i}].name")));
    [twice("areas", areas), twice("capabilities", caps), twice("threads", threads.collect())].concat()
}

fn twice(what: &str, names: Vec<(String, String)>) -> Vec<Refusal> {
    let mut seen = HashSet::new();
    let repeated = names.into_iter().filter(|(name, _)| !seen.insert(name.clone()));
    repeated
        .map(|(name, place)| {
            Refusal::at("CF0203", place, format!("two {what} of this domain are named `{name}`"))
                .value(name)
                .rule("a look-up by name has one answer")
                .remedy("rename one of them")
        })
        .collect()
}

fn uses(manifest: &Manifest, board: &Board, name: &str, domain: &Domain) -> Vec<Refusal> {
    let place = format!("domain.{name}");
    let mut found = Vec::new();
    for (i, thread) in domain.thread.iter().enumerate() {
        let exists = manifest.budget.contains_key(&thread.budget);
        let at = format!("{place}.thread[{i}].budget");
        found.extend(declared("budget", &thread.budget, exists, at, manifest.budget.keys()));
    }
    for (i, shared) in domain.shared.iter().enumerate() {
        let exists = manifest.shared.contains_key(&shared.name);
        let at = format!("{place}.shared[{i}].name");
        found.extend(declared("shared memory", &shared.name, exists, at, manifest.shared.keys()));
    }
    for (i, file) in domain.files.iter().enumerate() {
        let exists = manifest.file.contains_key(&file.name);
        found.extend(declared("file", &file.name, exists, format!("{place}.files[{i}]"), manifest.file.keys()));
    }
    for (i, device) in domain.devices.iter().enumerate() {
        let exists = board.device(device).is_some();
        let known = board.device.iter().filter(|(_, device)| !device.kernel).map(|(name, _)| name);
        found.extend(declared("device", device, exists, format!("{place}.devices[{i}]"), known));
    }
    for (share, who) in &domain.shares {
        found.extend(who.keys().filter_map(|other| {
            let at = format!("{place}.shares.{share}.{other}");
            declared("domain", other, manifest.domain.contains_key(other), at, manifest.domain.keys())
        }));
    }
    if let Some(notification) = &domain.fault_notification {
        let exists = manifest.notification.contains_key(notification);
        let at = format!("{place}.fault_notification");
        found.extend(declared("notification", notification, exists, at, manifest.notification.keys()));
    }
    found.extend(interrupts(manifest, board, &place, domain));
    found
}

/// Gates that threads say they call.
fn calls(manifest: &Manifest, index: usize, name: &str, domain: &Domain) -> Vec<Refusal> {
    let all = domain.thread.iter().enumerate();
    let all = all.flat_map(|(i, thread)| thread.calls.keys().map(move |gate| (i, gate)));
    let wrong = all.filter_map(|(i, gate)| {
        references::call(manifest, index, &format!("domain.{name}.thread[{i}].calls"), gate).err()
    });
    wrong.map(|refusal| *refusal).collect()
}

fn interrupts(manifest: &Manifest, board: &Board, place: &str, domain: &Domain) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (key, line) in &domain.interrupt {
        let at = |field: &str| format!("{place}.interrupt.{key}.{field}");
        let exists = manifest.notification.contains_key(&line.notification);
        let known = manifest.notification.keys();
        found.extend(declared("notification", &line.notification, exists, at("notification"), known));
        if !domain.devices.contains(&line.device) {
            found.push(
                Refusal::at("CF0307", at("device"), format!("the domain does not own the device `{}`", line.device))
                    .limit(format!("devices of the domain: {}", domain.devices.join(", ")))
                    .rule("a device's interrupts go to the domain that owns it")
                    .remedy(format!("add \"{}\" to the domain's `devices`", line.device)),
            );
        } else if let Some(device) = board.device(&line.device) {
            let exists = device.lines.contains_key(&line.line);
            found.extend(declared("interrupt line", &line.line, exists, at("line"), device.lines.keys()));
        }
        if line.bit > 31 {
            found.push(
                Refusal::at("CF0104", at("bit"), "there is no such bit")
                    .value(line.bit.to_string())
                    .limit("0 to 31")
                    .rule("a notification has 32 bits")
                    .remedy("choose a bit from 0 to 31"),
            );
        }
    }
    found
}

/// Lines that two interrupts would take, each once. A device may have several names of one line.
fn lines(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut taken: HashMap<u32, (String, bool)> = HashMap::new();
    let mut found = Vec::new();
    for (name, domain) in &manifest.domain {
        for (key, interrupt) in &domain.interrupt {
            let device = board.device(&interrupt.device);
            let Some(number) = device.and_then(|device| device.lines.get(&interrupt.line)) else { continue };
            let place = format!("domain.{name}.interrupt.{key}");
            let (first, said) = taken.entry(*number).or_insert_with(|| (place.clone(), false));
            if *first != place && !std::mem::replace(said, true) {
                found.push(
                    Refusal::at("CF0307", format!("{place}.line"), "this line is another interrupt's, too")
                        .value(format!("`{}` of `{}` is line {number}", interrupt.line, interrupt.device))
                        .limit(format!("[{first}] has it"))
                        .rule("an interrupt line signals one notification; several names of a board's file can be one line")
                        .remedy(format!("remove [{place}], and wait for the notification of [{first}]")),
                );
            }
        }
    }
    found
}

/// A policy other than `stop` needs somebody who acts on it.
fn supervised(manifest: &Manifest, index: usize, name: &str, domain: &Domain) -> Option<Refusal> {
    if domain.fault == FaultPolicy::Stop {
        return None;
    }
    let refuse = |message: String, remedy: String| {
        Refusal::at("CF0207", format!("domain.{name}.fault"), message)
            .rule("a domain other than the faulty one waits for its `fault_notification` and, for `restart`, may write to it")
            .remedy(remedy)
    };
    let Some(notification) = &domain.fault_notification else {
        let remedy = "name a notification: `fault_notification = \"faults\"`";
        return Some(refuse(format!("nobody is told when `{name}` faults"), remedy.into()));
    };
    let others = manifest.domain.iter().enumerate().filter(|(other, _)| *other != index);
    let acts = |uses: &indexmap::IndexMap<String, crate::Use>| {
        let waits = uses.values().any(|u| u.notification.as_ref() == Some(notification));
        let writes = uses.values().any(|u| u.domain.as_deref() == Some(name));
        waits && (writes || domain.fault == FaultPolicy::Report)
    };
    if others.into_iter().any(|(_, (_, other))| acts(&other.uses)) {
        return None;
    }
    let needs =
        if domain.fault == FaultPolicy::Restart { format!(" and {{ domain = \"{name}\" }}") } else { String::new() };
    let remedy = format!("give a supervisor {{ notification = \"{notification}\" }}{needs} in its `uses`");
    Some(refuse(
        format!("no other domain can {} `{name}`", if needs.is_empty() { "hear of a fault of" } else { "restart" }),
        remedy,
    ))
}

fn counts(manifest: &Manifest) -> Vec<Refusal> {
    let sum = |f: fn(&Domain) -> usize| manifest.domain.values().map(f).sum::<usize>();
    let all = [
        ("domain", "domains", manifest.domain.len(), 32),
        ("budget", "budgets", manifest.budget.len(), QUEUED_MAX),
        ("notification", "notifications", manifest.notification.len(), ENTRIES_MAX),
        ("domain", "threads", sum(|d| d.thread.len()), QUEUED_MAX),
        ("domain", "gates", sum(|d| d.gate.len()), ENTRIES_MAX),
    ];
    let all = all.map(|(place, what, count, limit)| (place.to_owned(), what, count, limit));
    let handles = manifest.domain.iter().map(|(name, domain)| {
        (format!("domain.{name}.handles"), "handles", domain.handles.unwrap_or(0) as usize, ENTRIES_MAX)
    });
    let over = all.into_iter().chain(handles).filter(|(_, _, count, limit)| count > limit);
    let over = over.map(|(place, what, count, limit)| {
        Refusal::at("CF0208", place, format!("too many {what}"))
            .value(count.to_string())
            .limit(limit.to_string())
            .rule("the kernel's tables have fixed sizes")
            .remedy(if what == "handles" { "ask for fewer" } else { "merge some of them" })
    });
    let fewer = manifest.domain.keys().enumerate().filter_map(|(index, name)| too_few(manifest, index, name));
    over.chain(fewer).collect()
}

/// A table that is asked for holds what the domain uses.
fn too_few(manifest: &Manifest, index: usize, name: &str) -> Option<Refusal> {
    let asked = manifest.domain[index].handles?;
    let used = references::grants(manifest, index).ok()?.len() as u32;
    (asked < used).then(|| {
        Refusal::at("CF0208", format!("domain.{name}.handles"), "too few handles")
            .value(asked.to_string())
            .limit(format!("{used}: so many capabilities the domain has"))
            .rule("each capability of a domain has a slot of its table")
            .remedy(format!("write `handles = {used}` or more, or leave it out"))
    })
}
