//! `cofferdam costs`

use bench::costs::{self, Cost, Options};
use std::path::Path;

use build_tool::Install;
use manifest::Diagnostic;
use serde_json::json;

use super::bench::wrong;
use super::one;
use crate::cli::Costs;
use crate::output::{OK, Outcome, Output};

/// Measures and prints the table. With `--write` the board's file gets the new values; without, a path that took longer than it says is refused.
pub fn run(args: &Costs, output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    let file = install.board_file(&args.board, Path::new(".")).map_err(one)?.path;
    let out_dir = args.out.clone().unwrap_or_else(|| install.target.join("costs"));
    let options = Options { board: args.board.clone(), only: args.only.clone(), out_dir };
    runner::stop_on_interrupt();
    let measured = costs::measure(&install, &options, &mut |what| output.progress(what.to_owned()));
    let measured = measured.map_err(|error| one(wrong(&error)))?;
    output.say(costs::table(&measured));
    output.field("costs", json!(measured));
    if args.write {
        costs::write(&file, &measured).map_err(|error| one(wrong(&error)))?;
        output.say(format!("written: {}", file.display()));
        return Ok(OK);
    }
    let exceeded: Vec<Diagnostic> =
        measured.iter().filter(|cost| cost.is_exceeded()).map(|cost| told(args, cost)).collect();
    if exceeded.is_empty() { Ok(OK) } else { Err(exceeded) }
}

fn told(args: &Costs, cost: &Cost) -> Diagnostic {
    let seen = &cost.seen;
    let place = format!("board {}, kernel.{}", args.board, cost.key);
    Diagnostic::new("CF0715", format!("{}: {} took {} cycles", cost.about, seen.path, seen.cycles))
        .value(format!("{} in {}", seen.cycles, seen.system))
        .limit(format!("{} ({place})", cost.declared))
        .rule("admission assumes that no path of the kernel takes longer than the board's file says")
        .remedy(format!("`cofferdam costs --board {} --write`, then check the systems again", args.board))
}
