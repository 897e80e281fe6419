//! Services of the memory manager for its clients: the memory that they share, and what each has of a pool.

use ::manager::standard::{CLIENTS, SHARES};

use crate::diagnostic::Refusal;
use crate::grant::Object;
use crate::quantity::Size;
use crate::references::grants;
use crate::schema::{Domain, FaultPolicy, Frames, Manifest};

pub(super) fn check(manifest: &Manifest) -> Vec<Refusal> {
    let shares = manifest.domain.iter().flat_map(|(name, domain)| shares(manifest, name, domain));
    let shares = shares.chain(manifest.domain.iter().filter_map(|(name, domain)| restarted(name, domain)));
    let shares = shares.chain(manifest.frames.iter().flat_map(|(name, frames)| quotas(manifest, name, frames)));
    shares.chain(managers(manifest)).chain(manifest.frames.keys().filter_map(|name| divided(manifest, name))).collect()
}

/// Names under which domains hold a range, each with its domain.
fn holders<'a>(manifest: &'a Manifest, frames: &str) -> Vec<(&'a str, &'a str)> {
    let entries = manifest.domain.iter().flat_map(|(domain, entry)| entry.uses.iter().map(move |used| (domain, used)));
    let held = entries.filter(|(_, (_, used))| used.frames.as_deref() == Some(frames));
    held.map(|(domain, (name, _))| (domain.as_str(), name.as_str())).collect()
}

/// Refuses a second manager.
fn managers(manifest: &Manifest) -> Vec<Refusal> {
    let mut managers = ledgers(manifest);
    let Some(first) = managers.next() else { return Vec::new() };
    let more = managers.map(|name| {
        Refusal::at("CF0321", format!("domain.{name}.ledger"), format!("`{first}` is the memory manager already"))
            .value(name)
            .limit("one domain with `ledger = true`")
            .rule("there is one ledger, which one domain continues")
            .remedy("remove `ledger`; without it a domain can hold frames and divide them as it likes")
    });
    more.collect()
}

/// Refuses a pool of the manager that it holds twice, or that somebody else holds, too.
fn divided(manifest: &Manifest, frames: &str) -> Option<Refusal> {
    let holders = holders(manifest, frames);
    let first = holders.iter().find(|(domain, _)| manages(manifest, domain))?;
    let (manager, (domain, name)) = (first.0, *holders.iter().find(|holder| *holder != first)?);
    let text = if domain == manager {
        format!("`{manager}` would promise `{frames}` twice")
    } else {
        format!("`{manager}` cannot know what `{domain}` does with `{frames}`")
    };
    Some(
        Refusal::at("CF0321", format!("domain.{domain}.uses.{name}"), text)
            .value(frames)
            .rule("a pool of the memory manager is held by it alone, under one name")
            .remedy("remove this entry; other frames can be declared under [frames]"),
    )
}

/// Domains to which the ledger is handed over; there may be one.
fn ledgers(manifest: &Manifest) -> impl Iterator<Item = &str> {
    manifest.domain.iter().filter(|(_, domain)| domain.ledger).map(|(name, _)| name.as_str())
}

fn manages(manifest: &Manifest, domain: &str) -> bool {
    ledgers(manifest).any(|name| name == domain)
}

/// Whether the memory manager serves a domain: it can call the manager's gate, and the manager holds it as a capability under its name.
fn is_client(manifest: &Manifest, name: &str) -> bool {
    let Some(index) = manifest.domain.get_index_of(name).filter(|index| *index < CLIENTS) else { return false };
    let held = |(manager, (_, domain)): (usize, (&String, &Domain))| {
        let known = grants(manifest, manager).unwrap_or_default();
        domain.ledger && known.iter().any(|cap| cap.name == name && cap.object == Object::Domain(index))
    };
    let calls = |domain: &Domain| {
        let gates = domain.uses.values().filter_map(|entry| entry.gate.as_deref());
        gates.filter_map(|gate| gate.split_once('.')).any(|(of, _)| manages(manifest, of))
    };
    manifest.domain.get(name).is_some_and(calls) && manifest.domain.iter().enumerate().any(held)
}

/// Refuses what the manager would have to do for a domain that it does not serve.
fn no_client(manifest: &Manifest, place: String, name: &str) -> Option<Refusal> {
    if !manifest.domain.contains_key(name) || is_client(manifest, name) {
        return None;
    }
    let refusal = Refusal::at("CF0209", place, format!("`{name}` is no client of a memory manager")).rule(
        "the memory manager serves the domains that can call its gate and that it holds as capabilities under their names",
    );
    Some(match ledgers(manifest).next() {
        Some(manager) => refusal.value(name).limit(format!("the first {CLIENTS} domains can be clients")).remedy(format!(
            "give `{name}` a gate of `{manager}`, and add `{name} = {{ domain = \"{name}\" }}` to [domain.{manager}.uses]"
        )),
        None => refusal
            .value(name)
            .limit("no domain has `ledger = true`")
            .remedy("add a memory manager: a domain with `crate = \"../../services/memory\"` and `ledger = true`"),
    })
}

fn shares(manifest: &Manifest, name: &str, domain: &Domain) -> Vec<Refusal> {
    let place = format!("domain.{name}.shares");
    let mut found = Vec::new();
    if !domain.shares.is_empty() {
        found.extend(no_client(manifest, place.clone(), name));
    }
    if domain.shares.len() > SHARES {
        found.push(
            Refusal::at("CF0208", &place, format!("`{name}` shares too much"))
                .value(domain.shares.len().to_string())
                .limit(SHARES.to_string())
                .rule("the memory manager's tables have fixed sizes")
                .remedy("merge some of them"),
        );
    }
    for (share, who) in &domain.shares {
        for other in who.keys() {
            let at = format!("{place}.{share}.{other}");
            if other == name {
                found.push(
                    Refusal::at("CF0209", at, format!("`{name}` would be its own guest"))
                        .value(other.as_str())
                        .rule("an owner has its memory; `shares` says who else may map it")
                        .remedy("remove it"),
                );
            } else {
                found.extend(no_client(manifest, at, other));
            }
        }
    }
    found
}

/// A manager that began anew would not know what it has granted.
fn restarted(name: &str, domain: &Domain) -> Option<Refusal> {
    (domain.ledger && domain.fault == FaultPolicy::Restart).then(|| {
        Refusal::at("CF0210", format!("domain.{name}.fault"), format!("`{name}` would forget what it has granted"))
            .rule("a memory manager that fails stays stopped, and what it has granted stays mapped")
            .remedy("write `fault = \"report\"`, or leave `fault` out; docs/memory.md says what else to do")
    })
}

/// Quotas of a pool: of clients, of a range that the manager holds, and no more than there is.
fn quotas(manifest: &Manifest, name: &str, frames: &Frames) -> Vec<Refusal> {
    let place = format!("frames.{name}.quota");
    if frames.quota.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Refusal> =
        frames.quota.keys().filter_map(|client| no_client(manifest, format!("{place}.{client}"), client)).collect();
    if !holders(manifest, name).iter().any(|(domain, _)| manages(manifest, domain)) {
        let manager = ledgers(manifest).next().unwrap_or("memory");
        found.push(
            Refusal::at("CF0318", &place, format!("`{name}` is no pool of a memory manager"))
                .rule("quotas divide what the memory manager hands out")
                .remedy(format!("add `{name} = {{ frames = \"{name}\" }}` to [domain.{manager}.uses]")),
        );
    }
    let sum = frames.quota.values().fold(0u64, |sum, quota| sum.saturating_add(quota.0));
    if sum > frames.size.0 {
        found.push(
            Refusal::at("CF0318", &place, format!("the quotas of `{name}` promise more than there is"))
                .value(Size(sum).to_string())
                .limit(frames.size.to_string())
                .rule("a quota is what a client has of a pool at most, and always: all of them fit into it")
                .remedy(format!("write `size = \"{}\"` or more, or lower a quota", Size(sum))),
        );
    }
    found
}
