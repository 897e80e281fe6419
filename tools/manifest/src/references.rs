//! Objects that the `uses` tables name, resolved to kinds and numbers.

use crate::diagnostic::Refusal;
use crate::grant::{Grant, Object};
use crate::nearest::correct;
use crate::resolved::{Domain, System};
use crate::schema::{Manifest, Use};

/// Number over all domains of the `inner`-th of something that `count` counts per domain.
fn global(manifest: &Manifest, domain: usize, inner: usize, count: fn(&crate::Domain) -> usize) -> usize {
    manifest.domain.values().take(domain).map(count).sum::<usize>() + inner
}

fn split<'m>(manifest: &'m Manifest, text: &str) -> Option<(usize, &'m crate::Domain, String)> {
    let (domain, inner) = text.split_once('.')?;
    let (index, _, found) = manifest.domain.get_full(domain)?;
    Some((index, found, inner.to_owned()))
}

fn gate(manifest: &Manifest, text: &str) -> Option<Object> {
    let (domain, found, name) = split(manifest, text)?;
    Some(Object::Gate(global(manifest, domain, found.gate.get_index_of(&name)?, |d| d.gate.len())))
}

fn thread(manifest: &Manifest, text: &str) -> Option<Object> {
    let (domain, found, name) = split(manifest, text)?;
    let inner = found.thread.iter().position(|t| t.name == name)?;
    Some(Object::Thread(global(manifest, domain, inner, |d| d.thread.len())))
}

fn frames(manifest: &Manifest, text: &str) -> Option<Object> {
    manifest.frames.get_index_of(text).map(Object::Frames)
}

fn handlers(manifest: &Manifest, text: &str) -> Option<Object> {
    let (index, _, domain) = manifest.domain.get_full(text)?;
    domain.handlers.is_some().then_some(Object::Handlers(index))
}

type Lookup = fn(&Manifest, &str) -> Option<Object>;

/// The one object that an entry names, or why it names none.
fn object(manifest: &Manifest, place: &str, entry: &Use) -> Result<(Object, u32), Box<Refusal>> {
    let kinds: [(&str, &Option<String>, Lookup, u32); 7] = [
        ("gate", &entry.gate, gate, 2),
        ("notification", &entry.notification, |m, t| m.notification.get_index_of(t).map(Object::Notification), 3),
        ("domain", &entry.domain, |m, t| m.domain.get_index_of(t).map(Object::Domain), 3),
        ("thread", &entry.thread, thread, 1),
        ("budget", &entry.budget, |m, t| m.budget.get_index_of(t).map(Object::Budget), 1),
        ("handlers", &entry.handlers, handlers, 1),
        ("frames", &entry.frames, frames, 3),
    ];
    let mut named = kinds.iter().filter_map(|(kind, text, look, rights)| Some((kind, text.as_ref()?, look, *rights)));
    let (Some((kind, text, look, rights)), None) = (named.next(), named.next()) else {
        let text = "this use names no object, or several";
        return Err(Box::new(
            Refusal::at("CF0206", place, text)
                .rule("an entry of `uses` has exactly one of gate, notification, domain, thread, budget, handlers, frames")
                .remedy("write one entry for each capability"),
        ));
    };
    let Some(object) = look(manifest, text) else { return Err(Box::new(unknown(manifest, place, kind, text))) };
    Ok((object, rights))
}

/// A name of a kind that there is not.
fn unknown(manifest: &Manifest, place: &str, kind: &str, text: &str) -> Refusal {
    let (message, rule, remedy) = match kind {
        "handlers" => (
            format!("there are no handlers of a domain `{text}`"),
            "handlers are what direct interrupts of a domain reach",
            "deliver an interrupt of the domain directly, or correct the name".to_owned(),
        ),
        _ => (
            format!("there is no {kind} `{text}`"),
            "a name that is used is declared in the same manifest",
            format!("declare the {kind}, or correct the name"),
        ),
    };
    Refusal::at("CF0202", format!("{place}.{kind}"), message)
        .value(text)
        .limit(known(manifest, kind))
        .rule(rule)
        .remedy(correct(text, names(manifest, kind).iter().map(String::as_str), remedy))
}

/// The names of a kind that exist.
fn names(manifest: &Manifest, kind: &str) -> Vec<String> {
    match kind {
        "gate" => inner(manifest, |d| d.gate.keys().cloned().collect()),
        "thread" => inner(manifest, |d| d.thread.iter().map(|t| t.name.clone()).collect()),
        "notification" => manifest.notification.keys().cloned().collect(),
        "domain" => manifest.domain.keys().cloned().collect(),
        "handlers" => {
            let all = manifest.domain.iter().filter(|(_, domain)| domain.handlers.is_some());
            all.map(|(name, _)| name.clone()).collect()
        }
        "budget" => manifest.budget.keys().cloned().collect(),
        _ => manifest.frames.keys().cloned().collect(),
    }
}

/// The names that exist, for the message about one that does not.
fn known(manifest: &Manifest, kind: &str) -> String {
    let names = names(manifest, kind);
    match kind {
        _ if !names.is_empty() => format!("declared: {}", names.join(", ")),
        "handlers" => "no domain has handlers".to_owned(),
        _ => format!("no {kind} is declared"),
    }
}

fn inner(manifest: &Manifest, names: fn(&crate::Domain) -> Vec<String>) -> Vec<String> {
    let all = manifest.domain.iter();
    all.flat_map(|(domain, d)| names(d).into_iter().map(move |n| format!("{domain}.{n}"))).collect()
}

fn rights(place: &str, text: &str) -> Result<u32, Box<Refusal>> {
    let bit = |letter| match letter {
        'r' => Some(1),
        'w' => Some(2),
        'g' => Some(4),
        _ => None,
    };
    let bits = text.chars().try_fold(0, |sum, letter| bit(letter).filter(|b| sum & b == 0).map(|b| sum | b));
    bits.filter(|bits| *bits != 0).ok_or_else(|| {
        Box::new(
            Refusal::at("CF0206", format!("{place}.rights"), format!("`{text}` is no set of rights"))
                .value(text)
                .rule("rights are the letters r, w and g, each at most once, at least one")
                .remedy("write for example \"rw\""),
        )
    })
}

/// Resolves one entry of a domain's `uses`.
///
/// # Errors
/// CF0202 for an unknown name, CF0206 for an entry that is malformed.
pub fn grant(manifest: &Manifest, domain: usize, name: &str, entry: &Use) -> Result<Grant, Box<Refusal>> {
    let holder = manifest.domain.get_index(domain).map_or("", |(n, _)| n.as_str());
    let place = format!("domain.{holder}.uses.{name}");
    let (object, default) = object(manifest, &place, entry)?;
    let rights = entry.rights.as_deref().map_or(Ok(default), |text| rights(&place, text))?;
    if entry.badge.is_some() && !matches!(object, Object::Gate(_)) {
        return Err(Box::new(
            Refusal::at("CF0206", format!("{place}.badge"), "only a gate has a badge")
                .rule("a badge tells a gate's callee who calls")
                .remedy("remove `badge`"),
        ));
    }
    Ok(Grant { name: name.to_owned(), object, rights, badge: entry.badge.unwrap_or(domain as u32) })
}

/// Every capability that a domain starts with, in the order of its slots (from 0): its uses, then its interrupts.
///
/// # Errors
/// The first entry that [`grant`] refuses.
pub fn grants(manifest: &Manifest, domain: usize) -> Result<Vec<Grant>, Box<Refusal>> {
    let Some((_, holder)) = manifest.domain.get_index(domain) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for (name, entry) in &holder.uses {
        all.push(grant(manifest, domain, name, entry)?);
    }
    for (inner, name) in holder.interrupt.keys().enumerate() {
        let object = Object::Interrupt(global(manifest, domain, inner, |d| d.interrupt.len()));
        all.push(Grant { name: name.clone(), object, rights: 2, badge: 0 });
    }
    Ok(all)
}

/// Objects that each domain can come to hold while the system runs: those it starts with, and those that others may grant it (`CAP_GRANT` asks
/// for the right to grant, and for a domain's capability with the right to write).
pub(crate) fn held(system: &System) -> Vec<Vec<(Object, u32)>> {
    let has = |rights: &u32, right: u8| rights & u32::from(right) != 0;
    let first = |domain: &Domain| domain.caps.iter().map(|cap| (cap.object, cap.rights)).collect();
    let mut all: Vec<Vec<(Object, u32)>> = system.domains.iter().map(first).collect();
    loop {
        let mut given = Vec::new();
        for caps in &all {
            let targets = caps.iter().filter(|(_, rights)| has(rights, abi::rights::WRITE));
            let targets =
                targets.filter_map(|(object, _)| if let Object::Domain(to) = object { Some(*to) } else { None });
            let offers: Vec<_> = caps.iter().filter(|(_, rights)| has(rights, abi::rights::GRANT)).copied().collect();
            given.extend(targets.flat_map(|to| offers.iter().map(move |offer| (to, *offer))));
        }
        given.retain(|(to, offer)| !all[*to].contains(offer));
        if given.is_empty() {
            return all;
        }
        for (to, offer) in given {
            if !all[to].contains(&offer) {
                all[to].push(offer);
            }
        }
    }
}

/// The gate, numbered over all domains, that an entry of a thread's `calls` names.
///
/// # Errors
/// CF0202 for a gate that does not exist, or that the thread's domain has no capability for.
pub fn call(manifest: &Manifest, domain: usize, place: &str, text: &str) -> Result<usize, Box<Refusal>> {
    let Some(Object::Gate(index)) = gate(manifest, text) else {
        return Err(Box::new(
            Refusal::at("CF0202", place, format!("there is no gate `{text}`"))
                .value(text)
                .limit(known(manifest, "gate"))
                .rule("a name that is used is declared in the same manifest")
                .remedy(correct(
                    text,
                    names(manifest, "gate").iter().map(String::as_str),
                    "declare the gate, or correct the name".into(),
                )),
        ));
    };
    let Some((holder, d)) = manifest.domain.get_index(domain) else { return Ok(index) };
    if grants(manifest, domain).unwrap_or_default().iter().any(|grant| grant.object == Object::Gate(index)) {
        return Ok(index);
    }
    let used: Vec<&str> = d.uses.values().filter_map(|entry| entry.gate.as_deref()).collect();
    let list = if used.is_empty() { "it uses no gate".into() } else { format!("it uses {}", used.join(", ")) };
    let message = format!("`{holder}` has no capability for the gate `{text}`");
    Err(Box::new(
        Refusal::at("CF0202", place, message)
            .value(text)
            .limit(list)
            .rule("a thread calls gates that its domain uses")
            .remedy(format!("add `{{ gate = \"{text}\" }}` to [domain.{holder}.uses], or correct the name")),
    ))
}

/// Domains that can call the gates of a domain: name of the calling domain and the badge that the callee sees.
///
/// # Errors
/// As [`grants`].
pub fn clients(manifest: &Manifest, domain: usize) -> Result<Vec<(String, u32)>, Box<Refusal>> {
    let own = manifest.domain.get_index(domain).map_or(0, |(_, d)| d.gate.len());
    let first = global(manifest, domain, 0, |d| d.gate.len());
    let mut all = Vec::new();
    for (holder, (name, _)) in manifest.domain.iter().enumerate() {
        for grant in grants(manifest, holder)? {
            let client = (name.clone(), grant.badge);
            if matches!(grant.object, Object::Gate(g) if (first..first + own).contains(&g)) && !all.contains(&client) {
                all.push(client);
            }
        }
    }
    Ok(all)
}
