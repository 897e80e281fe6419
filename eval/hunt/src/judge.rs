//! Verdict on who was harmed, from the report of a run alone: never from a player's word.

use report::Report;
use report::schema::ThreadReport;
use serde::{Deserialize, Serialize};
use units::Rate;

/// A promise that was not kept to somebody who is not hostile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harm {
    /// `deadline`, `bound`, `gate`, `fault`, `never-released`, or `masked`, which harms everybody.
    pub kind: String,
    /// The domain.
    pub domain: String,
    /// With figures.
    pub text: String,
}

/// Promise to a thread with a deadline, and what it got, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Victim {
    /// `DOMAIN.THREAD`.
    pub name: String,
    /// Jobs released.
    pub releases: u64,
    /// Deadlines missed.
    pub missed: u64,
    /// The longest response.
    pub response: Option<u64>,
    /// Its bound.
    pub bound: Option<u64>,
    /// The deadline.
    pub deadline: u64,
}

impl Victim {
    /// The longest response over its bound.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.response? as f64 / self.bound? as f64)
    }

    /// How little slack admission left: the bound over the deadline.
    pub fn tightness(&self) -> Option<f64> {
        Some(self.bound? as f64 / self.deadline as f64)
    }
}

fn is_hostile(report: &Report, domain: u8) -> bool {
    report.domains.iter().any(|known| known.index == domain && known.hostile)
}

fn domain_of(report: &Report, domain: u8) -> &str {
    report.domains.iter().find(|known| known.index == domain).map_or("?", |known| known.name.as_str())
}

/// Threads with a deadline of domains that are not hostile.
fn innocent(report: &Report) -> impl Iterator<Item = &ThreadReport> {
    let has = |thread: &&ThreadReport| thread.deadline_cycles.is_some() && thread.period_cycles.is_some();
    report.threads.iter().filter(has).filter(|thread| !is_hostile(report, thread.domain))
}

/// Outcome for each thread with a deadline that is not hostile.
pub fn victims(report: &Report) -> Vec<Victim> {
    let one = |thread: &ThreadReport| Victim {
        name: match thread.name.split_once('.') {
            Some(_) => thread.name.clone(),
            None => format!("{}.main", thread.name),
        },
        releases: thread.releases,
        missed: thread.missed_deadlines,
        response: thread.response.as_ref().map(|response| response.max),
        bound: thread.response_bound,
        deadline: thread.deadline_cycles.unwrap_or(0),
    };
    innocent(report).map(one).collect()
}

/// Every harm in a run.
pub fn harms(report: &Report) -> Vec<Harm> {
    let us = |cycles: u64| format!("{:.1} us", Rate::hz(report.run.cpu_hz).us(cycles));
    let mut found = Vec::new();
    for (thread, victim) in innocent(report).zip(victims(report)) {
        let domain = domain_of(report, thread.domain).to_owned();
        let mut harm = |kind: &str, text: String| {
            found.push(Harm { kind: kind.into(), domain: domain.clone(), text: format!("{}: {text}", victim.name) });
        };
        if victim.releases == 0 {
            harm("never-released", "it had no job".into());
        }
        if victim.missed > 0 {
            let longest = victim.response.map_or("none completed".into(), us);
            harm("deadline", format!("{} of {} missed, longest response {longest}", victim.missed, victim.releases));
        }
        if let (Some(response), Some(bound)) = (victim.response, victim.bound)
            && response > bound
        {
            harm("bound", format!("responded after {}, bound {}", us(response), us(bound)));
        }
    }
    let gates = report.gates.iter().filter(|gate| gate.failed > 0 && !is_hostile(report, gate.domain));
    found.extend(gates.map(|gate| Harm {
        kind: "gate".into(),
        domain: domain_of(report, gate.domain).into(),
        text: format!(
            "{}: {} calls failed, {} of {}",
            gate.name,
            gate.failed,
            us(gate.max_cycles),
            us(gate.bound_cycles)
        ),
    }));
    let faulted = report.domains.iter().filter(|domain| domain.faults > 0 && !domain.hostile);
    found.extend(faulted.map(|domain| Harm {
        kind: "fault".into(),
        domain: domain.name.clone(),
        text: format!("{} faults", domain.faults),
    }));
    if let (Some(window), Some(bound)) = (&report.run.longest_masked, report.run.masked_bound_cycles)
        && window.cycles > bound
    {
        found.push(Harm {
            kind: "masked".into(),
            domain: "kernel".into(),
            text: format!("interrupts were masked for {}, bound {}", us(window.cycles), us(bound)),
        });
    }
    found
}
