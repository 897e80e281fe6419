//! Rows of tables.

use super::format;
use super::units::{Units, color, color_of};
use crate::fault;
use crate::place::{Nearest, Relation};
use crate::schema::{FaultReport, Outcome, Report};
use crate::timeline::MarkerKind;

/// A contained fault.
pub struct FaultView {
    pub at: String,
    pub goto: String,
    pub domain: String,
    pub class: String,
    pub kind: String,
    pub thread: String,
    pub symbol: String,
    pub pc: String,
    pub address: String,
    pub nearest: String,
    pub owner: String,
    pub outcome: String,
}

/// Rows of the table of faults.
pub fn faults(report: &Report, units: &Units) -> Vec<FaultView> {
    let view = |fault: &FaultReport| FaultView {
        at: units.time(fault.at),
        goto: super::places::goto_cycle(report, fault.at),
        domain: domain_name(report, fault.domain),
        class: color_of(report, fault.domain),
        kind: event(fault),
        thread: fault.thread.clone().unwrap_or_default(),
        symbol: fault_place(fault),
        pc: fault.pc.map(format::address).unwrap_or_default(),
        address: match fault.nearest {
            Some(_) => format::address(fault.address),
            None => format!("{}", fault.address),
        },
        nearest: fault.nearest.as_ref().map(place).unwrap_or_default(),
        owner: fault.nearest.as_ref().map(|nearest| nearest.owners.join(", ")).unwrap_or_default(),
        outcome: match (fault.outcome, fault.recovery_cycles) {
            (Outcome::Restarted, Some(cycles)) => format!("restarted after {}", units.time(cycles)),
            (Outcome::Restarted, None) => "restarted".to_owned(),
            (Outcome::Stopped, _) => "stopped".to_owned(),
        },
    };
    report.faults.iter().map(view).collect()
}

/// Faults of one domain, of one kind, in one function.
pub struct FaultGroup {
    pub count: String,
    pub domain: String,
    pub class: String,
    pub hostile: bool,
    pub kind: String,
    pub symbol: String,
    pub nearest: String,
    pub first: String,
    pub last: String,
    pub goto: String,
    pub outcome: String,
}

/// The event and the reason in words.
fn event(fault: &FaultReport) -> String {
    if fault.reason.is_empty() { fault.what.clone() } else { format!("{}: {}", fault.what, fault.reason) }
}

/// The function and line, and the calls that led there.
fn fault_place(fault: &FaultReport) -> String {
    match fault::place(fault).trim_start() {
        "" => "no symbol".to_owned(),
        place => place.to_owned(),
    }
}

/// Groups of the listed faults, in the order of the first of each.
pub fn fault_groups(report: &Report, units: &Units) -> Vec<FaultGroup> {
    let function =
        |fault: &FaultReport| fault.symbol.as_deref().unwrap_or("no symbol").split('+').next().map(str::to_owned);
    let mut groups: Vec<Vec<&FaultReport>> = Vec::new();
    for fault in &report.faults {
        let key = |fault: &FaultReport| (fault.domain, fault.kind.clone(), function(fault));
        match groups.iter_mut().find(|group| key(group[0]) == key(fault)) {
            Some(group) => group.push(fault),
            None => groups.push(vec![fault]),
        }
    }
    let view = |group: &Vec<&FaultReport>| {
        let (first, last) = (group[0], group[group.len() - 1]);
        let mut places: Vec<_> = group.iter().filter_map(|fault| fault.nearest.as_ref()).map(place).collect();
        places.dedup();
        let restarted = group.iter().filter(|fault| fault.outcome == Outcome::Restarted).count();
        FaultGroup {
            count: format::count(group.len() as u64),
            domain: domain_name(report, first.domain),
            class: color_of(report, first.domain),
            hostile: report.domains.iter().any(|domain| domain.index == first.domain && domain.hostile),
            kind: if group.iter().all(|fault| event(fault) == event(first)) {
                event(first)
            } else {
                first.kind.clone()
            },
            symbol: fault_place(first),
            nearest: match places.as_slice() {
                [] => String::new(),
                [one] => one.clone(),
                [first, more @ ..] => format!("{first}, and {} more", more.len()),
            },
            first: units.time(first.at),
            last: if group.len() > 1 { units.time(last.at) } else { String::new() },
            goto: super::places::goto_cycle(report, first.at),
            outcome: match (restarted, group.len() - restarted) {
                (0, _) => "stopped".to_owned(),
                (_, 0) => "restarted".to_owned(),
                (restarted, stopped) => format!("{restarted} restarted, {stopped} stopped"),
            },
        }
    };
    groups.iter().map(view).collect()
}

fn place(nearest: &Nearest) -> String {
    match nearest.relation {
        Relation::Inside => format!("{:#x} into {}", nearest.distance, nearest.area),
        Relation::Below => format!("{} below {}", format::bytes(nearest.distance), nearest.area),
        Relation::Above => format!("{} above {}", format::bytes(nearest.distance), nearest.area),
    }
}

/// The name of a domain, or its number.
pub fn domain_name(report: &Report, index: u8) -> String {
    let domain = report.domains.iter().find(|domain| domain.index == index);
    domain
        .map_or_else(|| if index == 255 { "nobody".to_owned() } else { format!("domain {index}") }, |d| d.name.clone())
}

/// Refused calls.
pub struct RefusalView {
    pub domain: String,
    pub class: String,
    pub call: String,
    pub error: String,
    pub count: String,
}

/// Rows of the table of refused calls.
pub fn refusals(report: &Report) -> Vec<RefusalView> {
    let mut rows = Vec::new();
    for domain in &report.domains {
        rows.extend(domain.refused.iter().map(|refusal| RefusalView {
            domain: domain.name.clone(),
            class: color(domain.color),
            call: refusal.call.clone(),
            error: refusal.error.clone(),
            count: format::count(refusal.count),
        }));
    }
    rows
}

/// Sizes of one image.
pub struct ImageView {
    pub name: String,
    pub class: String,
    pub text: String,
    pub rodata: String,
    pub data: String,
    pub bss: String,
    pub total: String,
    /// Widths of text, rodata, data and bss relative to the largest image.
    pub widths: [String; 4],
}

/// Kernel first, then the domains.
pub fn images(report: &Report) -> Vec<ImageView> {
    let kernel = ("kernel".to_owned(), "ck".to_owned(), report.kernel_image);
    let domains = report.domains.iter().map(|domain| (domain.name.clone(), color(domain.color), domain.image));
    let all: Vec<_> = std::iter::once(kernel).chain(domains).collect();
    let total = |image: &crate::describe::ImageSizes| image.text + image.rodata + image.data + image.bss;
    let largest = all.iter().map(|(_, _, image)| total(image)).max().unwrap_or(0) as f64;
    let view = |(name, class, image): (String, String, crate::describe::ImageSizes)| ImageView {
        name,
        class,
        text: format::bytes(image.text),
        rodata: format::bytes(image.rodata),
        data: format::bytes(image.data),
        bss: format::bytes(image.bss),
        total: format::bytes(total(&image)),
        widths: [image.text, image.rodata, image.data, image.bss].map(|part| format::position(part as f64, largest)),
    };
    all.into_iter().map(view).collect()
}

/// The text of a marker.
pub const fn marker_name(kind: MarkerKind) -> &'static str {
    match kind {
        MarkerKind::Fault => "fault",
        MarkerKind::Restart => "restart",
        MarkerKind::Late => "deadline missed",
        MarkerKind::Overrun => "overrun",
        MarkerKind::BudgetOut => "budget exhausted",
        MarkerKind::Violation => "violation",
    }
}
