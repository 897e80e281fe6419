//! The page: rendered from a [`Report`] and nothing else.

mod charts;
pub(crate) mod format;
mod grants;
mod memory;
mod outside;
mod places;
mod provenance;
mod tables;
mod units;
mod walks;

use askama::Template;
use charts::{MarginView, ResponseView, ShareView, UseView};
use grants::GrantsView;
use memory::MemoryView;
use outside::LatencyView;
use places::{NearView, PlacesView};
use serde_json::json;
use tables::{FaultGroup, FaultView, ImageView, RefusalView};
use units::{PALETTE, Units};
use walks::WalkView;

use crate::schema::Report;
use crate::timeline::{HighlightKind, MAX_MARKERS};

/// Rows of a table before the others are folded.
const ROWS: usize = 10;
/// Failures that are shown before the others are folded.
const FAILURES: usize = 5;

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
    latencies: Vec<LatencyView>,
    outside: Vec<outside::Fact>,
    unpaid: Vec<outside::Fact>,
    shares: Vec<ShareView>,
    memories: Vec<MemoryView>,
    grants: GrantsView,
    walks: Vec<WalkView>,
    faults: Vec<FaultView>,
    refusals: Vec<RefusalView>,
    images: Vec<ImageView>,
    idle: String,
    failures: Vec<FailureView>,
    places: Vec<PlacesView>,
    nearest: Vec<NearView>,
    exact: Exact,
    fault_groups: Vec<FaultGroup>,
    source: Vec<(&'static str, String)>,
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
    masked_goto: Option<String>,
    misses_name: &'static str,
    misses: String,
    misses_note: String,
}

/// One way in which the run was not as promised.
struct FailureView {
    code: String,
    /// In HTML.
    text: String,
    explained: Option<String>,
    place: Option<String>,
    /// In HTML.
    remedy: Option<String>,
    goto: Option<String>,
}

/// How much of the timeline is exact.
struct Exact {
    share: String,
    windows: String,
    /// All of it.
    whole: bool,
    bucket: String,
    left_out: Vec<String>,
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
        latencies: outside::latencies(report),
        outside: outside::facts(report, &units),
        unpaid: outside::unpaid(report),
        shares: charts::shares(report, &units),
        memories: memory::memories(report),
        grants: grants::grants(report, &units),
        walks: walks::walks(report, &units),
        faults: tables::faults(report, &units),
        refusals: tables::refusals(report),
        images: tables::images(report),
        idle: format::percent(report.run.sleep_cycles as f64 / report.run.cycles.max(1) as f64),
        failures: failures(report),
        places: places::places(report, &units),
        nearest: places::nearest(report, &units),
        exact: exact(report, &units),
        fault_groups: tables::fault_groups(report, &units),
        source: provenance::rows(report),
        host_time: format::seconds(report.host.seconds),
        host_mips: format::short(report.host.mips),
        units,
    };
    // Names come from files and programs.
    record::visible(&page.render().expect("writing to a string does not fail"))
}

/// The data from which the script draws the timeline. `<` is escaped, so that no name can end the
/// element.
fn data(report: &Report) -> String {
    let name = |index: &u16| report.threads.iter().find(|thread| thread.index == *index).map(|t| (&t.name, t.domain));
    let lanes: Vec<_> = report.timeline.lanes.iter().filter_map(name).collect();
    let domains: Vec<_> =
        report.domains.iter().map(|d| json!({"index": d.index, "name": d.name, "color": d.color % PALETTE})).collect();
    let line = &report.timeline;
    let timeline = json!({
        "cycles": line.cycles, "bucket_cycles": line.bucket_cycles, "overview": line.overview, "windows": line.windows,
        "markers": line.markers,
    });
    let value = json!({
        "cpu_hz": report.run.cpu_hz, "timeline": timeline, "domains": domains,
        "lanes": lanes.iter().map(|(name, domain)| json!({"name": name, "domain": domain})).collect::<Vec<_>>(),
    });
    record::visible_json(&value.to_string()).replace('<', "\\u003c")
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
        masked_goto: places::goto(report, HighlightKind::LongestMasked, ""),
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

fn failures(report: &Report) -> Vec<FailureView> {
    let view = |failure: &crate::schema::Failure| FailureView {
        code: failure.code.clone(),
        text: format::code(&failure.text),
        explained: failure.explained.clone(),
        place: failure.place.clone(),
        remedy: failure.remedy.as_deref().map(format::code),
        goto: place_of(report, failure).map(|at| places::goto_cycle(report, at)),
    };
    report.verdict.failures.iter().map(view).collect()
}

/// When a failure was seen first: as it says, or as the first missed deadline of its thread was.
fn place_of(report: &Report, failure: &crate::schema::Failure) -> Option<u64> {
    let missed = || {
        let of_thread = |thread: &&crate::schema::ThreadReport| {
            failure.text.starts_with(&format!("{} ", crate::verdict::time::who(report, thread)))
        };
        let threads = report.threads.iter().filter(of_thread);
        threads.filter_map(|thread| thread.first_missed_at).min()
    };
    let masked = || report.run.longest_masked.as_ref().map(|window| window.at);
    let violation = || report.violations.first().map(|violation| violation.at);
    failure.at.or_else(|| match failure.code.as_str() {
        "deadline-missed" => missed(),
        "masked-bound" => masked(),
        "violation" | "stale-translation" | "unclean-table" => violation(),
        "kernel-failed" => report.run.kernel_failure.as_ref().map(|failure| failure.at),
        _ => None,
    })
}

fn exact(report: &Report, units: &Units) -> Exact {
    let line = &report.timeline;
    let beyond = |markers: &crate::timeline::Markers| {
        let count = markers.total - markers.at.len() as u64;
        let lane = markers.lane.and_then(|lane| line.lanes.get(usize::from(lane)));
        let thread = lane.and_then(|index| report.threads.iter().find(|thread| thread.index == *index));
        let of = thread.map(|thread| format!(" of {}", thread.name)).unwrap_or_default();
        (count > 0).then(|| format!("{} × {}{of}", format::count(count), tables::marker_name(markers.kind)))
    };
    Exact {
        share: format::percent(line.exact_cycles as f64 / line.cycles.max(1) as f64),
        whole: line.exact_cycles >= line.cycles,
        windows: format::counted(line.windows.len() as u64, "window", "windows"),
        bucket: units.time(line.bucket_cycles),
        left_out: line.markers.iter().filter_map(beyond).collect(),
    }
}
