//! The places of a run that are worth looking at: whatever was not as promised, and what came nearest to its limit.

use std::collections::BTreeMap;

use crate::schema::{FaultReport, Report, ThreadReport};
use crate::timeline::{Highlight, HighlightKind, MAX_HIGHLIGHTS};
use crate::windows::{AFTER_SEGMENTS, Wanted};

/// Faults among them: the first of each kind before a second one.
pub const MAX_FAULT_PLACES: usize = 16;

impl Highlight {
    /// Part of the run that is to be kept for it.
    pub const fn wanted(&self) -> Wanted {
        Wanted { at: self.at, from: self.from, to: self.to, after: AFTER_SEGMENTS }
    }
}

/// Collects places; a stretch reaches half a millisecond to either side.
struct Places {
    around: u64,
    list: Vec<Highlight>,
}

impl Places {
    fn add(&mut self, kind: HighlightKind, subject: &str, (from, to): (u64, u64)) -> &mut Highlight {
        let subject = subject.to_owned();
        let (from, at, to) = (from.saturating_sub(self.around), to.max(from), to.max(from) + self.around);
        self.list.push(Highlight { kind, subject, at, from, to, cycles: None, limit: None, exact: false });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    fn figure(&mut self, kind: HighlightKind, subject: &str, stretch: (u64, u64), cycles: u64, limit: Option<u64>) {
        let place = self.add(kind, subject, stretch);
        (place.cycles, place.limit) = (i64::try_from(cycles).ok(), limit);
    }

    fn first(&mut self, kind: HighlightKind, subject: &str, first_at: Option<u64>) {
        if let Some(at) = first_at {
            self.add(kind, subject, (at, at));
        }
    }
}

/// The places of a report, the most relevant first, and how many more there were.
pub fn highlights(report: &Report) -> (Vec<Highlight>, u64) {
    let mut places = Places { around: (report.run.cpu_hz / 2000).max(1), list: Vec::new() };
    failures(report, &mut places);
    report.threads.iter().for_each(|thread| jobs(thread, &mut places));
    smallest_margin(report, &mut places);
    faults(report, &mut places);
    if let Some(window) = &report.run.longest_masked {
        let stretch = (window.at, window.at.saturating_add(window.cycles));
        let limit = report.run.masked_bound_cycles;
        places.figure(HighlightKind::LongestMasked, "", stretch, window.cycles, limit);
    }
    for budget in &report.budgets {
        places.first(HighlightKind::Overdrawn, &budget.name, budget.overdrawn.first_at);
        if budget.max_used_cycles > 0 {
            let stretch = (budget.max_used_at, budget.max_used_at);
            let limit = Some(budget.capacity_cycles);
            places.figure(HighlightKind::FullestPeriod, &budget.name, stretch, budget.max_used_cycles, limit);
        }
    }
    for gate in &report.gates {
        places.first(HighlightKind::GateExceeded, &gate.name, gate.exceeded.first_at);
    }
    let mut list = places.list;
    list.sort_by_key(|place| place.kind);
    let left_out = list.len().saturating_sub(MAX_HIGHLIGHTS);
    list.truncate(MAX_HIGHLIGHTS);
    (list, left_out as u64)
}

fn failures(report: &Report, places: &mut Places) {
    if let Some(failure) = &report.run.kernel_failure {
        places.add(HighlightKind::KernelFailed, "", (failure.at, failure.at));
    }
    if let Some(first) = report.violations.first() {
        places.add(HighlightKind::Violation, domain_name(report, first.domain), (first.at, first.at));
    }
}

fn domain_name(report: &Report, index: u8) -> &str {
    report.domains.iter().find(|domain| domain.index == index).map_or("", |domain| &domain.name)
}

fn jobs(thread: &ThreadReport, places: &mut Places) {
    let name = &thread.name;
    places.first(HighlightKind::DeadlineMissed, name, thread.first_missed_at);
    places.first(HighlightKind::ResponseExceeded, name, thread.response_exceeded.first_at);
    places.first(HighlightKind::WcetExceeded, name, thread.job.exceeded.first_at);
    places.first(HighlightKind::ReleaseLate, name, thread.release_late.first_at);
    if let Some(worst) = thread.worst_job {
        let cycles = worst.completed_at.saturating_sub(worst.released_at);
        let stretch = (worst.released_at, worst.completed_at);
        places.figure(HighlightKind::WorstResponse, name, stretch, cycles, thread.response_bound);
    }
    if thread.wcet_cycles.is_some() && thread.job.max_cycles > 0 {
        let stretch = (thread.job.max_at.saturating_sub(thread.job.max_cycles), thread.job.max_at);
        places.figure(HighlightKind::LongestJob, name, stretch, thread.job.max_cycles, thread.wcet_cycles);
    }
}

/// The job that came nearest to its deadline, or missed it by most.
fn smallest_margin(report: &Report, places: &mut Places) {
    let margin = |thread: &ThreadReport| thread.smallest_margin.zip(thread.worst_job);
    let timed = report.threads.iter().filter_map(|thread| Some((thread, margin(thread)?)));
    let Some((thread, (margin, job))) = timed.min_by_key(|(_, (margin, _))| *margin) else { return };
    let place = places.add(HighlightKind::SmallestMargin, &thread.name, (job.released_at, job.completed_at));
    (place.cycles, place.limit) = (Some(margin), thread.deadline_cycles);
}

/// The first fault of each kind and place, then more of them.
fn faults(report: &Report, places: &mut Places) {
    let mut seen: BTreeMap<_, usize> = BTreeMap::new();
    let nth = |fault: &FaultReport| {
        let count = seen.entry((fault.domain, fault.kind.clone(), fault.symbol.clone())).or_default();
        *count += 1;
        *count
    };
    let counts: Vec<usize> = report.faults.iter().map(nth).collect();
    let mut order: Vec<_> = report.faults.iter().zip(counts).collect();
    order.sort_by_key(|(fault, nth)| (*nth, fault.at));
    order.truncate(MAX_FAULT_PLACES);
    order.sort_by_key(|(fault, _)| fault.at);
    for (fault, _) in order {
        places.add(HighlightKind::Fault, domain_name(report, fault.domain), (fault.at, fault.at));
    }
}
