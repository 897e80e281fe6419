//! `cofferdam report` and `cofferdam trace`: what can be made of a run's files.

use std::path::{Path, PathBuf};

use build_tool::{Claim, Install, Instead, Origin};
use manifest::{Diagnostic, Document};
use record::Summary;
use report::SystemDescription;
use runner::Outcome as Ran;
use serde_json::json;

use super::program;
use super::results::{Files, events_of, unwritten, write_report};
use super::run::build_and_run;
use super::{instead, one};
use crate::cli::{Again, Trace};
use crate::output::{OK, Outcome, Output};
use crate::provenance;

/// The last run of a system, from its files, which nobody replaces while the claim is held.
fn last(
    install: &Install,
    subject: &Path,
    asked: Instead,
    output: &mut Output,
) -> Result<(PathBuf, SystemDescription, Ran, Claim), Vec<Diagnostic>> {
    let lone = program::is_program(subject);
    let document = (subject.is_file() && !lone).then(|| Document::read(subject)).transpose().map_err(one)?;
    let (name, own) = match &document {
        _ if lone => (program::results(subject), None),
        Some(Document { manifest, .. }) => (manifest.system.name.clone(), Some(manifest.system.board.clone())),
        None => (subject.display().to_string(), None),
    };
    let other = asked.board.filter(|board| own.as_deref() != Some(board));
    let board = other.map(|board| install.board_file(board, Path::new("."))).transpose().map_err(one)?;
    let name = build_tool::results_of(&name, board.as_ref().map(|board| &*board.name), asked.profile);
    let dir = install.system_dir(&name);
    let none = |what: &Path| {
        one(Diagnostic::new(
            "CF0501",
            format!("there is no run of `{name}`: `{}` is missing or damaged", what.display()),
        )
        .rule("a report is made from the files of a run")
        .remedy(match other {
            None if lone => "say of which board's run: `--board BOARD`".into(),
            Some(board) if lone => format!("run it first: `cofferdam run --board {board} {}`", subject.display()),
            Some(board) => format!("run the system first: `cofferdam run system.toml --board {board}`"),
            None => "run the system first: `cofferdam run system.toml`".into(),
        }))
    };
    let layout = dir.join("layout.json");
    if !layout.is_file() {
        return Err(none(&layout));
    }
    let claim = install.claim(&name, &mut || output.wait(&name)).map_err(one)?;
    if let Some(document) = &document {
        whose(document, &dir).map_err(one)?;
    }
    let text = std::fs::read_to_string(&layout).map_err(|_| none(&layout))?;
    let system: SystemDescription = serde_json::from_str(&text).map_err(|_| none(&layout))?;
    let run = dir.join("run");
    let path = run.join("summary.json");
    let text = std::fs::read_to_string(&path).map_err(|_| none(&path))?;
    let summary = Summary::from_json(&text).map_err(|_| none(&path))?;
    let ran = Ran {
        summary,
        summary_path: path,
        events: run.join("events.bin"),
        uart: run.join("uart.txt"),
        output: run.join("simulator.log"),
    };
    Ok((dir, system, ran, claim))
}

/// Refuses results that were built from another manifest, or from this one before it was changed.
fn whose(document: &Document, dir: &Path) -> Result<(), Diagnostic> {
    let origin = Origin::read(dir);
    let own = Origin::of(document);
    if origin.as_ref() == Some(&own) {
        return Ok(());
    }
    let found = match &origin {
        Some(origin) if origin.manifest() == own.manifest() => "its text before a change",
        Some(origin) => origin.manifest(),
        None => "nobody's, or a build that did not end",
    };
    Err(Diagnostic::new("CF0511", format!("the last run is not one of `{}` as it is now", document.path.display()))
        .value(found)
        .rule("a report belongs to the manifest that was run")
        .remedy("run the system again"))
}

/// Writes the report of the last run again.
pub fn report(args: &Again, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.subject).map_err(one)?;
    let (dir, system, ran, _claim) = last(&install, &args.subject, instead(&args.board, &args.profile), output)?;
    let files = Files::new(&dir, args.out.as_deref());
    let report = write_report(&system, &ran, &files, output).map_err(one)?;
    output.say(format!("report: {}", files.html.display()));
    output.field("report_json", json!(files.json));
    output.field("report_html", json!(files.html));
    output.field("verdict", json!(report.verdict));
    Ok(OK)
}

/// Runs (or takes the last run) and writes the trace.
pub fn trace(args: &Trace, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.run.subject).map_err(one)?;
    let (dir, system, ran, _claim) = if args.last {
        last(&install, &args.run.subject, instead(&args.run.board, &args.run.profile), output)?
    } else {
        let (built, ran) = build_and_run(&install, &args.run, output)?;
        (built.dir, built.description, ran, built.claim)
    };
    let files = Files::new(&dir, args.run.out.as_deref());
    output.progress("writing the trace".into());
    files.make_directory().map_err(one)?;
    let events = events_of(&ran).map_err(one)?.into_iter().flatten();
    let origin = provenance::kept(&ran.summary_path);
    report::trace::write(&files.trace, &system, origin.as_ref(), events).map_err(|error| one(unwritten(&error)))?;
    output.say(format!("trace: {} (open it at ui.perfetto.dev or in chrome://tracing)", files.trace.display()));
    output.field("trace", json!(files.trace));
    Ok(OK)
}
