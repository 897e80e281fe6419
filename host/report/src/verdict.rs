//! Whether a run is what was promised.

use crate::schema::{DomainReport, Failure, Report, Verdict};

/// Judges a report whose other parts are complete. Faults, refused calls and exit codes of domains that the manifest calls hostile are
/// expected; everything else holds for all.
pub fn judge(report: &Report) -> Verdict {
    let mut failures = Vec::new();
    end(report, &mut failures);
    threads(report, &mut failures);
    meters(report, &mut failures);
    domains(report, &mut failures);
    isolation(report, &mut failures);
    Verdict { ok: failures.is_empty(), failures }
}

fn fail(failures: &mut Vec<Failure>, code: &str, text: String) {
    failures.push(Failure { code: code.to_owned(), text });
}

fn end(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    if !run.finished {
        fail(failures, "run-unfinished", format!("The run did not end as it was meant to: {}.", run.end));
    }
    if let Some(status) = run.status.filter(|&status| status != 0) {
        fail(failures, "run-status", format!("The run ended with status {status}."));
    }
    if !run.modelled {
        fail(failures, "run-not-modelled", "Time was not modelled; no figure in cycles means anything.".to_owned());
    }
    if run.lost_events > 0 {
        let text = format!("{} of {} trace records are lost.", run.lost_events, run.events + run.lost_events);
        fail(failures, "trace-lost", text);
    }
    if run.strange_events > 0 {
        let text = format!("{} of {} trace records made no sense.", run.strange_events, run.events);
        fail(failures, "trace-strange", text);
    }
    if let (Some(window), Some(bound)) = (&run.longest_masked, run.masked_bound_cycles)
        && window.cycles > bound
    {
        let text = format!("Interrupts were masked for {} cycles; the bound is {bound}.", window.cycles);
        fail(failures, "masked-bound", text);
    }
}

fn threads(report: &Report, failures: &mut Vec<Failure>) {
    for thread in &report.threads {
        let hostile = report.domains.iter().any(|domain| domain.index == thread.domain && domain.hostile);
        if thread.missed_deadlines > 0 && !hostile {
            let (name, missed) = (&thread.name, thread.missed_deadlines);
            let (late, unfinished, skipped) = (thread.late, thread.unfinished, thread.skipped);
            let text =
                format!("{name} missed {missed} deadlines: {late} late, {unfinished} unfinished, {skipped} skipped.");
            fail(failures, "deadline-missed", text);
        }
        if let (Some(response), Some(bound)) = (&thread.response, thread.response_bound)
            && response.max > bound
        {
            let (name, max) = (&thread.name, response.max);
            let text = format!("{name} took {max} cycles to respond; admission computed at most {bound}.");
            fail(failures, "response-bound", text);
        }
    }
}

fn meters(report: &Report, failures: &mut Vec<Failure>) {
    for budget in &report.budgets {
        if budget.max_used_cycles > budget.capacity_cycles + budget.tolerance_cycles {
            let (name, used, given) = (&budget.name, budget.max_used_cycles, budget.capacity_cycles);
            let text = format!("Budget {name} was used for {used} cycles in one period; {given} were given.");
            fail(failures, "budget-overdrawn", text);
        }
    }
    let hostile = |index: u8| report.domains.iter().any(|domain| domain.index == index && domain.hostile);
    for gate in report.gates.iter().filter(|gate| !hostile(gate.domain)) {
        // The kernel stops a call that exceeds its bound at the next timer interrupt and counts it as failed.
        if gate.max_cycles > gate.bound_cycles {
            let (name, max, bound) = (&gate.name, gate.max_cycles, gate.bound_cycles);
            let text = format!("A call of gate {name} ran for {max} cycles; its declared bound is {bound}.");
            fail(failures, "gate-bound", text);
        }
    }
}

fn domains(report: &Report, failures: &mut Vec<Failure>) {
    for domain in report.domains.iter().filter(|domain| !domain.hostile) {
        let DomainReport { name, faults, .. } = domain;
        if *faults > 0 {
            fail(failures, "domain-fault", format!("Domain {name} faulted {faults} times."));
        }
        if let Some(code) = domain.exit_code.filter(|&code| code != 0) {
            fail(failures, "exit-code", format!("Domain {name} ended with code {}.", code as i32));
        }
    }
}

/// Says what was wrong with translation, each kind once with its first case. How many cases of all kinds are listed.
fn translation(report: &Report, failures: &mut Vec<Failure>) -> u64 {
    let mut listed = 0;
    for code in ["stale-translation", "unclean-table"] {
        let cases = report.violations.iter().filter_map(|violation| Some((violation, violation.broken.as_ref()?)));
        let mut cases = cases.filter(|(_, broken)| broken.failure == code);
        let Some((first, broken)) = cases.next() else { continue };
        let count = 1 + cases.count() as u64;
        listed += count;
        let place = first.symbol.as_ref().map_or(String::new(), |symbol| format!(" in {symbol}"));
        let text = format!(
            "{count} times: {}; first at {:#010x}{place}, address {:#010x} of space {}. Rule: {}. Remedy: {}.",
            first.kind, first.pc, first.address, broken.space, broken.rule, broken.remedy
        );
        fail(failures, code, text);
    }
    listed
}

fn isolation(report: &Report, failures: &mut Vec<Failure>) {
    let broken = translation(report, failures);
    if report.violations_total > broken {
        let text = format!("{} accesses happened that must not have happened.", report.violations_total - broken);
        fail(failures, "violation", text);
    }
    let witness = &report.witness;
    if witness.changed_slices > 0 {
        let text = format!("Memory of other domains changed in {} slices of a hostile domain.", witness.changed_slices);
        fail(failures, "witness-changed", text);
    }
    if witness.stores_outside > 0 {
        let text = format!("Hostile domains completed {} stores outside their own memory.", witness.stores_outside);
        fail(failures, "witness-store", text);
    }
}
