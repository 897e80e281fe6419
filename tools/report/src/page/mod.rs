//! The page: rendered from a [`Report`] and nothing else.

mod charts;
pub(crate) mod format;
mod grants;
mod memory;
mod tables;
mod walks;

use askama::Template;
use charts::{MarginView, ResponseView, ShareView, UseView};
use grants::GrantsView;
use memory::MemoryView;
use serde_json::json;
use tables::{FaultView, ImageView, RefusalView};
use walks::WalkView;

use crate::schema::Report;
use crate::timeline::MarkerKind;

/// Colours of the page's palette; `page.css` defines as many classes `c0`, `c1`, ...
const PALETTE: u8 = 10;
/// Places of each kind in the list of what stands out.
const JUMPS_PER_KIND: usize = 12;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    report: &'a Report,
    css: &'static str,
    script: &'static str,
    data: String,
    headline: Headline,
    responses: Vec<ResponseView>,
    margins: Vec<MarginView>,
    budgets: Vec<UseView>,
    gates: Vec<UseView>,
    shares: Vec<ShareView>,
    memories: Vec<MemoryView>,
    grants: GrantsView,
    walks: Vec<WalkView>,
    faults: Vec<FaultView>,
    refusals: Vec<RefusalView>,
    images: Vec<ImageView>,
    idle: String,
    jumps: Vec<Jump>,
    host_time: String,
    host_mips: String,
    units: Units,
}

/// Figures of the first panel.
struct Headline {
    deadlines: String,
    deadlines_note: String,
    faults: String,
    faults_note: String,
    refused: String,
    retried: String,
    time: String,
    time_note: String,
    masked: String,
    masked_note: String,
    misses_name: &'static str,
    misses: String,
    misses_note: String,
}

/// A place in the timeline worth looking at.
struct Jump {
    from: u64,
    to: u64,
    text: String,
}

/// Cycles to time, at the clock of the run.
struct Units {
    cpu_hz: f64,
}

impl Units {
    fn time(&self, cycles: u64) -> String {
        format::seconds(cycles as f64 / self.cpu_hz)
    }

    fn signed(&self, cycles: i64) -> String {
        format::seconds(cycles as f64 / self.cpu_hz).replace('-', "\u{2212}")
    }

    fn count(&self, value: &u64) -> String {
        format::count(*value)
    }

    fn cycles(&self, value: &u64) -> String {
        self.time(*value)
    }

    fn address(&self, value: &u64) -> String {
        format::address(*value)
    }
}

/// Class of a colour of the palette.
fn color(index: u8) -> String {
    format!("c{}", index % PALETTE)
}

fn color_of(report: &Report, domain: u8) -> String {
    report.domains.iter().find(|d| d.index == domain).map_or_else(|| "ck".to_owned(), |d| color(d.color))
}

/// The whole page.
pub fn render(report: &Report) -> String {
    let units = Units { cpu_hz: report.run.cpu_hz.max(1) as f64 };
    let page = Page {
        report,
        css: include_str!("../../templates/page.css"),
        script: concat!(include_str!("../../templates/timeline.js"), include_str!("../../templates/page.js")),
        data: data(report),
        headline: headline(report, &units),
        responses: charts::responses(report, &units),
        margins: charts::margins(report, &units),
        budgets: charts::budgets(report, &units),
        gates: charts::gates(report, &units),
        shares: charts::shares(report, &units),
        memories: memory::memories(report),
        grants: grants::grants(report, &units),
        walks: walks::walks(report, &units),
        faults: tables::faults(report, &units),
        refusals: tables::refusals(report),
        images: tables::images(report),
        idle: format::percent(report.run.sleep_cycles as f64 / report.run.cycles.max(1) as f64),
        jumps: jumps(report, &units),
        host_time: format::seconds(report.host.seconds),
        host_mips: format::short(report.host.mips),
        units,
    };
    page.render().expect("writing to a string does not fail")
}

/// The data from which the script draws the timeline. `<` is escaped, so that no name can end the
/// element.
fn data(report: &Report) -> String {
    let name = |index: &u16| report.threads.iter().find(|thread| thread.index == *index).map(|t| (&t.name, t.domain));
    let lanes: Vec<_> = report.timeline.lanes.iter().filter_map(name).collect();
    let domains: Vec<_> =
        report.domains.iter().map(|d| json!({"index": d.index, "name": d.name, "color": d.color % PALETTE})).collect();
    let value = json!({
        "cpu_hz": report.run.cpu_hz, "timeline": report.timeline, "domains": domains,
        "lanes": lanes.iter().map(|(name, domain)| json!({"name": name, "domain": domain})).collect::<Vec<_>>(),
    });
    value.to_string().replace('<', "\\u003c")
}

fn headline(report: &Report, units: &Units) -> Headline {
    let run = &report.run;
    let timed = report.threads.iter().filter(|thread| thread.deadline_cycles.is_some());
    let jobs: u64 = timed.map(|thread| thread.completions).sum();
    let stopped = report.domains.iter().filter(|domain| domain.faults > 0).count() as u64;
    let (misses_name, misses, misses_note) = missed(report);
    Headline {
        deadlines: format::count(run.missed_deadlines),
        deadlines_note: format!("of {}", format::counted(jobs, "timed job", "timed jobs")),
        faults: format::count(run.faults),
        faults_note: format!("in {}", format::counted(stopped, "domain", "domains")),
        refused: format::count(run.refused_calls),
        retried: format::count(run.retried_calls),
        time: format::seconds(run.seconds),
        time_note: format!("{} instructions", format::count(run.instructions)),
        masked: run.longest_masked.as_ref().map_or_else(|| "–".to_owned(), |window| units.time(window.cycles)),
        masked_note: run.longest_masked.as_ref().map_or_else(String::new, |window| {
            format!("{} instructions, {}", format::count(window.instructions), window.exception)
        }),
        misses_name,
        misses,
        misses_note,
    }
}

/// The misses of access checks: regions that were loaded, or walks of page tables.
fn missed(report: &Report) -> (&'static str, String, String) {
    if report.checks.walks {
        let counted = report.domains.iter().map(|domain| walks::totals(&domain.counters.translation));
        let (all, beyond) = counted.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        return ("Table walks", format::count(all), format!("{} left the chip", format::count(beyond)));
    }
    let cost: u64 = report.domains.iter().map(|domain| domain.region_miss_cycles).sum();
    let note = format!("{} of the run", format::percent(cost as f64 / report.run.cycles.max(1) as f64));
    ("Region misses", format::count(report.run.region_misses), note)
}

/// The first places of each kind that stand out, each a millisecond wide, and no two closer than that.
fn jumps(report: &Report, units: &Units) -> Vec<Jump> {
    let around = report.run.cpu_hz / 2000;
    let mut jumps: Vec<Jump> = Vec::new();
    let mut counts = [0usize; 6];
    for marker in &report.timeline.markers {
        let count = &mut counts[marker.kind as usize];
        let most = if marker.kind == MarkerKind::BudgetOut { 1 } else { JUMPS_PER_KIND };
        let near = jumps.last().is_some_and(|jump| marker.at < jump.to);
        if *count == most || near || marker.kind == MarkerKind::Restart {
            continue;
        }
        *count += 1;
        let text = format!("{} at {}", tables::marker_name(marker.kind), units.time(marker.at));
        jumps.push(Jump { from: marker.at.saturating_sub(around), to: marker.at + around, text });
    }
    jumps
}
