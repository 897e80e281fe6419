//! Time: what was used and when, against what was given and promised.

use super::{Failure, explained};
use crate::schema::{BudgetReport, Cases, GateReport, Report, ThreadReport};

/// Judges budgets, jobs, gates and releases, and whether the meters can be believed.
pub fn judge(report: &Report, failures: &mut Vec<Failure>) {
    for thread in &report.threads {
        let hostile = is_hostile(report, thread.domain);
        failures.extend(deadlines(report, thread).filter(|_| !hostile));
        failures.extend(response(report, thread));
        failures.extend(wcet(report, thread).filter(|_| !hostile));
        failures.extend(release(report, thread));
    }
    for budget in &report.budgets {
        failures.extend(overdraft(report, budget));
        failures.extend(tolerance(report, budget));
    }
    failures
        .extend(report.gates.iter().filter(|gate| !is_hostile(report, gate.domain)).filter_map(|g| gate(report, g)));
    failures.extend(mismatch(report));
    failures.extend(observer(report));
}

fn is_hostile(report: &Report, domain: u8) -> bool {
    report.domains.iter().any(|d| d.index == domain && d.hostile)
}

fn failure(code: &str, text: String, place: String, at: Option<u64>, remedy: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        explained: explained(code).map(str::to_owned),
        text,
        place: Some(place),
        at,
        remedy: Some(remedy.to_owned()),
    }
}

/// Keys of the manifest that describe a thread.
fn place(report: &Report, thread: &ThreadReport) -> String {
    let before = report.threads.iter().filter(|t| t.domain == thread.domain && t.index < thread.index).count();
    format!("domain.{}.thread[{before}]", domain_name(report, thread.domain))
}

fn domain_name(report: &Report, index: u8) -> &str {
    report.domains.iter().find(|domain| domain.index == index).map_or("?", |domain| &domain.name)
}

/// "3 times, first at 0.001234 s", if it happened.
fn often(report: &Report, cases: Cases) -> Option<String> {
    let first = cases.first_at?;
    let times = if cases.count == 1 { "time" } else { "times" };
    Some(format!("{} {times}, first at {:.6} s", cases.count, first as f64 / report.run.cpu_hz.max(1) as f64))
}

fn deadlines(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    (thread.missed_deadlines > 0).then(|| {
        let ThreadReport { name, missed_deadlines, late, unfinished, skipped, .. } = thread;
        let text = format!(
            "{name} missed {missed_deadlines} deadlines: {late} late, {unfinished} unfinished, {skipped} skipped."
        );
        let remedy = "see in the report's timeline who ran meanwhile, and whether a job took more than its wcet";
        failure("deadline-missed", text, format!("{}.deadline", place(report, thread)), None, remedy)
    })
}

fn response(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let often = often(report, thread.response_exceeded)?;
    let (name, max, bound) = (&thread.name, thread.response?.max, thread.response_bound?);
    let text = format!("{name} took {max} cycles to respond; admission computed at most {bound} ({often}).");
    let remedy = "see whether a job called, signalled or missed more than it had declared, or a budget was overdrawn; if not, the bound is wrong";
    Some(failure("response-bound", text, place(report, thread), thread.response_exceeded.first_at, remedy))
}

fn wcet(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let often = often(report, thread.job.exceeded)?;
    let (name, max, wcet) = (&thread.name, thread.job.max_cycles, thread.wcet_cycles?);
    let text = format!("A job of {name} took {max} cycles in its own domain; its wcet is {wcet} ({often}).");
    let remedy = "declare a larger wcet and see what `cofferdam check` says, or make the job shorter";
    Some(failure(
        "wcet-exceeded",
        text,
        format!("{}.wcet", place(report, thread)),
        thread.job.exceeded.first_at,
        remedy,
    ))
}

fn release(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let often = often(report, thread.release_late)?;
    let (name, late, bound) = (&thread.name, thread.release_late_cycles, report.run.release_late_bound_cycles);
    let text = format!(
        "Less important code ran for {late} cycles while {name} was to be released; the timer is late by at most {bound} ({often})."
    );
    let remedy = "the kernel armed its timer too late, or `shortest_ticks` and `start_ticks` of the board's clock are too few: report it";
    Some(failure(
        "release-late",
        text,
        format!("{}.period", place(report, thread)),
        thread.release_late.first_at,
        remedy,
    ))
}

fn overdraft(report: &Report, budget: &BudgetReport) -> Option<Failure> {
    let often = often(report, budget.overdrawn)?;
    let (name, given, more) = (&budget.name, budget.capacity_cycles, budget.tolerance_cycles);
    let in_period = budget.max_used_cycles > given.saturating_add(more);
    let text = match budget.tightest_window.filter(|_| !in_period) {
        Some(window) => format!(
            "Budget {name} was used for {} cycles in a window of {}, which supplies {} and {more} of tolerance ({often}).",
            window.used_cycles,
            window.to.saturating_sub(window.from),
            window.bound_cycles
        ),
        None => format!(
            "Budget {name} was used for {} cycles in one period; {given} were given, and {more} are tolerated ({often}).",
            budget.max_used_cycles
        ),
    };
    let remedy = "no program can do this to others if the kernel keeps docs/time.md: report it, with the manifest";
    Some(failure("budget-overdrawn", text, format!("budget.{name}"), budget.overdrawn.first_at, remedy))
}

fn tolerance(report: &Report, budget: &BudgetReport) -> Option<Failure> {
    let limit = budget.tolerance.limit_cycles.filter(|limit| budget.tolerance_cycles > *limit)?;
    let text = format!(
        "Use of budget {} can be judged to {} cycles only; the limit is {limit}. {} of them are the longest path with interrupts masked.",
        budget.name, budget.tolerance_cycles, budget.tolerance.path_cycles
    );
    let at = report.run.longest_masked.as_ref().map(|window| window.at);
    let remedy = "the board's file bounds the kernel's paths too low, or one became longer: see `run.longest_masked`";
    Some(failure("tolerance", text, format!("budget.{}", budget.name), at, remedy))
}

fn gate(report: &Report, gate: &GateReport) -> Option<Failure> {
    let often = often(report, gate.exceeded)?;
    let (name, bound, slack) = (&gate.name, gate.bound_cycles, gate.slack_cycles);
    let text = if gate.max_cycles > bound {
        format!("A call of gate {name} ran for {} cycles; its declared bound is {bound} ({often}).", gate.max_cycles)
    } else {
        let max = gate.max_failed_cycles;
        format!(
            "A failed call of gate {name} ran for {max} cycles; its bound is {bound} and to stop it takes {slack} ({often})."
        )
    };
    let (_, key) = name.split_once('.').unwrap_or(("", name));
    let place = format!("domain.{}.gate.{key}.bound", domain_name(report, gate.domain));
    let remedy = "declare a larger bound and see what `cofferdam check` says, or make the callee shorter";
    Some(failure("gate-bound", text, place, gate.exceeded.first_at, remedy))
}

fn mismatch(report: &Report) -> Option<Failure> {
    let first = report.run.mismatch?;
    let thread = |index: Option<u16>| {
        let found = index.and_then(|index| report.threads.iter().find(|thread| thread.index == index));
        found.map_or("nobody", |thread| thread.name.as_str())
    };
    let domain = |index: Option<u8>| index.map_or("no domain", |index| domain_name(report, index));
    let stack = first.seen_stack_of.map(|owner| format!(", on the stack of {}", thread(Some(owner))));
    let text = format!(
        "{} stretches did not run where the kernel said; the first was in {}{}, when the kernel said {} in {}.",
        report.run.mismatches,
        domain(first.seen_domain),
        stack.unwrap_or_default(),
        thread(first.thread),
        domain(first.domain)
    );
    let remedy = "the kernel resumed another context than it traced, so that its account of time is wrong: report it";
    let place = format!("domain.{}", domain(first.seen_domain.or(first.domain)));
    Some(failure("context-mismatch", text, place, Some(first.at), remedy))
}

fn observer(report: &Report) -> Option<Failure> {
    let broken = report.run.broken_stretches;
    let text =
        format!("{broken} stretches of time ended before they began; no figure of time of this run can be believed.");
    let remedy = "the observer is wrong: report it, with the system";
    let found = failure("observer-broken", text, "system".to_owned(), None, remedy);
    (broken > 0).then_some(found)
}
