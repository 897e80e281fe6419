//! The grants: how checks of accesses are kept on the platform, each area with its bound, the
//! memory granted at run time, and each domain's account.

use super::format;
use super::units::{Units, color, color_of};
use crate::describe::{Account, Area, Checks, Degree, Keeping};
use crate::schema::{DomainReport, GrantReport, Holder, Report};

/// A way in which checks are kept, of which the system makes use.
pub struct KeepingView {
    pub class: &'static str,
    pub text: String,
    /// The cycles that it promises.
    pub cycles: String,
    pub promise: String,
    /// How far it is independent, and of what.
    pub degree: Badge,
    pub independent: String,
    pub dependent: String,
    /// The areas that are kept so.
    pub used_by: String,
}

/// A word with a mark beside it; the text explains it.
pub struct Badge {
    pub class: &'static str,
    pub word: String,
    pub text: String,
}

/// A domain with what it was granted before the run.
pub struct HoldingsView {
    pub domain: String,
    pub class: String,
    pub account: String,
    pub areas: Vec<AreaView>,
}

/// An area that was granted under a temporal specification.
pub struct AreaView {
    pub name: String,
    pub size: String,
    pub access: String,
    pub spec: String,
    pub kept: Badge,
    pub check: Check,
    pub independent: Badge,
    /// The most that may be allocated at once from an envelope's arena.
    pub envelope: String,
}

/// The bound on a check, as a figure and as a bar.
pub struct Check {
    pub cycles: String,
    pub width: String,
    pub found: String,
}

/// Memory that was granted at run time, once or more often alike.
pub struct GrantView {
    pub domain: String,
    pub class: String,
    pub times: u64,
    pub address: String,
    pub size: String,
    pub access: String,
    pub spec: String,
    pub kept: Badge,
    pub check: Check,
    pub independent: Badge,
    pub map: String,
    pub release: String,
    pub from: String,
    pub until: String,
}

/// The panel.
pub struct GrantsView {
    pub keeping: Vec<KeepingView>,
    pub holdings: Vec<HoldingsView>,
    pub areas: usize,
    pub granted: Vec<GrantView>,
    pub granted_note: String,
    pub manager: String,
    pub efforts: bool,
    pub effort_method: String,
}

/// The contents of the panel.
pub fn grants(report: &Report, units: &Units) -> GrantsView {
    let longest = bounds(report).max().unwrap_or(0).max(1);
    let granted = alike(report).into_iter().map(|group| granted(report, &group, longest, units)).collect();
    let domains = report.domains.iter().filter(|domain| domain.areas.iter().any(|area| !area.spec.is_empty()));
    let specified = report.domains.iter().flat_map(|domain| &domain.areas).filter(|area| !area.spec.is_empty());
    let more = report.grants_total.saturating_sub(report.grants.len() as u64);
    GrantsView {
        keeping: report.keeping.iter().filter_map(|way| keeping(report, way)).collect(),
        holdings: domains.map(|domain| holdings(report, domain, longest)).collect(),
        areas: specified.count(),
        granted,
        granted_note: match (report.grants_total, more) {
            (0, _) => String::new(),
            (total, 0) => format::counted(total, "grant", "grants"),
            (total, more) => {
                format!("{} grants, the last {} of which are not listed", format::count(total), format::count(more))
            }
        },
        manager: report.manager.map(|index| super::tables::domain_name(report, index)).unwrap_or_default(),
        efforts: report.effort.is_some(),
        effort_method: report.effort.as_ref().map(|effort| effort.method.clone()).unwrap_or_default(),
    }
}

fn bounds(report: &Report) -> impl Iterator<Item = u32> + '_ {
    let areas = report.domains.iter().flat_map(|domain| &domain.areas).filter_map(|area| area.bound_cycles);
    areas.chain(report.grants.iter().filter_map(|grant| grant.bound_cycles))
}

/// Class of a way in the style sheet.
fn class(kept: &str) -> &'static str {
    match kept {
        "pinned" => "k-pinned",
        "tcm" => "k-tcm",
        "on-chip" => "k-chip",
        "locked-ways" => "k-ways",
        "off-chip" => "k-off",
        _ => "k-none",
    }
}

const fn degree(degree: Degree) -> (&'static str, &'static str) {
    match degree {
        Degree::Full => ("full", "full"),
        Degree::InPart => ("part", "in part"),
        Degree::None => ("none", "none"),
    }
}

fn independent(way: Option<&Keeping>) -> Badge {
    let Some(way) = way else { return Badge { class: "none", word: String::new(), text: String::new() } };
    let (class, word) = degree(way.independence.degree);
    let (kept, not_kept) = (&way.independence.kept, &way.independence.not_kept);
    let text = if not_kept.is_empty() { kept.clone() } else { format!("{kept}; but {not_kept}") };
    Badge { class, word: word.to_owned(), text }
}

fn way<'a>(report: &'a Report, kept: &str) -> Option<&'a Keeping> {
    report.keeping.iter().find(|way| way.kept == kept)
}

/// The name of a way of keeping checks, for a narrow column.
fn short(report: &Report, kept: &str) -> Badge {
    let (word, text) = way(report, kept).map_or((kept, ""), |way| (&way.short, &way.text));
    Badge { class: class(kept), word: word.to_owned(), text: text.to_owned() }
}

fn check(cycles: Option<u32>, method: &str, longest: u32) -> Check {
    Check {
        cycles: cycles.map_or_else(|| "none".to_owned(), |cycles| format::count(cycles.into())),
        width: format::position(f64::from(cycles.unwrap_or(0)), f64::from(longest)),
        found: method.to_owned(),
    }
}

fn keeping(report: &Report, way: &Keeping) -> Option<KeepingView> {
    let areas = report.domains.iter().flat_map(|domain| &domain.areas).filter(|area| area.kept == way.kept).count();
    let granted = report.grants.iter().filter(|grant| grant.kept == way.kept).count();
    let parts = [(areas, "area", "areas"), (granted, "grant at run time", "grants at run time")];
    let used_by: Vec<_> = parts
        .iter()
        .filter(|part| part.0 > 0)
        .map(|(count, one, many)| format::counted(*count as u64, one, many))
        .collect();
    (!used_by.is_empty()).then(|| KeepingView {
        class: class(&way.kept),
        text: capital(&way.text),
        cycles: way.promise.as_ref().map_or_else(
            || "no bound".to_owned(),
            |promise| format!("{} cycles at most", format::count(promise.cycles.into())),
        ),
        promise: way.promise.as_ref().map_or_else(
            || "Nothing is promised.".to_owned(),
            |promise| format!("Level {}, {}.", promise.level, promise.method),
        ),
        degree: independent(Some(way)),
        independent: capital(&way.independence.kept),
        dependent: capital(&way.independence.not_kept),
        used_by: used_by.join(", "),
    })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn holdings(report: &Report, domain: &DomainReport, longest: u32) -> HoldingsView {
    let areas = domain.areas.iter().filter(|area| !area.spec.is_empty());
    HoldingsView {
        domain: domain.name.clone(),
        class: color(domain.color),
        account: account(report, &domain.account),
        areas: areas.map(|area| view(report, &domain.account, area, longest)).collect(),
    }
}

fn view(report: &Report, account: &Account, area: &Area, longest: u32) -> AreaView {
    AreaView {
        name: area.name.clone(),
        size: format::bytes(area.bytes),
        access: area.access.clone(),
        spec: area.spec.clone(),
        kept: short(report, &area.kept),
        check: check(area.bound_cycles, &area.bound_method, longest),
        independent: independent(way(report, &area.kept)),
        envelope: envelope(account, area),
    }
}

fn envelope(account: &Account, area: &Area) -> String {
    let found = account.envelopes.iter().find(|envelope| envelope.arena == area.name);
    let text = |envelope: &crate::describe::Envelope| {
        let (live, largest) = (format::bytes(envelope.live.into()), format::bytes(envelope.largest.into()));
        format!("{live} in {} blocks of at most {largest}", format::count(envelope.count.into()))
    };
    found.map(text).unwrap_or_default()
}

/// A domain's part of the hardware that checks accesses.
fn account(report: &Report, account: &Account) -> String {
    if account.table.is_empty() {
        return String::new();
    }
    let Checks { slot, tables: [own, behind], walks, .. } = &report.checks;
    let used = match account.table_bytes {
        0 => "none".to_owned(),
        bytes => {
            let (used, all) = (format::bytes(account.table_used.into()), format::bytes(bytes.into()));
            format!("{used} of {all} promised")
        }
    };
    let slots = format::counted(account.pinned.into(), &slot[0], &slot[1]);
    let paged = if *walks { String::new() } else { format!(", {} left for paged memory", account.paged) };
    let behind = if behind.is_empty() { String::new() } else { format!("; {behind}") };
    format!("{slots}{paged}; {own} {}{behind}: {used}", account.table)
}

/// Grants that differ only in address and time, in the order of the first of each.
fn alike(report: &Report) -> Vec<Vec<&GrantReport>> {
    let key = |grant: &GrantReport| {
        (grant.domain, grant.bytes, grant.holder, grant.access.clone(), grant.spec.clone(), grant.kept.clone())
    };
    let mut groups: Vec<Vec<&GrantReport>> = Vec::new();
    for grant in &report.grants {
        match groups.iter_mut().find(|group| key(group[0]) == key(grant)) {
            Some(group) => group.push(grant),
            None => groups.push(vec![grant]),
        }
    }
    groups
}

fn granted(report: &Report, group: &[&GrantReport], longest: u32, units: &Units) -> GrantView {
    let first = group[0];
    let cycles = |cycles: Option<u64>| cycles.map(format::count).unwrap_or_default();
    let live = group.iter().filter(|grant| grant.until.is_none()).count();
    let last = group.iter().filter_map(|grant| grant.until).max();
    let addresses = group.iter().all(|grant| grant.base == first.base);
    let role = match first.holder {
        Holder::Private => "",
        Holder::Owner => ", shares it",
        Holder::Member => ", another's",
    };
    GrantView {
        domain: super::tables::domain_name(report, first.domain),
        class: color_of(report, first.domain),
        times: group.len() as u64,
        address: if addresses { format::address(first.base) } else { "several".to_owned() },
        size: format::bytes(first.bytes),
        access: format!("{}{role}", first.access),
        spec: first.spec.clone(),
        kept: short(report, &first.kept),
        check: check(first.bound_cycles, &first.bound_method, longest),
        independent: independent(way(report, &first.kept)),
        map: cycles(first.map_cycles),
        release: cycles(first.release_cycles),
        from: units.time(first.at),
        until: match (live, last) {
            (0, Some(last)) => units.time(last),
            (live, _) if live == group.len() => "the end".to_owned(),
            (live, _) => format!("{live} to the end"),
        },
    }
}
