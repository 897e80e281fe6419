//! Places in the timeline, and what came nearest to its limit.

use super::format;
use super::units::Units;
use crate::schema::Report;
use crate::timeline::{Highlight, HighlightKind};

/// Rows of the list of what came nearest to its limit.
const NEAREST: usize = 6;

/// A place that the page leads to.
pub struct PlaceView {
    /// Value of `data-goto`: first cycle, first behind, the cycle itself.
    pub goto: String,
    pub text: String,
    pub when: String,
    pub exact: bool,
}

/// Places of the same sort, for a list.
pub struct PlacesView {
    pub label: &'static str,
    pub places: Vec<PlaceView>,
}

/// A figure that came near to its limit.
pub struct NearView {
    pub what: String,
    pub value: String,
    pub limit: String,
    pub share: String,
    pub width: String,
    pub over: bool,
    pub goto: Option<String>,
    /// The section that shows it.
    pub section: &'static str,
}

/// The value of `data-goto` that leads to the place of a kind and subject.
pub fn goto(report: &Report, kind: HighlightKind, subject: &str) -> Option<String> {
    let found = report.timeline.highlights.iter().find(|place| place.kind == kind && place.subject == subject);
    found.map(link)
}

/// The value of `data-goto` that shows a cycle; a listed place there says how much.
pub fn goto_cycle(report: &Report, at: u64) -> String {
    let listed = report.timeline.highlights.iter().find(|place| place.at == at);
    let around = report.run.cpu_hz / 2000;
    listed.map_or_else(|| format!("{},{},{at}", at.saturating_sub(around), at.saturating_add(around)), link)
}

fn link(place: &Highlight) -> String {
    format!("{},{},{}", place.from, place.to, place.at)
}

const fn label(kind: HighlightKind) -> &'static str {
    match kind {
        HighlightKind::Fault => "Faults",
        HighlightKind::SmallestMargin | HighlightKind::WorstResponse => "Responses",
        HighlightKind::LongestMasked => "Kernel",
        HighlightKind::LongestJob => "Jobs",
        HighlightKind::FullestPeriod => "Budgets",
        _ => "Not as promised",
    }
}

/// All places, by sort.
pub fn places(report: &Report, units: &Units) -> Vec<PlacesView> {
    let mut groups: Vec<PlacesView> = Vec::new();
    for place in &report.timeline.highlights {
        let label = label(place.kind);
        let view = PlaceView {
            goto: link(place),
            text: text(report, place, units),
            when: units.time(place.at),
            exact: place.exact,
        };
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.places.push(view),
            None => groups.push(PlacesView { label, places: vec![view] }),
        }
    }
    groups
}

fn text(report: &Report, place: &Highlight, units: &Units) -> String {
    let subject = &place.subject;
    let took = place.cycles.map(|cycles| units.signed(cycles)).unwrap_or_default();
    let limit = |word: &str| place.limit.map(|limit| format!(", {word} {}", units.time(limit))).unwrap_or_default();
    match place.kind {
        HighlightKind::KernelFailed => "the kernel stopped".to_owned(),
        HighlightKind::Violation => format!("violation in {subject}"),
        HighlightKind::DeadlineMissed => format!("{subject} misses a deadline"),
        HighlightKind::ResponseExceeded => format!("{subject} responds later than its bound"),
        HighlightKind::WcetExceeded => format!("a job of {subject} exceeds its wcet"),
        HighlightKind::Overdrawn => format!("budget {subject} is overdrawn"),
        HighlightKind::GateExceeded => format!("a call of gate {subject} exceeds its bound"),
        HighlightKind::ReleaseLate => format!("{subject} is released late"),
        HighlightKind::Fault => {
            let fault = report.faults.iter().find(|fault| fault.at == place.at);
            let symbol = fault.and_then(|fault| fault.symbol.as_deref()).map(cut);
            let kind = fault.map_or_else(|| "fault".to_owned(), |fault| fault.kind.clone());
            format!("{subject}: {kind}{}", symbol.map(|symbol| format!(" in {symbol}")).unwrap_or_default())
        }
        HighlightKind::SmallestMargin if place.cycles.is_some_and(|margin| margin < 0) => {
            format!("smallest margin: {subject}, late by {}", took.trim_start_matches('\u{2212}'))
        }
        HighlightKind::SmallestMargin => format!("smallest margin: {subject}, {took}{}", limit("deadline")),
        HighlightKind::LongestMasked => format!("longest masked window: {took}{}", limit("bound")),
        HighlightKind::WorstResponse => format!("worst response of {subject}: {took}{}", limit("bound")),
        HighlightKind::LongestJob => format!("longest job of {subject}: {took}{}", limit("wcet")),
        HighlightKind::FullestPeriod => format!("fullest period of budget {subject}: {took}{}", limit("capacity")),
    }
}

/// A symbol that fits into a list.
fn cut(symbol: &str) -> String {
    const MOST: usize = 40;
    let cut: String = symbol.chars().take(MOST).collect();
    if cut.len() < symbol.len() { format!("{cut}…") } else { cut }
}

/// Something with a limit, before it is known how near it came.
struct Near {
    what: String,
    value: u64,
    limit: u64,
    over: bool,
    goto: Option<String>,
    section: &'static str,
}

/// Figures that came nearest to their limits, or went beyond them, nearest first.
pub fn nearest(report: &Report, units: &Units) -> Vec<NearView> {
    let mut all = Vec::new();
    let mut add = |what: String, value, limit: Option<u64>, over, goto, section| {
        if let Some(limit) = limit.filter(|limit| *limit > 0 && value > 0) {
            all.push(Near { what, value, limit, over, goto, section });
        }
    };
    for thread in &report.threads {
        let (name, worst) = (&thread.name, thread.response.map_or(0, |response| response.max));
        let goto = |kind| goto(report, kind, name);
        let response = goto(HighlightKind::WorstResponse);
        let missed = thread.missed_deadlines > 0;
        add(format!("response of {name}, deadline"), worst, thread.deadline_cycles, missed, response, "responses");
        let job = (thread.job.max_cycles, thread.wcet_cycles, thread.job.exceeded.count > 0);
        add(format!("job of {name}, wcet"), job.0, job.1, job.2, goto(HighlightKind::LongestJob), "responses");
    }
    for gate in &report.gates {
        let over = gate.exceeded.count > 0;
        add(format!("gate {}, bound", gate.name), gate.max_cycles, Some(gate.bound_cycles), over, None, "gates");
    }
    if let Some(window) = &report.run.longest_masked {
        let (bound, goto) = (report.run.masked_bound_cycles, goto(report, HighlightKind::LongestMasked, ""));
        let over = bound.is_some_and(|bound| window.cycles > bound);
        add("masked window, bound".to_owned(), window.cycles, bound, over, goto, "gates");
    }
    let share = |near: &Near| near.value as f64 / near.limit as f64;
    all.sort_by(|a, b| b.over.cmp(&a.over).then(share(b).total_cmp(&share(a))));
    all.truncate(NEAREST);
    let view = |near: Near| NearView {
        share: format::percent(share(&near)),
        width: format::position(near.value as f64, near.limit.max(near.value) as f64),
        value: units.time(near.value),
        limit: units.time(near.limit),
        what: near.what,
        over: near.over,
        goto: near.goto,
        section: near.section,
    };
    all.into_iter().map(view).collect()
}
