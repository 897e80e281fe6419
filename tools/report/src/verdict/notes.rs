//! What broke no promise to anybody, and an engineer has to know all the same.

use super::text::{moment, time, times};
use crate::schema::{DomainReport, InterruptReport, Report};

/// A sentence about each.
pub fn of(report: &Report) -> Vec<String> {
    let handlers = report.domains.iter().flat_map(|domain| handlers(report, domain));
    let lines = report.interrupts.iter().filter_map(|line| separation(report, line));
    let cut = report.unprinted.iter().filter(|unprinted| !unprinted.ended).filter_map(|unprinted| {
        let domain = report.domains.iter().find(|domain| domain.index == unprinted.domain && !domain.hostile)?;
        let writes = unprinted.writes;
        Some(format!("The run ended before the console had printed the last {writes} writes of {}.", domain.name))
    });
    handlers.chain(lines).chain(cut).chain(report.domains.iter().filter_map(|domain| stopped(report, domain))).collect()
}

fn stopped(report: &Report, domain: &DomainReport) -> Option<String> {
    let stopped = domain.stopped.filter(|_| !domain.hostile)?;
    let by = report.domains.iter().find(|other| other.index == stopped.by && !other.hostile)?;
    let at = moment(report, stopped.at);
    Some(format!("{} stopped {} at {at}: deadlines from then on were not judged.", by.name, domain.name))
}

fn handlers(report: &Report, domain: &DomainReport) -> Vec<String> {
    let (name, Some(budget)) = (&domain.name, domain.used.handlers_budget) else { return Vec::new() };
    let given = format!("{} each {}", time(report, budget.capacity_cycles), time(report, budget.period_cycles));
    let cut_off = budget.cut_off.first_at.map(|first| {
        let (often, first) = (times(budget.cut_off.count), moment(report, first));
        format!("Handlers of {name} were cut off {often}, first at {first}: they had used up their {given}. A handler that loops, or does not acknowledge its device, uses up whatever it has.")
    });
    let overdrawn = budget.overdrawn.first_at.map(|first| {
        let (periods, most) = (budget.overdrawn.count, time(report, budget.max_overdrawn_cycles));
        let (tolerated, first) = (time(report, budget.tolerance_cycles), moment(report, first));
        format!("Handlers of {name} used more than {given} and the {tolerated} that are tolerated, in {periods} periods, by {most} at most, first at {first}.")
    });
    cut_off.into_iter().chain(overdrawn).collect()
}

fn separation(report: &Report, line: &InterruptReport) -> Option<String> {
    let separation = line.separation?;
    let (first, shortest) = (separation.broken.first_at?, separation.shortest_cycles?);
    Some(format!(
        "Interrupts of {} came sooner than their separation of {} {}, {} after the one before at least, first at {}. Declare what the device keeps; a handler that does not acknowledge its device is entered again as soon as it returns.",
        line.line.name,
        time(report, separation.declared_cycles),
        times(separation.broken.count),
        time(report, shortest),
        moment(report, first)
    ))
}
