//! The evidence of a run about each attack: faults and refusals from the kernel's trace, and the verdict of the report, which rests on
//! hashes of the victims' memory and on their deadlines. Never the attacker's word.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use abi::trace::{Event, Fault};
use abi::{ERRORS, Error};
use record::{EventsReader, RunEvent};
use serde_json::Value;

use super::{Attack, Scheme};

/// Markers; see `tests/attacks/attacker/src/marks.rs`.
const ATTACK: u16 = 2;
pub(super) const LEAK: u16 = 4;

/// Events from the begin of one attack to that of the next.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Kinds of fault of the attacker, in order.
    pub faults: Vec<&'static str>,
    /// Calls refused, by error.
    pub refused: BTreeMap<&'static str, u64>,
    /// Gate calls that returned an error, by error.
    pub unwound: BTreeMap<&'static str, u64>,
    /// Markers found in registers.
    pub leaks: Vec<u32>,
    /// Cycles from the first of these events to the last.
    pub cycles: u64,
}

/// A run's evidence.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// By line of the order file.
    pub segments: BTreeMap<u32, Segment>,
    /// Codes of the verdict's failures; empty for a clean run.
    pub failures: Vec<String>,
    /// Modelled seconds.
    pub seconds: f64,
    /// `report.json`.
    pub report: Value,
    /// Markers of hostile domains: id and value, in order.
    pub marks: Vec<(u16, u32)>,
}

fn error_name(status: u32) -> Option<&'static str> {
    let error = Error::from_status(status)?;
    ERRORS.iter().find(|known| known.error == error).map(|known| known.name)
}

impl Evidence {
    /// Reads what a run left in the directory of its system.
    ///
    /// # Panics
    /// When the run left nothing that can be read.
    pub fn read(system: &Path) -> Evidence {
        let path = system.join("report.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let failures = report["verdict"]["failures"].as_array().into_iter().flatten();
        let failures = failures.filter_map(|failure| failure["code"].as_str().map(str::to_owned)).collect();
        let attacker = report["domains"].as_array().into_iter().flatten().find(|domain| domain["hostile"] == true);
        let attacker = attacker.and_then(|domain| domain["index"].as_u64()).unwrap_or(0) as u8;
        let (segments, marks) = segments(&system.join("run/events.bin"), attacker);
        let seconds = report["run"]["seconds"].as_f64().unwrap_or(0.0);
        Evidence { segments, failures, seconds, report, marks }
    }

    /// Checks that a marker, of which each life writes one, always had the same value.
    ///
    /// # Panics
    /// When it had not.
    pub fn same_in_every_life(&self, id: u16) {
        let mut values = self.marks.iter().filter(|(mark, _)| *mark == id).map(|(_, value)| *value);
        let first = values.next().unwrap_or_else(|| panic!("no marker {id}"));
        if let Some((life, other)) = values.enumerate().find(|(_, value)| *value != first) {
            panic!("marker {id} was {first:#x} in the first life and {other:#x} in life {}", life + 2);
        }
    }

    /// In what the outcome of an attack differs from what must come of it.
    pub fn shortfalls(&self, line: u32, attack: &Attack, scheme: Scheme) -> Vec<String> {
        let nothing = Segment::default();
        let seen = self.segments.get(&line).unwrap_or(&nothing);
        let mut found = Vec::new();
        if !self.segments.contains_key(&line) {
            found.push("not-tried".to_owned());
        }
        let fault = seen.faults.first().copied();
        let kinds = attack.faults(scheme);
        let expected = if kinds.is_empty() {
            fault.is_none()
        } else {
            fault.is_some_and(|kind| kinds.iter().any(|one| one == kind))
        };
        if !expected {
            found.push("no-fault".to_owned());
        }
        let fewer = |least: &BTreeMap<String, u64>, seen: &BTreeMap<&'static str, u64>| {
            least.iter().any(|(error, least)| seen.get(error.as_str()).copied().unwrap_or(0) < *least)
        };
        if fewer(attack.refused(scheme), &seen.refused) {
            found.push("no-refusal".to_owned());
        }
        if fewer(&attack.unwound, &seen.unwound) {
            found.push("no-unwinding".to_owned());
        }
        if attack.finds_nothing && (seen.leaks.is_empty() || seen.leaks.iter().any(|word| *word != 0)) {
            found.push("leak".to_owned());
        }
        found
    }
}

/// The events of a run, up to the first that cannot be read.
///
/// # Panics
/// When there are none.
pub(super) fn events(path: &Path) -> impl Iterator<Item = RunEvent> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let events = EventsReader::new(file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    events.map_while(Result::ok)
}

fn segments(path: &Path, attacker: u8) -> (BTreeMap<u32, Segment>, Vec<(u16, u32)>) {
    let mut all: BTreeMap<u32, Segment> = BTreeMap::new();
    let (mut line, mut marks, mut begin) = (None, Vec::new(), 0);
    for event in events(path) {
        let Some(kind) = Event::from_number(event.event) else { continue };
        if kind == Event::Mark && event.domain == attacker && event.detail == ATTACK {
            // Lives of one attack follow each other.
            if line != Some(event.payload) {
                begin = event.cycle;
            }
            line = Some(event.payload);
        }
        if kind == Event::Mark && event.domain == attacker {
            marks.push((event.detail, event.payload));
        }
        let Some(line) = line else { continue };
        let segment = all.entry(line).or_default();
        segment.cycles = event.cycle - begin;
        match kind {
            Event::Fault if event.domain == attacker => {
                segment.faults.extend(Fault::from_number(event.detail as u8).map(Fault::name));
            }
            Event::Refused => {
                if let Some(name) = error_name(event.payload) {
                    *segment.refused.entry(name).or_default() += 1;
                }
            }
            Event::GateExit => {
                if let Some(name) = error_name(event.payload) {
                    *segment.unwound.entry(name).or_default() += 1;
                }
            }
            Event::Mark if event.domain == attacker && event.detail == LEAK => segment.leaks.push(event.payload),
            _ => {}
        }
    }
    (all, marks)
}
