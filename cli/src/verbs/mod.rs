//! One module for each verb.

pub mod again;
pub mod bench;
pub mod boards;
pub mod build;
pub mod check;
pub mod costs;
pub mod debug;
pub mod diff;
pub mod explain;
pub mod new;
mod outside;
mod program;
mod results;
pub mod run;
pub mod sdk;
pub mod shell;
pub mod suite;

use std::path::Path;

use build_tool::{Built, Install, Instead, Loaded, Options, WAITING};
use manifest::Diagnostic;

use crate::output::{INTERRUPTED, Output};

/// Loads, admits, builds and places a system, with progress.
fn build_system(
    install: &Install,
    loaded: Loaded,
    budgets: bool,
    output: &mut Output,
) -> Result<Built, Vec<Diagnostic>> {
    let system = loaded.document.manifest.system.name.clone();
    output.warn(&loaded.warnings());
    let mut tell = |what: &str| match what {
        WAITING => {
            leave_if_interrupted("built", output);
            output.wait(&system);
        }
        _ => building(&system, what, output),
    };
    runner::stop_on_interrupt();
    let built = build_tool::build(install, loaded, Options { budgets, ..Options::default() }, &mut tell);
    leave_if_interrupted("built", output);
    output.end_progress();
    if let Ok(built) = &built {
        output.warn(&built.warnings);
        output.warn(&build_tool::silent(&built.loaded, &built.placed));
    }
    built
}

/// Says what is built next, unless somebody has interrupted.
fn building(system: &str, what: &str, output: &mut Output) {
    leave_if_interrupted("built", output);
    output.progress(format!("{system}: building {what}"));
}

/// Ends the command when somebody has interrupted, so that nothing is built, or saved: what a compiler is doing then goes to its end, and nothing
/// else begins.
fn leave_if_interrupted(undone: &str, output: &mut Output) {
    if runner::is_interrupted() {
        output.say(format!("interrupted; nothing was {undone}"));
        output.leave(INTERRUPTED);
    }
}

/// Loads the manifest at a path, for another board or profile than its own if one is given.
fn load(install: &Install, path: &Path, instead: Instead) -> Result<Loaded, Vec<Diagnostic>> {
    Loaded::load_for(install, path, instead).map_err(|d| vec![d])
}

/// The board and the profile that a command line names.
fn instead<'a>(board: &'a Option<String>, profile: &'a Option<String>) -> Instead<'a> {
    Instead { board: board.as_deref(), profile: profile.as_deref() }
}

/// Wraps one diagnostic.
fn one(diagnostic: Diagnostic) -> Vec<Diagnostic> {
    vec![diagnostic]
}
