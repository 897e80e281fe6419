//! `cofferdam bench`

use bench::{Error, Options};
use build_tool::Install;
use manifest::Diagnostic;
use serde_json::json;

use super::one;
use crate::cli::Bench;
use crate::output::{OK, Outcome, Output};

/// Measures, prints the table, writes `bench.json`. A missed target is said, and is no failure of the command.
pub fn run(args: &Bench, output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    let out_dir = args.out.clone().unwrap_or_else(|| install.target.join("bench"));
    let options = Options { out_dir: out_dir.clone(), only: args.only.clone() };
    runner::stop_on_interrupt();
    let rows =
        bench::run(&options, &mut |what| output.progress(what.to_owned())).map_err(|error| one(wrong(&error)))?;
    output.say(bench::table(&rows));
    output.say(format!("rows: {}", out_dir.join("bench.json").display()));
    output.field("rows", json!(rows));
    Ok(OK)
}

pub fn wrong(error: &Error) -> Diagnostic {
    let (code, remedy) = match error {
        Error::Data(refusal) => return refusal.as_ref().clone(),
        Error::Build(_) | Error::Sources(_) => {
            ("CF0506", "see what the compiler said; `cofferdam build eval/systems/bench/system.toml` says more")
        }
        Error::File { .. } => ("CF0604", "make room, or name another directory with --out"),
        Error::NoSuchRow(_) => ("CF0202", "docs/bench.md lists the ids; `--only m7.gate` measures those that begin so"),
        _ => ("CF0605", "see the files of the runs in the output directory"),
    };
    Diagnostic::new(code, error.to_string())
        .rule("every figure is measured in one run under one profile")
        .remedy(remedy)
}
