//! Time: what was used and when, against what was given and promised.

use super::text::{self, moment, time};
use crate::schema::{BudgetReport, Cases, Failure, GateReport, LongJob, Measure, Report, ThreadReport};

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

/// A failure with its place in the manifest and its first case.
fn failure(
    code: &str,
    text: String,
    (place, at): (String, Option<u64>),
    measure: Option<Measure>,
    remedy: &str,
) -> Failure {
    Failure { place: Some(place), at, measure, ..text::failure(code, text, remedy) }
}

/// The thread's name with its domain's, also where it is the only one.
pub(crate) fn who(report: &Report, thread: &ThreadReport) -> String {
    if thread.name == domain_name(report, thread.domain) {
        format!("{}.main", thread.name)
    } else {
        thread.name.clone()
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

/// "3 times, first at 12.345 ms", if it happened.
fn often(report: &Report, cases: Cases) -> Option<String> {
    let first = moment(report, cases.first_at?);
    Some(if cases.count == 1 {
        format!("once, at {first}")
    } else {
        format!("{} times, first at {first}", cases.count)
    })
}

fn deadlines(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    (thread.missed_deadlines > 0).then(|| {
        let ThreadReport { missed_deadlines, late, unfinished, skipped, .. } = thread;
        let name = who(report, thread);
        let most =
            thread.response.map(|seen| seen.max).zip(thread.deadline_cycles).filter(|(max, deadline)| max > deadline);
        let worst = most.map_or(String::new(), |(max, deadline)| {
            format!(
                "; the longest response was {}, deadline {}, over by {}",
                time(report, max),
                time(report, deadline),
                time(report, max - deadline)
            )
        });
        let many = if *missed_deadlines == 1 { "deadline" } else { "deadlines" };
        let text = format!(
            "{name} missed {missed_deadlines} {many}: {late} late, {unfinished} unfinished, {skipped} skipped{worst}."
        );
        let remedy = "see in the report's timeline who ran meanwhile, and whether a job took more than its wcet";
        let measure = match most {
            Some((max, deadline)) => Measure::cycles(max, deadline, 0),
            None => Measure::count(*missed_deadlines, 0, "deadlines"),
        };
        failure("deadline-missed", text, (format!("{}.deadline", place(report, thread)), None), Some(measure), remedy)
    })
}

fn response(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let often = often(report, thread.response_exceeded)?;
    let (name, max, bound) = (who(report, thread), thread.response?.max, thread.response_bound?);
    let text = format!(
        "{name} took {} to respond, bound of admission {}, over by {} ({often}).",
        time(report, max),
        time(report, bound),
        time(report, max.saturating_sub(bound))
    );
    let remedy = "see whether a job called, signalled or missed more than it had declared, or a budget was overdrawn; if not, the bound is wrong";
    let place = (place(report, thread), thread.response_exceeded.first_at);
    Some(failure("response-bound", text, place, Some(Measure::cycles(max, bound, 0)), remedy))
}

/// "job released at 12.000 ms took 113.2 us, wcet 100.0 us, over by 13.2 us".
fn long_job(report: &Report, job: LongJob, wcet: u64) -> String {
    let reload = match job.reload_cycles {
        0 => String::new(),
        cycles => format!(" and {} of reloading", time(report, cycles)),
    };
    let over = job.cycles.saturating_sub(wcet).saturating_sub(job.reload_cycles);
    format!(
        "job released at {} took {}, wcet {}{reload}, over by {}",
        moment(report, job.released_at),
        time(report, job.cycles),
        time(report, wcet),
        time(report, over)
    )
}

fn wcet(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let (first, worst, wcet) = (thread.job.first?, thread.job.worst?, thread.wcet_cycles?);
    let name = who(report, thread);
    let more = match thread.job.exceeded.count {
        1 => String::new(),
        jobs if worst == first => format!(" (the first and worst of {jobs} such jobs)"),
        jobs => format!(" (the first of {jobs} such jobs; the worst: {})", long_job(report, worst, wcet)),
    };
    let text = format!("{name}: {}{more}.", long_job(report, first, wcet));
    let remedy = wcet_remedy(report, worst, wcet);
    let place = (format!("{}.wcet", place(report, thread)), thread.job.exceeded.first_at);
    let measure = Measure::cycles(worst.cycles, wcet, worst.reload_cycles);
    Some(failure("wcet-exceeded", text, place, Some(measure), &remedy))
}

/// The remedy for a job that took more than its wcet. One that declares no `reload` and went on after others may be innocent: its `wcet` was measured
/// without what they put out of caches.
fn wcet_remedy(report: &Report, worst: LongJob, wcet: u64) -> String {
    let usual = "declare a larger wcet and see what `cofferdam check` says, or make the job shorter";
    match (worst.reload_cycles, worst.resumed) {
        (0, times @ 1..) => format!(
            "it went on {times} times after others had run: if its `wcet` was measured without them, declare `reload` ({} at least, from this job) for \
             what they put out of caches; otherwise {usual}",
            time(report, worst.cycles.saturating_sub(wcet).div_ceil(times))
        ),
        _ => usual.into(),
    }
}

fn release(report: &Report, thread: &ThreadReport) -> Option<Failure> {
    let often = often(report, thread.release_late)?;
    let (name, late, bound) = (who(report, thread), thread.release_late_cycles, report.run.release_late_bound_cycles);
    let text = format!(
        "Less important code ran for {} while {name} was to be released; the timer is late by at most {}, over by {} ({often}).",
        time(report, late),
        time(report, bound),
        time(report, late.saturating_sub(bound))
    );
    let remedy = "the kernel armed its timer too late, or `shortest_ticks` and `start_ticks` of the board's clock are too few: report it";
    let place = (format!("{}.period", place(report, thread)), thread.release_late.first_at);
    Some(failure("release-late", text, place, Some(Measure::cycles(late, bound, 0)), remedy))
}

fn overdraft(report: &Report, budget: &BudgetReport) -> Option<Failure> {
    let often = often(report, budget.overdrawn)?;
    let (name, more) = (&budget.name, budget.tolerance_cycles);
    let in_period = budget.max_used_cycles > budget.limit_cycles;
    let (used, given, where_) = match budget.tightest_window.filter(|_| !in_period) {
        Some(window) => {
            let length = time(report, window.to.saturating_sub(window.from));
            (window.used_cycles, window.bound_cycles, format!("a window of {length}"))
        }
        None => (budget.max_used_cycles, budget.capacity_cycles, "one period".to_owned()),
    };
    let text = format!(
        "Budget {name} was used for {} in {where_}, supply {}, tolerance {}, over by {} ({often}).",
        time(report, used),
        time(report, given),
        time(report, more),
        time(report, used.saturating_sub(given).saturating_sub(more))
    );
    let remedy = "no program can do this to others if the kernel keeps docs/time.md: report it, with the manifest";
    let place = (format!("budget.{name}"), budget.overdrawn.first_at);
    Some(failure("budget-overdrawn", text, place, Some(Measure::cycles(used, given, more)), remedy))
}

fn tolerance(report: &Report, budget: &BudgetReport) -> Option<Failure> {
    let limit = budget.tolerance.limit_cycles.filter(|limit| budget.tolerance_cycles > *limit)?;
    let text = format!(
        "Use of budget {} can be judged to {} only, limit {}, over by {}; {} of that are the longest path with interrupts masked.",
        budget.name,
        time(report, budget.tolerance_cycles),
        time(report, limit),
        time(report, budget.tolerance_cycles - limit),
        time(report, budget.tolerance.path_cycles)
    );
    let at = report.run.longest_masked.as_ref().map(|window| window.at);
    let remedy = "the board's file bounds the kernel's paths too low, or one became longer: see `run.longest_masked`";
    let measure = Measure::cycles(budget.tolerance_cycles, limit, 0);
    Some(failure("tolerance", text, (format!("budget.{}", budget.name), at), Some(measure), remedy))
}

fn gate(report: &Report, gate: &GateReport) -> Option<Failure> {
    let often = often(report, gate.exceeded)?;
    let (name, bound) = (&gate.name, gate.bound_cycles);
    let failed = gate.max_cycles <= bound;
    let (used, slack) = if failed { (gate.max_failed_cycles, gate.slack_cycles) } else { (gate.max_cycles, 0) };
    let caller = gate.exceeded_by.and_then(|index| report.threads.iter().find(|thread| thread.index == index));
    let text = format!(
        "A{} call of gate {name}{} ran for {}, bound {}{}, over by {} ({often}).",
        if failed { " failed" } else { "" },
        caller.map_or(String::new(), |caller| format!(" by {}", who(report, caller))),
        time(report, used),
        time(report, bound),
        if failed { format!(" and {} to stop it", time(report, slack)) } else { String::new() },
        time(report, used.saturating_sub(bound).saturating_sub(slack))
    );
    let (_, key) = name.split_once('.').unwrap_or(("", name));
    let place = (format!("domain.{}.gate.{key}.bound", domain_name(report, gate.domain)), gate.exceeded.first_at);
    let remedy = "declare a larger bound and see what `cofferdam check` says, or make the callee shorter";
    Some(failure("gate-bound", text, place, Some(Measure::cycles(used, bound, slack)), remedy))
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
    let measure = Measure::count(report.run.mismatches, 0, "stretches");
    Some(failure("context-mismatch", text, (place, Some(first.at)), Some(measure), remedy))
}

fn observer(report: &Report) -> Option<Failure> {
    let broken = report.run.broken_stretches;
    let text =
        format!("{broken} stretches of time ended before they began; no figure of time of this run can be believed.");
    let remedy = "the observer is wrong: report it, with the system";
    let found = failure(
        "observer-broken",
        text,
        ("system".to_owned(), None),
        Some(Measure::count(broken, 0, "stretches")),
        remedy,
    );
    (broken > 0).then_some(found)
}
