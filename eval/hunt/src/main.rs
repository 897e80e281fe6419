//! `make hunt`: see docs/time.md. Exit code 0 when nobody was harmed, 1 when somebody was, 2 for wrong use, 5 when something is missing.
#![forbid(unsafe_code)]

mod cli;
mod hunt;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    match hunt::hunt(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(what) => {
            eprintln!("hunt: {what}");
            ExitCode::from(5)
        }
    }
}
