//! Bars and histograms: positions in percent, texts in units.

use super::format;
use super::units::{Units, color, color_of};
use crate::schema::{BudgetReport, DomainReport, GateReport, Report, ThreadReport};
use crate::stats::Histogram;
use crate::timeline::HighlightKind;

/// Response times of one thread on a scale from release to deadline.
pub struct ResponseView {
    pub name: String,
    pub class: String,
    pub scale: String,
    pub scale_name: &'static str,
    pub band_left: String,
    pub band_width: String,
    pub median_at: String,
    pub p99_at: String,
    pub bound_at: Option<String>,
    pub min: String,
    pub median: String,
    pub p99: String,
    pub max: String,
    pub bound: String,
    pub max_cycles: String,
    pub bound_exceeded: bool,
    pub goto: Option<String>,
}

/// Threads that completed a release, most important first.
pub fn responses(report: &Report, units: &Units) -> Vec<ResponseView> {
    let mut threads: Vec<_> = report.threads.iter().collect();
    threads.sort_by_key(|thread| (thread.priority, thread.index));
    threads.into_iter().filter_map(|thread| response(report, thread, units)).collect()
}

fn response(report: &Report, thread: &ThreadReport, units: &Units) -> Option<ResponseView> {
    let seen = thread.response?;
    let longest = seen.max.max(thread.response_bound.unwrap_or(0)).max(1);
    let whole = thread.deadline_cycles.unwrap_or(0).max(longest) as f64;
    let at = |cycles: u64| format::position(cycles as f64, whole);
    Some(ResponseView {
        name: thread.name.clone(),
        class: color_of(report, thread.domain),
        scale: units.time(whole as u64),
        scale_name: if thread.deadline_cycles == Some(whole as u64) { "deadline" } else { "scale" },
        band_left: at(seen.min),
        band_width: at(seen.max - seen.min),
        median_at: at(seen.median),
        p99_at: at(seen.p99),
        bound_at: thread.response_bound.map(at),
        min: units.time(seen.min),
        median: units.time(seen.median),
        p99: units.time(seen.p99),
        max: units.time(seen.max),
        bound: thread.response_bound.map_or_else(|| "not computed".to_owned(), |bound| units.time(bound)),
        max_cycles: format::count(seen.max),
        goto: super::places::goto(report, HighlightKind::WorstResponse, &thread.name),
        bound_exceeded: thread.response_exceeded.count > 0,
    })
}

/// Margins of one thread.
pub struct MarginView {
    pub name: String,
    pub class: String,
    pub jobs: String,
    pub missed: u64,
    pub smallest: String,
    pub deadline: String,
    pub goto: Option<String>,
    pub bars: Vec<BarView>,
    /// Width of a bar in units of the drawing, which is 240 wide and 72 high.
    pub bar_width: String,
    pub start: String,
    pub end: String,
    /// The place of the margins between 0 and the deadline.
    pub strip_left: String,
    pub strip_width: String,
}

/// One bar of a histogram.
pub struct BarView {
    pub x: String,
    pub y: String,
    pub height: String,
    pub from: String,
    pub to: String,
    pub count: String,
    pub late: bool,
}

/// Threads with a deadline that completed a release.
pub fn margins(report: &Report, units: &Units) -> Vec<MarginView> {
    let mut threads: Vec<_> = report.threads.iter().collect();
    threads.sort_by_key(|thread| (thread.priority, thread.index));
    threads.into_iter().filter_map(|thread| margin(report, thread, units)).collect()
}

/// The bars of a histogram in a drawing that is 240 wide and 72 high, and the width of one. `text` says a value, and `late` of an upper edge that it
/// is one too many.
pub fn bars(histogram: &Histogram, text: impl Fn(i64) -> String, late: impl Fn(i64) -> bool) -> (Vec<BarView>, String) {
    let tallest = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let step = 240.0 / histogram.counts.len().max(1) as f64;
    let bar = |(index, &count): (usize, &u64)| {
        // A bin that holds anything is at least one unit high, so that a single late job cannot hide.
        let height = if count == 0 { 0.0 } else { (count as f64 / tallest as f64 * 70.0).max(1.0) };
        BarView {
            x: format!("{:.2}", index as f64 * step),
            y: format!("{:.2}", 72.0 - height),
            height: format!("{height:.2}"),
            from: text(histogram.edge(index)),
            to: text(histogram.edge(index + 1)),
            count: format::count(count),
            late: late(histogram.edge(index + 1)),
        }
    };
    let bars = histogram.counts.iter().enumerate().map(bar).collect();
    (bars, format!("{:.2}", (step - 1.0).max(0.5)))
}

fn margin(report: &Report, thread: &ThreadReport, units: &Units) -> Option<MarginView> {
    let histogram = thread.margins.as_ref().filter(|histogram| !histogram.counts.is_empty())?;
    let deadline = thread.deadline_cycles?;
    let (bars, bar_width) = bars(histogram, |cycles| units.signed(cycles), |edge| edge <= 0);
    let end = histogram.edge(histogram.counts.len());
    let (low, high) = (histogram.start.max(0) as f64, end.clamp(0, deadline as i64) as f64);
    Some(MarginView {
        name: thread.name.clone(),
        class: color_of(report, thread.domain),
        jobs: format::count(thread.completions),
        missed: thread.missed_deadlines,
        smallest: units.signed(thread.smallest_margin?),
        deadline: units.time(deadline),
        goto: super::places::goto(report, HighlightKind::WorstResponse, &thread.name),
        bars,
        bar_width,
        start: units.signed(histogram.start),
        end: units.signed(end),
        strip_left: format::position(low, deadline as f64),
        strip_width: format::position((high - low).max(deadline as f64 / 200.0), deadline as f64),
    })
}

/// The used part of something against the part that was given.
pub struct UseView {
    pub name: String,
    pub class: String,
    pub detail: String,
    pub used: String,
    pub given: String,
    pub share: String,
    pub width: String,
    pub given_at: String,
    pub over: bool,
    pub note: String,
    pub goto: Option<String>,
}

/// Budgets: the fullest period against the capacity.
pub fn budgets(report: &Report, units: &Units) -> Vec<UseView> {
    let view = |budget: &BudgetReport| {
        let payer = report.threads.iter().find(|thread| thread.budget == budget.index);
        let limit = budget.limit_cycles.max(1);
        let whole = limit.max(budget.max_used_cycles) as f64;
        let over = budget.overdrawn.count > 0;
        let kind = if over { HighlightKind::Overdrawn } else { HighlightKind::FullestPeriod };
        UseView {
            name: budget.name.clone(),
            class: payer.map_or_else(|| "ck".to_owned(), |thread| color_of(report, thread.domain)),
            detail: format!("{} each {}", units.time(budget.capacity_cycles), units.time(budget.period_cycles)),
            used: units.time(budget.max_used_cycles),
            given: format!(
                "{} + {} tolerated",
                units.time(budget.capacity_cycles),
                units.time(budget.tolerance_cycles)
            ),
            share: format::percent(budget.max_used_cycles as f64 / limit as f64),
            width: format::position(budget.max_used_cycles as f64, whole),
            given_at: format::position(budget.capacity_cycles as f64, whole),
            over,
            goto: super::places::goto(report, kind, &budget.name),
            note: budget_note(budget, units),
        }
    };
    report.budgets.iter().map(view).collect()
}

fn budget_note(budget: &BudgetReport, units: &Units) -> String {
    let exhausted = match budget.exhaustions {
        0 => "never exhausted".to_owned(),
        times => format!("exhausted {}", format::counted(times, "time", "times")),
    };
    let above = budget.max_used_cycles.saturating_sub(budget.capacity_cycles);
    match (budget.overdrawn.count, above) {
        (0, 0) => exhausted,
        (0, above) => {
            let (above, tolerance) = (units.time(above), units.time(budget.tolerance_cycles));
            format!("{above} above it, within the meter's tolerance of {tolerance}; {exhausted}")
        }
        (cases, _) => format!("overdrawn {}; {exhausted}", format::counted(cases, "time", "times")),
    }
}

/// Gates: the longest call against the declared bound.
pub fn gates(report: &Report, units: &Units) -> Vec<UseView> {
    let view = |gate: &GateReport| {
        let whole = gate.bound_cycles.max(gate.max_cycles) as f64;
        let hostile = report.domains.iter().any(|domain| domain.index == gate.domain && domain.hostile);
        UseView {
            name: gate.name.clone(),
            class: color_of(report, gate.domain),
            detail: if gate.calls == 0 {
                "never called".to_owned()
            } else {
                format::counted(gate.calls, "call", "calls")
            },
            used: units.time(gate.max_cycles),
            given: units.time(gate.bound_cycles),
            share: format::percent(gate.max_cycles as f64 / gate.bound_cycles.max(1) as f64),
            width: format::position(gate.max_cycles as f64, whole),
            given_at: format::position(gate.bound_cycles as f64, whole),
            over: gate.exceeded.count > 0 && !hostile,
            goto: super::places::goto(report, HighlightKind::GateExceeded, &gate.name),
            note: match (gate.failed, hostile) {
                (0, false) => String::new(),
                (0, true) => "not judged: its domain is hostile".to_owned(),
                (failed, _) => format!("{} failed", format::count(failed)),
            },
        }
    };
    report.gates.iter().map(view).collect()
}

/// One domain's use of the processor, and the cost of its misses.
pub struct ShareView {
    pub name: String,
    pub class: String,
    pub share: String,
    pub width: String,
    pub own: String,
    pub kernel: String,
    pub instructions: String,
    pub icache: String,
    pub dcache: String,
    pub misses: String,
    pub miss_cost: String,
    pub miss_max: String,
    pub miss_exact: bool,
    pub missed: bool,
    pub miss_share: String,
    pub miss_width: String,
}

/// Domains by index, and last what belongs to nobody.
pub fn shares(report: &Report, units: &Units) -> Vec<ShareView> {
    let cost = |domain: &DomainReport| domain.region_miss_cycles;
    let dearest = report.domains.iter().map(cost).max().unwrap_or(0).max(1) as f64;
    let rate = |cache: &record::CacheCounts| match cache.hits + cache.misses {
        0 => "–".to_owned(),
        all => format::percent(cache.misses as f64 / all as f64),
    };
    let view = |domain: &DomainReport| ShareView {
        name: domain.name.clone(),
        class: color(domain.color),
        share: format::percent(domain.share),
        width: format::position(domain.share, 1.0),
        own: units.time(domain.counters.cycles),
        kernel: units.time(domain.counters.kernel_cycles),
        instructions: format::count(domain.counters.instructions),
        icache: rate(&domain.counters.icache),
        dcache: rate(&domain.counters.dcache),
        misses: format::count(domain.region_misses),
        miss_cost: units.time(domain.region_miss_cycles),
        miss_max: format::count(domain.region_miss_max_cycles),
        miss_exact: domain.region_miss_exact,
        missed: domain.region_misses > 0,
        miss_share: format::percent(cost(domain) as f64 / report.run.cycles.max(1) as f64),
        miss_width: format::position(cost(domain) as f64, dearest),
    };
    report.domains.iter().map(view).collect()
}
