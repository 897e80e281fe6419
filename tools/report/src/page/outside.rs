//! Waits of handlers that interrupts reach without the kernel, their time, and what was recorded of registers.

use super::charts::{self, BarView};
use super::format;
use super::units::{Units, color_of};
use crate::schema::{DomainReport, OutputReport, Report, Unpaid};

/// Waits of the handlers of one line.
pub struct LatencyView {
    pub name: String,
    pub class: String,
    pub note: String,
    pub bars: Vec<BarView>,
    pub bar_width: String,
    pub start: String,
    pub end: String,
}

/// Lines whose interrupts reach handlers.
pub fn latencies(report: &Report) -> Vec<LatencyView> {
    let view = |line: &crate::schema::InterruptReport| {
        let latency = line.latency.as_ref()?;
        let cycles = |value: i64| format!("{value} cycles");
        let (bars, bar_width) = charts::bars(&latency.histogram, cycles, |_| false);
        let seen = latency.cycles;
        Some(LatencyView {
            name: line.line.name.clone(),
            class: color_of(report, line.line.domain),
            note: format!(
                "{} times, cycles {} to {}, median {}, p99 {}; {} at once",
                format::count(latency.count),
                seen.min,
                seen.max,
                seen.median,
                seen.p99,
                format::count(latency.at_once)
            ),
            bars,
            bar_width,
            start: cycles(latency.histogram.edge(0)),
            end: cycles(latency.histogram.edge(latency.histogram.counts.len())),
        })
    };
    report.interrupts.iter().filter_map(view).collect()
}

/// A name and a sentence about it.
pub type Fact = (String, String);

/// The time of handlers, by domain, then registers.
pub fn facts(report: &Report, units: &Units) -> Vec<Fact> {
    let budget = |domain: &DomainReport| {
        let budget = domain.used.handlers_budget?;
        let text = format!(
            "given {} each {}; used in the fullest period {}; overdrawn {} times, by {} at most",
            units.time(budget.capacity_cycles),
            units.time(budget.period_cycles),
            units.time(budget.max_used_cycles),
            format::count(budget.overdrawn.count),
            units.time(budget.max_overdrawn_cycles)
        );
        Some((format!("Handlers of {}", domain.name), text))
    };
    let output = |output: &OutputReport| {
        let changes = format!("{} stores, {} changes", format::count(output.stores), format::count(output.changes));
        let between = output.shortest_cycles.zip(output.longest_cycles);
        let between = between.map(|(least, most)| format!(", {} to {} apart", units.time(least), units.time(most)));
        let sent = output.sent.as_ref().map(|text| format!("; sent {text:?}"));
        let text = [Some(changes), between, sent].into_iter().flatten().collect::<String>();
        (format!("Register of {} ({})", output.output.device, output.output.name), text)
    };
    report.domains.iter().filter_map(budget).chain(report.outputs.iter().map(output)).collect()
}

/// Entries of the kernel that no account pays for.
pub fn unpaid(report: &Report) -> Vec<Fact> {
    let fact = |unpaid: &Unpaid| {
        let (times, cycles) = (format::count(unpaid.count), format::count(unpaid.cycles));
        (unpaid.name.clone(), format!("{times} times, {cycles} cycles, {} at most", format::count(unpaid.max_cycles)))
    };
    report.unpaid.iter().map(fact).collect()
}
