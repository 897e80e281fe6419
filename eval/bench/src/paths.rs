//! Every path of the kernel with its longest activation: several systems are run, and for each system call and each handler the
//! longest of all of them is a row. The board's declared costs are the rows' targets.

use abi::CALLS;
use record::{Spread, Summary};

use crate::bench::Bench;
use crate::chip::{Chip, Handler};
use crate::costs::FRAMES;
use crate::rows::{Cycles, Target, kinds};
use crate::{Error, Row};

/// The longest activation of a path that was seen.
#[derive(Clone, Debug)]
struct Longest {
    cycles: Spread,
    instructions: Spread,
    most_cycles_in: String,
    most_instructions_in: String,
}

/// A path: the last part of its row's id, its name, and its longest activation.
struct Way {
    id: String,
    about: String,
    longest: Option<Longest>,
}

/// Runs the systems and returns a row for each path.
///
/// # Errors
/// Any error that keeps a system from running to its end.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let chip = bench.chip;
    let mut paths = paths(chip);
    let mut costs = None;
    for system in &chip.systems().paths {
        progress(&format!("kernel paths on {}: {system}", chip.board.name));
        let built = bench.build(system, &mut |_| ())?;
        costs = Some(built.loaded.board.kernel);
        let directory = format!("paths/{system}");
        let watch = bench.watch(&built.kernel)?;
        add(chip, &mut paths, system, &bench.start(system, &built.image, &directory, watch)?.summary);
    }
    // Nothing is run: there are no rows.
    let Some(costs) = costs else { return Ok(Vec::new()) };
    let changes_frames = |id: &str| {
        let of = |call: &abi::CallDoc| FRAMES.contains(&call.call) && id.ends_with(call.name);
        CALLS.iter().any(of)
    };
    let limit = |id: &str| match changes_frames(id) {
        true => costs.masked_frames_cycles,
        false => costs.masked_cycles,
    };
    Ok(paths.into_iter().filter_map(|path| row(bench, &path, limit(&path.id))).collect())
}

/// Calls in the order of their numbers, then handlers.
fn paths(chip: &Chip) -> Vec<Way> {
    let path = |id: String, about: String| Way { id: chip.rows(kinds::PATH) + &id, about, longest: None };
    let calls = CALLS.iter().map(|doc| path(format!("call.{}", doc.name), doc.name.to_uppercase()));
    let handlers =
        Handler::ALL.map(|handler| path(handler.name().to_owned(), chip.exceptions().about(handler).to_owned()));
    calls.chain(handlers).collect()
}

fn add(chip: &Chip, paths: &mut [Way], system: &str, summary: &Summary) {
    let prefix = chip.rows(kinds::PATH);
    let mut seen = |name: Option<String>, cycles, instructions| {
        let name = name.map(|name| prefix.clone() + &name);
        if let Some(path) = name.and_then(|name| paths.iter_mut().find(|path| path.id == name)) {
            path.add(system, cycles, instructions);
        }
    };
    for time in &summary.masked.calls {
        let call = CALLS.iter().find(|doc| doc.call as u32 == time.call);
        seen(call.map(|doc| format!("call.{}", doc.name)), time.cycles, time.instructions);
    }
    for time in &summary.masked.vectors {
        let handler = chip.exceptions().handler(time.exception);
        seen(handler.map(|handler| handler.name().to_owned()), time.cycles, time.instructions);
    }
}

impl Way {
    fn add(&mut self, system: &str, cycles: Spread, instructions: Spread) {
        let system = system.to_owned();
        let new =
            || Longest { cycles, instructions, most_cycles_in: system.clone(), most_instructions_in: system.clone() };
        let longest = self.longest.get_or_insert_with(new);
        if longest.cycles.max < cycles.max {
            (longest.cycles, longest.most_cycles_in) = (cycles, system.clone());
        }
        if longest.instructions.max < instructions.max {
            (longest.instructions, longest.most_instructions_in) = (instructions, system);
        }
    }
}

fn row(bench: &Bench<'_>, path: &Way, limit: u64) -> Option<Row> {
    let longest = path.longest.as_ref()?;
    let short = |system: &str| system.trim_end_matches("/system.toml").trim_end_matches(".toml").to_owned();
    let mut seen_in = short(&longest.most_instructions_in);
    if longest.most_cycles_in != longest.most_instructions_in {
        seen_in += &format!(", {}", short(&longest.most_cycles_in));
    }
    let operation = format!("{}; longest in {seen_in}", path.about);
    Some(Row {
        cycles: Cycles { median: longest.cycles.median, max: longest.cycles.max },
        instructions: longest.instructions.max,
        target: Some(Target { cycles: Some(limit), ..Target::default() }),
        met: Some(longest.cycles.max <= limit),
        command: format!("./cofferdam bench --only {}", bench.chip.rows(kinds::PATH)),
        ..bench.row(path.id.clone(), "Cofferdam", operation)
    })
}
