//! Admission of memory: each area of a domain asks the ledger, as `rt_malloc_at` does at run time. The areas ask twice: for the least that they
//! can take when nothing is placed yet, and for what they take when everything is.

use spec::{AccessLevel, Change, Grant, Ledger, Opening, PLACES, Request, Rule, TablePlace, TemporalSpec};

use crate::board::{Board, platform};
use crate::diagnostic;
use crate::resolved::{Domain, Item, Part, System};
use crate::spec::Spec;

/// An area that the ledger refuses, or the table of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The refused item.
    pub item: Item,
    /// Its name among the areas of its domain.
    name: String,
    /// The pinned areas of the domain, by name.
    pinned: String,
    /// The rule, what was asked, what is left, and what would be admitted.
    pub refusal: spec::Refusal,
}

/// Opens the account of a domain, and asks for its areas in this order; their answers.
///
/// # Errors
/// The refusal of the domain's table.
pub fn admit_domain<const D: usize, const P: usize>(
    ledger: &mut Ledger<D, P>,
    domain: &Domain,
    opening: &Opening,
    areas: &[(Part, Request)],
) -> Result<Vec<Result<Grant, Box<Refused>>>, Box<Refused>> {
    let together = areas.iter().all(|(part, _)| *part != Part::Stack);
    let name = |part: &Part| match part {
        Part::Stack => "stacks".to_owned(),
        Part::Data if together => "data with stacks".to_owned(),
        other => other.name(),
    };
    let pinned = areas.iter().filter(|(_, request)| request.spec.access == AccessLevel::Deterministic);
    let pinned = pinned.map(|(part, _)| name(part)).collect::<Vec<_>>().join(", ");
    let refused = |part: &Part, refusal| {
        let item = Item::Of(part.clone(), domain.name.clone());
        Box::new(Refused { item, name: name(part), pinned: pinned.clone(), refusal })
    };
    let (allowed, declared) = domain.misses;
    let (opening, mut answers) = (Opening { misses: allowed, ..*opening }, Vec::new());
    let opened = ledger.admit_domain(&opening, declared, areas.iter().map(|(_, request)| *request), |answer| {
        let (part, _) = &areas[answers.len()];
        answers.push(answer.map_err(|refusal| refused(part, refusal)));
    });
    opened.map_err(|refusal| refused(&Part::Table, refusal)).map(|()| answers)
}

/// Asks for the least that every area of every domain can take.
pub fn admit(system: &System, board: &Board) -> Vec<diagnostic::Refusal> {
    let mut found = Vec::new();
    let mut ledger: Ledger<32, 1> = Ledger::new(platform(board), [u32::MAX; PLACES]);
    for domain in &system.domains {
        let areas = least(domain, board);
        // An area whose level the platform cannot keep has no say in where the table lies, or areas beside it would be refused, too.
        let keeps = |spec: &TemporalSpec| system.platform.meaning(TemporalSpec::level(spec.access)).is_ok();
        let kept = areas.iter().map(|(_, request)| request.spec).filter(keeps);
        let root = TablePlace::of_strictest(kept);
        let opening = Opening { paged_slots: domain.paged_slots.min(255) as u8, ..Opening::new(root, 0) };
        let Ok(answers) = admit_domain(&mut ledger, domain, &opening, &areas) else { break };
        found.extend(answers.into_iter().filter_map(|answer| answer.err().map(|refusal| refused(&refusal))));
    }
    found
}

/// The areas of a domain with what each takes at least: a region register, or an entry of the TLB, which what is locked shares with the
/// domain's areas that have the same rights.
fn least(domain: &Domain, board: &Board) -> Vec<(Part, Request)> {
    let locked = |spec: TemporalSpec| matches!(spec.access, AccessLevel::Deterministic | AccessLevel::L1);
    let mut shared = [false; 2];
    let ask = |(part, spec): (Part, TemporalSpec)| {
        let code = part == Part::Code;
        let own = !board.protection.facts().shared_slots || part.is_apart();
        let slots = u8::from(own || !shared[usize::from(code)]);
        shared[usize::from(code)] |= !own && locked(spec);
        (part, Request { code, slots, ..Request::new(0, spec) })
    };
    declared(domain, board).into_iter().map(ask).collect()
}

/// The areas of a domain with their specifications. Those that cannot be otherwise are first, so that a refusal names something that can.
fn declared(domain: &Domain, board: &Board) -> Vec<(Part, TemporalSpec)> {
    let Domain { code, data, stack, .. } = domain;
    let pinned = board.asked(&Spec::deterministic());
    let mut all: Vec<(Part, TemporalSpec)> =
        domain.devices.iter().enumerate().map(|(i, device)| (Part::Device(i, device.name.clone()), pinned)).collect();
    if domain.handlers.is_some() || !domain.stacks_join_data() || data.spec.access != AccessLevel::Deterministic {
        all.push((Part::Stack, stack.spec));
    }
    all.extend([(Part::Data, data.spec), (Part::Code, code.spec)]);
    all.extend(domain.shared.iter().enumerate().map(|(i, used)| (Part::Shared(i, used.name.clone()), used.spec)));
    all.extend(domain.files.iter().enumerate().map(|(i, used)| (Part::File(i, used.name.clone()), used.spec)));
    all.extend(domain.heap.iter().map(|heap| (Part::Heap, heap.area.spec)));
    all.extend(domain.envelopes.iter().enumerate().map(|(i, envelope)| (Part::Envelope(i), envelope.area.spec)));
    all
}

/// A refusal of the ledger in the words of a diagnostic.
pub fn refused(refused: &Refused) -> diagnostic::Refusal {
    let Refused { item, name, pinned, refusal } = refused;
    let (place, what) = match (item, refusal.rule) {
        (Item::Of(Part::Table, _), _) => (item.place(), format!("`{item}`")),
        (Item::Of(_, domain), Rule::Misses) => {
            (format!("domain.{domain}.thread[0].misses"), format!("domain `{domain}`"))
        }
        (Item::Of(_, domain), _) => (format!("{}.spec", item.place()), format!("`{name}` of domain `{domain}`")),
        _ => (item.place(), format!("`{item}`")),
    };
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
    let shown = diagnostic::Refusal::at(code, place, format!("{what} {title}"))
        .rule(refusal.rule.text())
        .remedy(remedy(refusal.change));
    let pinned = match refusal.rule {
        Rule::PinnedSlots | Rule::PagedSlots => format!("; pinned: {pinned}"),
        _ => String::new(),
    };
    match refusal.rule {
        Rule::Spec(_) => shown.value(level(asked)),
        _ => shown.value(format!("{asked} {unit}{pinned}")).limit(format!("{left} {unit}")),
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
