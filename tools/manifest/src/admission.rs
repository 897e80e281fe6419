//! Admission of memory as declared: each area asks the ledger, as `rt_malloc_at` does at run time. Registers are counted again, with
//! tables and addresses, when the system is placed.

use spec::{AccessLevel, Change, Ledger, NoFrames, Opening, PLACES, Request, Rule, TablePlace, TemporalSpec};

use crate::analysis::jobs_in;
use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Manifest};
use crate::scheme::platform;

/// An area as declared.
struct Part {
    /// Key of its specification in the manifest.
    place: String,
    name: String,
    spec: TemporalSpec,
    code: bool,
    /// It lies apart from everything else, because others have it, too.
    apart: bool,
}

fn parts(domain_name: &str, domain: &Domain, board: &Board) -> Vec<Part> {
    let mut all = Vec::new();
    let mut part = |key: String, name: &str, spec: &crate::Spec, code: bool| {
        let place = format!("domain.{domain_name}.{key}.spec");
        let apart = key.starts_with("shared[") || key.starts_with("files[");
        all.push(Part { place, name: name.to_owned(), spec: board.asked(spec), code, apart });
    };
    // What cannot be otherwise first, so that a refusal names something that can.
    for (index, device) in domain.devices.iter().enumerate() {
        part(format!("devices[{index}]"), device, &crate::Spec::deterministic(), false);
    }
    let apart = domain.stack.memory.as_deref().is_some_and(|memory| memory != domain.data.memory);
    if apart || !domain.data.spec.pinned() {
        part("stack".into(), "stacks", &domain.stack.spec, false);
        part("data".into(), "data", &domain.data.spec, false);
    } else {
        part("data".into(), "data with stacks", &domain.data.spec, false);
    }
    part("code".into(), "code", &domain.code.spec, true);
    for (index, used) in domain.shared.iter().enumerate() {
        part(format!("shared[{index}]"), &used.name, &used.spec, false);
    }
    for (index, used) in domain.files.iter().enumerate() {
        part(format!("files[{index}]"), &used.name, &used.spec, false);
    }
    if let Some(heap) = &domain.heap {
        part("heap".into(), "heap", &heap.spec, false);
    }
    for (index, envelope) in domain.envelope.iter().enumerate() {
        part(format!("envelope[{index}]"), &format!("arena{index}"), &envelope.spec, false);
    }
    all
}

/// Where a domain's table lies: as the strictest paged level asks that it has.
pub fn strictest_paged(specs: impl Iterator<Item = TemporalSpec>) -> TablePlace {
    let paged = specs.map(|spec| spec.access).filter(|level| *level != AccessLevel::Deterministic);
    if paged.max() == Some(AccessLevel::L1) { TablePlace::Tcm } else { TablePlace::OnChip }
}

/// Misses in a period that the budgets of a domain's threads allow (`u32::MAX`: any number), and those that its threads declare.
pub fn misses(manifest: &Manifest, domain: &Domain) -> (u32, u32) {
    let mut budgets: Vec<&str> = domain.thread.iter().map(|thread| thread.budget.as_str()).collect();
    budgets.sort_unstable();
    budgets.dedup();
    let limits = budgets.iter().map(|name| manifest.budget.get(*name).and_then(|budget| budget.misses));
    let total = limits.sum::<Option<u32>>().filter(|_| !budgets.is_empty()).unwrap_or(u32::MAX);
    let declared = domain.thread.iter().map(|thread| {
        let budget = manifest.budget.get(&thread.budget).map_or(1, |budget| budget.period.0);
        let releases = thread.period.map_or(1, |period| jobs_in(budget, period.0.max(1)));
        u64::from(thread.misses) * releases
    });
    (total, declared.sum::<u64>().min(u64::from(u32::MAX)) as u32)
}

/// Asks the ledger for every area of every domain.
pub fn admit(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = Vec::new();
    let mut ledger: Ledger<32, 1> = Ledger::new(platform(board), [u32::MAX; PLACES]);
    for (name, domain) in &manifest.domain {
        let parts = parts(name, domain, board);
        let root = strictest_paged(parts.iter().map(|part| part.spec));
        let slots = domain.paging.slots.unwrap_or(0).min(255) as u8;
        let (allowed, declared) = misses(manifest, domain);
        let opening = Opening { paged_slots: slots, misses: allowed, ..Opening::new(root, 0) };
        let Ok(number) = ledger.open(&opening) else { break };
        for (index, part) in parts.iter().enumerate() {
            let request = Request {
                domain: number,
                spec: part.spec,
                code: part.code,
                slots: slots_of(&parts[..index], part, board),
                table_bytes: 0,
                descriptors: 0,
                // They belong to the threads, not to one area.
                misses: if index == 0 { declared } else { 0 },
                frames: None,
            };
            if let Err(refusal) = ledger.admit(&request, &mut NoFrames) {
                let pinned = parts.iter().filter(|part| part.spec.access == AccessLevel::Deterministic);
                let names: Vec<&str> = pinned.map(|part| part.name.as_str()).collect();
                let context = format!("; pinned: {}", names.join(", "));
                let (place, what) = match refusal.rule {
                    Rule::Misses => (format!("domain.{name}.thread[0].misses"), format!("domain `{name}`")),
                    _ => (part.place.clone(), format!("`{}` of domain `{name}`", part.name)),
                };
                found.push(refused(&place, &what, &context, &refusal));
            }
        }
    }
    found
}

/// Region registers that an area takes at least, or entries of the TLB: what is locked shares one with the domain's areas that have the same
/// rights.
fn slots_of(before: &[Part], part: &Part, board: &Board) -> u8 {
    let locked = |other: &Part| matches!(other.spec.access, AccessLevel::Deterministic | AccessLevel::L1);
    let shares = |other: &Part| locked(other) && !other.apart && other.code == part.code;
    u8::from(!board.protection.shares_slots() || part.apart || !before.iter().any(shares))
}

/// A refusal of the ledger in the words of a diagnostic.
pub fn refused(place: &str, what: &str, context: &str, refusal: &spec::Refusal) -> Refusal {
    let (asked, left) = (refusal.asked, refusal.left);
    let level = |bits: u32| TemporalSpec::from_bits(bits).map_or_else(|_| bits.to_string(), |spec| spec.to_string());
    let (code, title, unit) = match refusal.rule {
        Rule::Spec(_) => ("CF0313", "asks for what the platform cannot keep", ""),
        Rule::TableLevel => ("CF0313", "asks for more than the domain's table keeps", "level"),
        Rule::PinnedSlots => ("CF0303", "needs more region registers than are left", "registers"),
        Rule::PagedSlots => ("CF0304", "cannot be paged: too few region registers are left", "registers"),
        Rule::Misses => ("CF0409", "misses more often than its budget allows", "misses in a period"),
        Rule::TableMemory => ("CF0314", "has no memory for its nodes", "bytes of nodes"),
        Rule::LockSlots => ("CF0303", "needs more locked entries than are left", "entries"),
        Rule::ConstantTime => ("CF0313", "is too large for a constant time", "descriptors"),
        Rule::Domain
        | Rule::Size
        | Rule::Frames
        | Rule::FramesNotClean
        | Rule::Pages
        | Rule::Quota
        | Rule::Addresses => ("CF0305", "has no memory", "bytes"),
    };
    let shown =
        Refusal::at(code, place, format!("{what} {title}")).rule(refusal.rule.text()).remedy(remedy(refusal.change));
    let context = if matches!(refusal.rule, Rule::PinnedSlots | Rule::PagedSlots) { context } else { "" };
    match refusal.rule {
        Rule::Spec(_) => shown.value(level(asked)),
        _ => shown.value(format!("{asked} {unit}{context}")).limit(format!("{left} {unit}")),
    }
}

/// The smallest change in the words of a manifest.
fn remedy(change: Change) -> String {
    match change {
        Change::None | Change::Unknown(_) => "make other areas of the domain smaller or fewer".into(),
        Change::Spec(spec) => format!("write `spec = \"{spec}\"`: that is admitted"),
        Change::Bytes(bytes) => format!("make it at most {bytes} bytes: that is admitted"),
        Change::Misses(misses) => format!("declare at most {misses} misses: that is admitted"),
        Change::ReleaseRegisters(count) => format!("page {count} pinned regions of the domain: then it is admitted"),
        Change::ReleaseEntries(count) => format!("page {count} locked pages of the domain: then it is admitted"),
        Change::ReleaseBytes(bytes) => format!("release {bytes} bytes of the domain's own: then it is admitted"),
        Change::ReleaseTable(bytes) => {
            format!("give the domain {bytes} bytes fewer of regions with their nodes: then it is admitted")
        }
    }
}
