//! Two reports beside each other: what changed, sorted by relevance.
//!
//! Left out are `host`, `provenance`, the timeline and the console: they are no promise, or follow from what is compared.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::schema::{KernelUse, Report};

/// Changes from one report to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences up to this share of the earlier value are none.
    pub above: f64,
    /// Names and boards of the two, when they are not the same.
    pub other_system: Option<[String; 2]>,
    /// Failures of the verdict that came, and that went: code and text.
    pub verdict: Vec<VerdictChange>,
    /// Figures that differ by more than the threshold, the most relevant first.
    pub changes: Vec<Change>,
    /// Figures that were compared.
    pub compared: u64,
    /// Figures that differ by no more than the threshold.
    pub within: u64,
}

/// A failure that only one of the two has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictChange {
    /// Whether the later one has it.
    pub came: bool,
    /// Its code.
    pub code: String,
    /// Keys of the manifest that it is about; empty where it is about none.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// A figure that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Kind of part that it is a figure of.
    pub part: Part,
    /// Name of the thread, budget and so on.
    pub name: String,
    /// The figure, as `report.json` has it.
    pub figure: &'static str,
    /// The unit.
    pub unit: Unit,
    /// In the earlier report; absent where it has none.
    pub before: Option<i64>,
    /// In the later one.
    pub after: Option<i64>,
    /// After less before; absent where one has none.
    pub difference: Option<i64>,
    /// The difference in percent of the earlier value; absent where that is 0 or there is none.
    pub percent: Option<f64>,
    /// Whether the later one is worse; absent where more is neither better nor worse.
    pub worse: Option<bool>,
}

/// Parts of a report, the most relevant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The run as a whole.
    Run,
    /// A thread.
    Thread,
    /// A budget.
    Budget,
    /// A gate.
    Gate,
    /// A domain.
    Domain,
    /// A path of the kernel.
    Kernel,
    /// A memory of the chip, or an image.
    Memory,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Modelled cycles.
    Cycles,
    /// Bytes.
    Bytes,
    /// A number.
    Count,
}

/// Whether more is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Worse,
    Better,
    Neither,
}

type Key = (Part, String, &'static str);
type Figure = (i64, Unit, More);

/// Collects the figures of one report.
#[derive(Default)]
struct Figures(BTreeMap<Key, Figure>);

impl Figures {
    fn add(
        &mut self,
        part: Part,
        name: &str,
        figure: &'static str,
        value: impl TryInto<i64>,
        (unit, more): (Unit, More),
    ) {
        let value = value.try_into().unwrap_or(i64::MAX);
        self.0.insert((part, name.to_owned(), figure), (value, unit, more));
    }

    fn maybe(
        &mut self,
        part: Part,
        name: &str,
        figure: &'static str,
        value: Option<impl TryInto<i64>>,
        of: (Unit, More),
    ) {
        if let Some(value) = value {
            self.add(part, name, figure, value, of);
        }
    }
}

const COST: (Unit, More) = (Unit::Cycles, More::Worse);
const GIVEN: (Unit, More) = (Unit::Cycles, More::Neither);
const BAD: (Unit, More) = (Unit::Count, More::Worse);
const NUMBER: (Unit, More) = (Unit::Count, More::Neither);
const SIZE: (Unit, More) = (Unit::Bytes, More::Worse);

impl Comparison {
    /// Compares an earlier report with a later one. A difference counts when it is more than `above` (a share, 0.02 for 2 %) of the earlier
    /// value; one that appears, goes away or leaves 0 always does, and so does every change of the verdict.
    pub fn of(earlier: &Report, later: &Report, above: f64) -> Comparison {
        let (before, mut after) = (figures(earlier), figures(later));
        let mut found = Comparison { above, verdict: verdict(earlier, later), ..Comparison::default() };
        let names = [earlier, later].map(|report| format!("{} on {}", report.system, report.board));
        found.other_system = (names[0] != names[1]).then_some(names);
        for (key, was) in before.0 {
            let is = after.0.remove(&key);
            found.hold(key, Some(was), is);
        }
        for (key, is) in after.0 {
            found.hold(key, None, Some(is));
        }
        found.changes.sort_by(|a, b| relevance(a).total_cmp(&relevance(b)));
        found
    }

    /// Whether nothing differs by more than the threshold.
    pub fn is_equal(&self) -> bool {
        self.verdict.is_empty() && self.changes.is_empty() && self.other_system.is_none()
    }

    fn hold(&mut self, (part, name, figure): Key, was: Option<Figure>, is: Option<Figure>) {
        let Some((_, unit, more)) = was.or(is) else { return };
        let (before, after) = (was.map(|figure| figure.0), is.map(|figure| figure.0));
        self.compared += 1;
        if before == after {
            return;
        }
        let difference = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let share = before.zip(difference).filter(|(before, _)| *before != 0);
        let share = share.map(|(before, difference)| difference as f64 / before.unsigned_abs() as f64);
        if share.is_some_and(|share| share.abs() <= self.above) {
            self.within += 1;
            return;
        }
        let worse = difference.filter(|_| more != More::Neither).map(|by| (by > 0) == (more == More::Worse));
        let percent = share.map(|share| (share * 1e4).round() / 100.0);
        self.changes.push(Change { part, name, figure, unit, before, after, difference, percent, worse });
    }

    /// For people: one line for each change, with times where the clock of the processor is known.
    pub fn text(&self, cpu_hz: u64) -> String {
        let mut out = String::new();
        self.write(&mut out, cpu_hz).expect("writing to a string does not fail");
        // Names come from a file: nothing in them may steer a terminal.
        record::visible(&out)
    }

    fn write(&self, out: &mut String, cpu_hz: u64) -> std::fmt::Result {
        if let Some([before, after]) = &self.other_system {
            writeln!(out, "other systems: {before}; {after}")?;
        }
        for VerdictChange { came, code, place, text } in &self.verdict {
            let place = if place.is_empty() { String::new() } else { format!(" {place}:") };
            writeln!(out, "{} {code}:{place} {text}", if *came { "fails now" } else { "fails no more" })?;
        }
        let rows: Vec<[String; 6]> = self.changes.iter().map(|change| row(change, cpu_hz)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 6] = std::array::from_fn(width);
        for [what, before, after, by, percent, worse] in &rows {
            let line = format!(
                "{what:w0$}  {before:>w1$} -> {after:>w2$}  {by:>w3$}  {percent:>w4$}  {worse}",
                w0 = widths[0],
                w1 = widths[1],
                w2 = widths[2],
                w3 = widths[3],
                w4 = widths[4]
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        let Comparison { compared, within, .. } = self;
        let changed = self.changes.len();
        writeln!(
            out,
            "{compared} figures compared: {changed} differ by more than {} %, {within} by less, {} not at all",
            self.above * 100.0,
            compared - within - changed as u64
        )
    }
}

/// Smaller is more relevant: what became worse first, then by how much and by part.
fn relevance(change: &Change) -> f64 {
    let class = match (change.part, change.figure, change.worse) {
        (_, "missed_deadlines" | "violations" | "strange_events", Some(true)) => 0.0,
        (_, _, Some(true)) => 1.0,
        (_, _, Some(false)) => 2.0,
        (_, _, None) => 3.0,
    };
    let part = f64::from(change.part as u8);
    let size = change.percent.map_or(1e6, f64::abs).min(1e6);
    class * 1e9 + part * 1e8 - size
}

fn row(change: &Change, cpu_hz: u64) -> [String; 6] {
    let part = serde_json::to_value(change.part).ok().and_then(|part| part.as_str().map(str::to_owned));
    let name = if change.name.is_empty() { String::new() } else { format!(" {}", change.name) };
    let what = format!("{}{name} {}", part.unwrap_or_default(), change.figure);
    let shown =
        |value: Option<i64>| value.map_or_else(|| "none".to_owned(), |value| quantity(value, change.unit, cpu_hz));
    let signed = |value: i64| format!("{}{}", if value > 0 { "+" } else { "" }, quantity(value, change.unit, cpu_hz));
    [
        what,
        shown(change.before),
        shown(change.after),
        change.difference.map(signed).unwrap_or_default(),
        change.percent.map(|percent| format!("{percent:+.2} %")).unwrap_or_default(),
        match change.worse {
            Some(true) => "worse".to_owned(),
            Some(false) => "better".to_owned(),
            None => String::new(),
        },
    ]
}

/// Cycles as microseconds where a clock is known.
fn quantity(value: i64, unit: Unit, cpu_hz: u64) -> String {
    match unit {
        Unit::Cycles if cpu_hz > 0 => format!("{:.3} us", value as f64 * 1e6 / cpu_hz as f64),
        Unit::Cycles => format!("{value} cycles"),
        Unit::Bytes => format!("{value} B"),
        Unit::Count => value.to_string(),
    }
}

fn verdict(earlier: &Report, later: &Report) -> Vec<VerdictChange> {
    let key = |failure: &crate::schema::Failure| (failure.code.clone(), failure.place.clone());
    let only = |here: &Report, there: &Report, came| {
        let others: Vec<_> = there.verdict.failures.iter().map(key).collect();
        let failures = here.verdict.failures.iter().filter(|failure| !others.contains(&key(failure)));
        let change = |failure: &crate::schema::Failure| VerdictChange {
            came,
            code: failure.code.clone(),
            place: failure.place.clone().unwrap_or_default(),
            text: failure.text.clone(),
        };
        failures.map(change).collect::<Vec<_>>()
    };
    let mut changes = only(later, earlier, true);
    changes.extend(only(earlier, later, false));
    changes
}

fn figures(report: &Report) -> Figures {
    let mut all = Figures::default();
    run(report, &mut all);
    threads(report, &mut all);
    shares(report, &mut all);
    memory(report, &mut all);
    for used in &report.kernel_use {
        let name = kernel_path(report, used);
        all.add(Part::Kernel, &name, "max_cycles", used.max_cycles, COST);
        all.add(Part::Kernel, &name, "times", used.stayed + used.switched, NUMBER);
    }
    all
}

fn kernel_path(report: &Report, used: &KernelUse) -> String {
    let known = report.exceptions.iter().find(|exception| exception.number == used.exception);
    let exception = match (known, used.exception) {
        (Some(exception), _) => exception.name.clone(),
        (None, 0) => "start and idling".to_owned(),
        (None, number) => format!("exception {number}"),
    };
    used.call.map_or(exception.clone(), |call| format!("{exception} {}", crate::analyse::call_name(call.into())))
}

fn run(report: &Report, all: &mut Figures) {
    let run = &report.run;
    let mut add = |figure, value: u64, of| all.add(Part::Run, "", figure, value, of);
    add("missed_deadlines", run.missed_deadlines, BAD);
    add("violations", report.violations_total, BAD);
    add("strange_events", run.strange_events, BAD);
    add("faults", run.faults, BAD);
    add("region_misses", run.region_misses, BAD);
    add("refused_calls", run.refused_calls, NUMBER);
    add("switches", run.switches, NUMBER);
    add("cycles", run.cycles, GIVEN);
    add("instructions", run.instructions, NUMBER);
    add("sleep_cycles", run.sleep_cycles, GIVEN);
    let longest = [("longest_masked", &run.longest_masked), ("longest_to_thread", &run.longest_to_thread)];
    for (figure, window) in longest {
        all.maybe(Part::Run, "", figure, window.as_ref().map(|window| window.cycles), COST);
    }
}

fn threads(report: &Report, all: &mut Figures) {
    for thread in &report.threads {
        let response = thread.response;
        let mut add = |figure, value: Option<u64>, of| all.maybe(Part::Thread, &thread.name, figure, value, of);
        add("missed_deadlines", Some(thread.missed_deadlines), BAD);
        add("completions", Some(thread.completions), NUMBER);
        add("overruns", Some(thread.overruns), BAD);
        add("response.max", response.map(|response| response.max), COST);
        add("response.p99", response.map(|response| response.p99), COST);
        add("response.median", response.map(|response| response.median), COST);
        add("response_bound", thread.response_bound, COST);
        add("deadline_cycles", thread.deadline_cycles, GIVEN);
        add("wcet_cycles", thread.wcet_cycles, GIVEN);
        add("job.max_cycles", Some(thread.job.max_cycles).filter(|cycles| *cycles > 0), COST);
        add("release_late_cycles", Some(thread.release_late_cycles), COST);
        add("cycles", Some(thread.cycles), GIVEN);
        let margin = (Unit::Cycles, More::Better);
        all.maybe(Part::Thread, &thread.name, "smallest_margin", thread.smallest_margin, margin);
    }
}

/// Budgets, gates and domains.
fn shares(report: &Report, all: &mut Figures) {
    for budget in &report.budgets {
        let mut add = |figure, value, of| all.add(Part::Budget, &budget.name, figure, value, of);
        add("capacity_cycles", budget.capacity_cycles, GIVEN);
        add("period_cycles", budget.period_cycles, GIVEN);
        add("max_used_cycles", budget.max_used_cycles, COST);
        add("used_cycles", budget.used_cycles, COST);
        add("overdrawn", budget.overdrawn.count, BAD);
        add("exhaustions", budget.exhaustions, BAD);
    }
    for gate in &report.gates {
        let mut add = |figure, value, of| all.add(Part::Gate, &gate.name, figure, value, of);
        add("bound_cycles", gate.bound_cycles, GIVEN);
        add("max_cycles", gate.max_cycles, COST);
        add("calls", gate.calls, NUMBER);
        add("failed", gate.failed, BAD);
        add("exceeded", gate.exceeded.count, BAD);
    }
    for domain in &report.domains {
        let mut add = |figure, value, of| all.add(Part::Domain, &domain.name, figure, value, of);
        add("counters.cycles", domain.counters.cycles, GIVEN);
        add("counters.instructions", domain.counters.instructions, NUMBER);
        add("counters.kernel_cycles", domain.counters.kernel_cycles, COST);
        add("region_misses", domain.region_misses, BAD);
        add("region_miss_cycles", domain.region_miss_cycles, COST);
        add("faults", domain.faults, BAD);
        add("restarts", domain.restarts, NUMBER);
        all.maybe(Part::Domain, &domain.name, "exit_code", domain.exit_code, NUMBER);
    }
}

fn memory(report: &Report, all: &mut Figures) {
    for memory in &report.memories {
        all.add(Part::Memory, &memory.name, "used", memory.used, SIZE);
    }
    let kernel = ("kernel", &report.kernel_image);
    let domains = report.domains.iter().map(|domain| (domain.name.as_str(), &domain.image));
    for (name, image) in std::iter::once(kernel).chain(domains) {
        let parts = [("text", image.text), ("rodata", image.rodata), ("data", image.data), ("bss", image.bss)];
        parts.into_iter().for_each(|(part, bytes)| all.add(Part::Memory, &format!("image {name}"), part, bytes, SIZE));
    }
}
