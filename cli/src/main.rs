//! The command `cofferdam`. Exit codes: 0 as promised; 1 the run ended, but not as promised, or two reports differ; 2 wrong use of the command; 3 the
//! manifest or a program was refused; 4 a program does not build; 5 a tool is missing or wrong; 6 a file cannot be written;
//! 130 interrupted.
#![forbid(unsafe_code)]

mod cli;
mod output;
mod provenance;
mod table;
mod verbs;

use clap::Parser;

use crate::cli::{Cli, Verb};
use crate::output::Output;

fn main() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let mut output = Output::new(cli.json, cli.quiet, cli.verb.name());
    let result = match &cli.verb {
        Verb::New(args) => verbs::new::run(args, &mut output),
        Verb::Check(args) => verbs::check::run(args, &mut output),
        Verb::Build(args) => verbs::build::run(args, &mut output),
        Verb::Run(args) => verbs::run::run(args, &mut output),
        Verb::Suite(args) => verbs::suite::run(args, &mut output),
        Verb::Debug(args) => verbs::debug::run(args, &mut output),
        Verb::Report(args) => verbs::again::report(args, &mut output),
        Verb::Diff(args) => verbs::diff::run(args, &mut output),
        Verb::Trace(args) => verbs::again::trace(args, &mut output),
        Verb::Bench(args) => verbs::bench::run(args, &mut output),
        Verb::Costs(args) => verbs::costs::run(args, &mut output),
        Verb::Explain(args) => verbs::explain::run(args, &mut output),
        Verb::Boards => verbs::boards::run(&mut output),
        Verb::Sdk(args) => verbs::sdk::run(args, &mut output),
        Verb::Completions(args) => verbs::shell::completions(args, &mut output),
        Verb::Man => verbs::shell::man(&mut output),
        Verb::Schema => verbs::shell::schema(&mut output),
    };
    let code = match result {
        Ok(code) => code,
        Err(diagnostics) => output.refuse(&diagnostics),
    };
    output.finish(code)
}

/// Wrong use of the command, help and version: text, or for who asks for JSON one object with the reason.
fn misused(error: &clap::Error) -> std::process::ExitCode {
    if !error.use_stderr() || !std::env::args_os().any(|argument| argument == "--json") {
        error.exit();
    }
    let mut output = Output::new(true, false, "");
    output.field("usage", serde_json::json!(error.to_string().trim_end()));
    output.finish(output::WRONG_USE)
}
