//! The lines of `run` about handlers that interrupts reach without the kernel, and about registers whose stores are recorded.

use report::Report;
use serde_json::json;
use units::Rate;

use crate::output::Output;

/// Says it.
pub fn tell(report: &Report, output: &mut Output) {
    latencies(report, output);
    budgets(report, output);
    outputs(report, output);
}

fn latencies(report: &Report, output: &mut Output) {
    let mut all = Vec::new();
    for line in &report.interrupts {
        let Some(latency) = &line.latency else { continue };
        let seen = latency.cycles;
        output.say(format!(
            "to the handler of {}: {} to {} cycles, median {}, p99 {}, {} times; without an instruction in between {} times, {} cycles at most",
            line.line.name,
            seen.min,
            seen.max,
            seen.median,
            seen.p99,
            latency.count,
            latency.at_once,
            latency.at_once_cycles.max
        ));
        for over in &latency.over {
            let domain = report.domains.iter().find(|domain| Some(domain.index) == over.domain);
            let whose = domain.map_or("nobody", |domain| &domain.name);
            let what = if over.kernel { format!("the kernel, for {whose}") } else { whose.to_owned() };
            let (count, least, most) = (over.count, over.cycles.min, over.cycles.max);
            output.say(format!("  over {what}: {count} times, {least} to {most} cycles"));
        }
        all.push(json!({ "line": line.line.name, "latency": latency }));
    }
    output.field("latencies", json!(all));
}

fn budgets(report: &Report, output: &mut Output) {
    let us = |cycles: u64| Rate::hz(report.run.cpu_hz).us(cycles);
    let mut all = Vec::new();
    for domain in &report.domains {
        let Some(budget) = domain.used.handlers_budget else { continue };
        output.say(format!(
            "handlers of {}: given {:.1} us each {:.1} us, used {:.1} us in the fullest period, overdrawn {} times",
            domain.name,
            us(budget.capacity_cycles),
            us(budget.period_cycles),
            us(budget.max_used_cycles),
            budget.overdrawn.count
        ));
        all.push(json!({ "domain": domain.name, "budget": budget }));
    }
    output.field("handlers", json!(all));
}

fn outputs(report: &Report, output: &mut Output) {
    for seen in &report.outputs {
        let name = &seen.output.name;
        output.say(format!("{name}: {} stores, {} changes", seen.stores, seen.changes));
        for line in seen.sent.iter().flat_map(|text| text.lines()) {
            output.say(format!("{name} sent: {line}"));
        }
    }
    output.field("outputs", json!(report.outputs));
}
