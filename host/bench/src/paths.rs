//! Every path of the kernel with its longest activation: several systems are run, and for each system call and each handler the
//! longest of all of them is a row. The board's declared costs are the rows' targets.

use std::ops::RangeInclusive;
use std::path::Path;

use abi::CALLS;
use build_tool::{Install, Profile};
use record::{Spread, Summary};
use runner::Tools;

use crate::rows::{Cycles, Target};
use crate::{Error, Row, systems};

/// Beginning of the ids of all rows of this kind.
pub const PREFIX: &str = "m7.path.";

/// What is run. Together they take every path: real work, hostile calls of every kind, deaths, and crowds.
const SYSTEMS: [&str; 6] = [
    "tests/paths/system.toml",
    "examples/bench/system.toml",
    "tests/attacks/system.toml",
    "tests/attacks/random.toml",
    "tests/manager/hostile.toml",
    "examples/gateway/system.toml",
];
/// Calls that are long where somebody holds frames: they change what frames are and who may use them. A restart takes away what was mapped.
const FRAMES: [&str; 6] =
    ["frames_retype", "frames_map", "frames_unmap", "frames_clean", "nodes_give", "domain_restart"];
/// What is no call: last part of the id, what it is, and the exceptions (DDI 0403 B1.5.2) that it serves.
const HANDLERS: [(&str, &str, RangeInclusive<u16>); 3] = [
    ("fault", "fault or miss", 3..=6),
    ("timer", "timer, all that is due", 15..=15),
    ("interrupt", "another interrupt", 16..=255),
];

/// The longest activation of a path that was seen.
#[derive(Clone, Copy, Debug)]
struct Longest {
    cycles: Spread,
    instructions: Spread,
    most_cycles_in: &'static str,
    most_instructions_in: &'static str,
}

/// A path: the last part of its row's id, what it is, and what was seen of it.
struct Way {
    id: String,
    about: String,
    longest: Option<Longest>,
}

/// Runs the systems and returns a row for each path.
///
/// # Errors
/// Whatever keeps a system from running to its end.
pub fn measure(
    install: &Install,
    tools: &Tools,
    profile: &Profile,
    out: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let mut paths = paths();
    let mut costs = None;
    for system in SYSTEMS {
        progress(&format!("kernel paths: {system}"));
        let built = systems::build(install, system, &mut |_| ())?;
        costs = Some(built.loaded.board.kernel);
        let directory = out.join("paths").join(system);
        let watch = systems::watch(&built.kernel, profile)?;
        add(&mut paths, system, &systems::start(system, &built.image, &directory, watch, tools)?.summary);
    }
    let costs = costs.ok_or_else(|| Error::Run("no system".to_owned()))?;
    let limit = |id: &str| match FRAMES.iter().any(|call| id.ends_with(call)) {
        true => costs.masked_frames_cycles,
        false => costs.masked_cycles,
    };
    Ok(paths.into_iter().filter_map(|path| row(&path, limit(&path.id))).collect())
}

/// Calls in the order of their numbers, then handlers.
fn paths() -> Vec<Way> {
    let path = |id: String, about: String| Way { id, about, longest: None };
    let calls = CALLS.iter().map(|doc| path(format!("{PREFIX}call.{}", doc.name), doc.name.to_uppercase()));
    let handlers = HANDLERS.iter().map(|(id, about, _)| path(format!("{PREFIX}{id}"), (*about).to_owned()));
    calls.chain(handlers).collect()
}

fn add(paths: &mut [Way], system: &'static str, summary: &Summary) {
    let mut seen = |name: Option<String>, cycles, instructions| {
        if let Some(path) = name.and_then(|name| paths.iter_mut().find(|path| path.id == name)) {
            path.add(system, cycles, instructions);
        }
    };
    for time in &summary.masked.calls {
        let call = CALLS.iter().find(|doc| doc.call as u32 == time.call);
        seen(call.map(|doc| format!("{PREFIX}call.{}", doc.name)), time.cycles, time.instructions);
    }
    for time in &summary.masked.vectors {
        let handler = HANDLERS.iter().find(|handler| handler.2.contains(&time.exception));
        seen(handler.map(|handler| format!("{PREFIX}{}", handler.0)), time.cycles, time.instructions);
    }
}

impl Way {
    fn add(&mut self, system: &'static str, cycles: Spread, instructions: Spread) {
        let new = Longest { cycles, instructions, most_cycles_in: system, most_instructions_in: system };
        let longest = self.longest.get_or_insert(new);
        if longest.cycles.max < cycles.max {
            (longest.cycles, longest.most_cycles_in) = (cycles, system);
        }
        if longest.instructions.max < instructions.max {
            (longest.instructions, longest.most_instructions_in) = (instructions, system);
        }
    }
}

fn row(path: &Way, limit: u64) -> Option<Row> {
    let longest = path.longest?;
    let short = |system: &str| system.trim_end_matches("/system.toml").trim_end_matches(".toml").to_owned();
    let mut seen_in = short(longest.most_instructions_in);
    if longest.most_cycles_in != longest.most_instructions_in {
        seen_in += &format!(", {}", short(longest.most_cycles_in));
    }
    let operation = format!("{}; longest in {seen_in}", path.about);
    Some(Row {
        cycles: Cycles { median: longest.cycles.median, max: longest.cycles.max },
        instructions: longest.instructions.max,
        target: Some(Target { cycles: Some(limit), ..Target::default() }),
        met: Some(longest.cycles.max <= limit),
        command: format!("./cofferdam bench --only {PREFIX}"),
        ..systems::row(path.id.clone(), "Cofferdam", operation)
    })
}
