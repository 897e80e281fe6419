//! The files of a run's results.

use std::path::{Path, PathBuf};

use manifest::Diagnostic;
use record::EventsFile;
use report::{Report, SystemDescription, WriteError};
use runner::Outcome as Ran;

use crate::output::Output;
use crate::provenance;

/// The files of the results.
pub struct Files {
    /// The report for machines.
    pub json: PathBuf,
    /// The report for people.
    pub html: PathBuf,
    /// The trace.
    pub trace: PathBuf,
}

impl Files {
    /// In `out`, or in the system's directory.
    pub fn new(dir: &Path, out: Option<&Path>) -> Files {
        let base = out.unwrap_or(dir);
        Files { json: base.join("report.json"), html: base.join("report.html"), trace: base.join("trace.json") }
    }

    /// Makes the directory in which all of them are.
    pub fn make_directory(&self) -> Result<(), Diagnostic> {
        let Some(parent) = self.json.parent() else { return Ok(()) };
        std::fs::create_dir_all(parent)
            .map_err(|error| unwritten(&WriteError::Io { path: parent.to_path_buf(), source: error }))
    }

    /// Whether the results can be written there: asked before a run, which takes long. Directories that are made for that are taken away again, so that a
    /// run without results leaves nothing behind.
    pub fn can_be_written(&self) -> Result<(), Diagnostic> {
        let missing: Vec<&Path> = self.json.ancestors().skip(1).take_while(|dir| !dir.exists()).collect();
        let made = self.make_directory();
        let written = made.and_then(|()| {
            report::can_write(&[&self.json, &self.html, &self.trace]).map_err(|error| unwritten(&error))
        });
        for dir in missing {
            // One that is not empty holds what somebody else has put there meanwhile.
            let _ = std::fs::remove_dir(dir);
        }
        written
    }
}

/// CF0604 for a report that cannot be written.
pub fn unwritten(error: &WriteError) -> Diagnostic {
    Diagnostic::new("CF0604", error.to_string())
        .rule("results are written aside and renamed when complete; what stood there before is untouched")
        .remedy("make room, or name another directory with --out")
}

/// The events of a run; the fall-back has none.
pub fn events_of(ran: &Ran) -> Result<Option<EventsFile>, Diagnostic> {
    let bad = |why: record::FormatError| {
        Diagnostic::new("CF0605", format!("`{}` holds no events: {why}", ran.events.display()))
            .rule("a run leaves its events behind")
            .remedy("run the system again")
    };
    ran.summary.modelled.then(|| EventsFile::open(&ran.events).map_err(bad)).transpose()
}

/// The report of a run, from the run's files.
pub fn report_of(system: &SystemDescription, ran: &Ran) -> Result<Report, Diagnostic> {
    let built = match events_of(ran)? {
        Some(events) => Report::build(system, &ran.summary, events),
        None => Report::build(system, &ran.summary, []),
    };
    built.map_err(|error| unwritten(&error))
}

/// Writes `report.json` and `report.html`.
pub fn write_report(
    system: &SystemDescription,
    ran: &Ran,
    files: &Files,
    output: &mut Output,
) -> Result<Report, Diagnostic> {
    output.progress("writing the report".into());
    let mut report = report_of(system, ran)?;
    report.provenance = provenance::kept(&ran.summary_path);
    report.set_console(&record::visible_bytes(&std::fs::read(&ran.uart).unwrap_or_default()));
    let programs = ran.events.parent().and_then(Path::parent);
    let elf = |name: &str| std::fs::read(programs?.join(format!("{name}.elf"))).ok();
    report.trace_calls(system, &ran.summary, &elf);
    files.make_directory()?;
    report.write(&files.json, &files.html).map_err(|error| unwritten(&error))?;
    output.end_progress();
    Ok(report)
}
