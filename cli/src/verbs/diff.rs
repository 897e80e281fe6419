//! `cofferdam diff`: two reports beside each other.

use std::path::{Path, PathBuf};

use build_tool::Install;
use manifest::Diagnostic;
use report::compare::Comparison;
use report::{Report, SCHEMA};
use serde_json::json;

use super::one;
use crate::cli::Diff;
use crate::output::{NOT_AS_PROMISED, OK, Outcome, Output};

/// Says what changed from one report to the other.
pub fn run(args: &Diff, output: &mut Output) -> Outcome {
    let [earlier, later] = [read(&args.earlier).map_err(one)?, read(&args.later).map_err(one)?];
    let found = Comparison::of(&earlier, &later, args.above);
    output.say(found.text(later.run.cpu_hz).trim_end());
    output.field("comparison", json!(found));
    Ok(if found.is_equal() { OK } else { NOT_AS_PROMISED })
}

/// The file that a path means: itself, the report in a directory, or that of a system's last run.
fn file(subject: &Path) -> PathBuf {
    let inside = |directory: &Path| directory.join("report.json");
    if subject.is_dir() {
        return inside(subject);
    }
    let name = subject.to_str().filter(|name| manifest::name_ok(name) && !subject.exists());
    let found = name.and_then(|name| Some(inside(&Install::find().ok()?.system_dir(name))));
    found.filter(|path| path.is_file()).unwrap_or_else(|| subject.to_owned())
}

fn read(subject: &Path) -> Result<Report, Diagnostic> {
    let path = file(subject);
    let refused = |why: String| {
        Diagnostic::new("CF0522", format!("`{}` cannot be compared", path.display()))
            .value(why)
            .limit(format!(
                "a report.json of schema {SCHEMA}, a directory with one, or the name of a system that was run"
            ))
            .rule("reports of one schema are compared")
    };
    // Devices and pipes have no end.
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(
            refused("it is no regular file".to_owned()).remedy("name the report.json that `cofferdam run` wrote")
        );
    }
    let text = std::fs::read_to_string(&path).map_err(|error| {
        refused(error.to_string())
            .remedy("run the system first: `cofferdam run`, with --out DIRECTORY to keep the report")
    })?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| refused(error.to_string()).remedy("name the report.json that `cofferdam run` wrote"))?;
    let schema = value.get("schema").and_then(serde_json::Value::as_u64);
    if schema != Some(SCHEMA.into()) {
        let seen = schema.map_or_else(|| "it names no schema".to_owned(), |schema| format!("schema {schema}"));
        return Err(refused(seen).remedy("write it again with this version: `cofferdam report`, or `cofferdam run`"));
    }
    serde_json::from_value(value)
        .map_err(|error| refused(error.to_string()).remedy("write it again with this version: `cofferdam report`"))
}
