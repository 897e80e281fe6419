//! Prints the command's output: text for people, one JSON object for machines, progress only on a
//! terminal.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use manifest::{Diagnostic, render};
use serde_json::{Map, Value, json};

/// The result of a verb: its exit code, or the refusals.
pub type Outcome = Result<u8, Vec<Diagnostic>>;

/// Everything as promised.
pub const OK: u8 = 0;
/// The run ended, but not as promised.
pub const NOT_AS_PROMISED: u8 = 1;
/// Wrong use of the command.
pub const WRONG_USE: u8 = 2;
/// Interrupted by the user.
pub const INTERRUPTED: u8 = 130;

/// The one place that prints.
pub struct Output {
    json: bool,
    quiet: bool,
    fields: Map<String, Value>,
    bar: Option<ProgressBar>,
}

impl Output {
    /// For one verb.
    pub fn new(json: bool, quiet: bool, verb: &str) -> Output {
        let fields = Map::from_iter([("verb".to_owned(), json!(verb))]);
        Output { json, quiet, fields, bar: None }
    }

    /// A line of text for people.
    pub fn say(&mut self, text: impl AsRef<str>) {
        self.end_progress();
        if !self.json && !self.quiet {
            print_line(text.as_ref());
        }
    }

    /// A line that also who asked for quiet has to see.
    pub fn insist(&mut self, text: impl AsRef<str>) {
        self.end_progress();
        if !self.json {
            print_line(text.as_ref());
        }
    }

    /// A field of the JSON object.
    pub fn field(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Shows the current step; only on a terminal, and gone when the step is done.
    pub fn progress(&mut self, text: String) {
        if self.json || self.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(text);
    }

    /// Removes the line of progress.
    pub fn end_progress(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Prints warnings, which change no exit code.
    pub fn warn(&mut self, warnings: &[Diagnostic]) {
        self.end_progress();
        if self.json {
            let all = self.fields.entry("warnings").or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.extend(warnings.iter().map(|d| json!(d.report()))));
        } else if !self.quiet {
            show(warnings);
        }
    }

    /// Prints refusals and returns the exit code that goes with the first.
    pub fn refuse(&mut self, diagnostics: &[Diagnostic]) -> u8 {
        self.end_progress();
        if self.json {
            let all: Vec<Value> = diagnostics.iter().map(|d| json!(d.report())).collect();
            self.field("diagnostics", Value::Array(all));
        } else {
            show(diagnostics);
        }
        diagnostics.first().map_or(OK, |d| exit_code(d.refusal().code))
    }

    /// Prints the JSON object, if that was asked for, and ends.
    pub fn finish(mut self, code: u8) -> ExitCode {
        self.end_progress();
        if self.json {
            for list in ["diagnostics", "warnings"] {
                self.fields.entry(list).or_insert_with(|| json!([]));
            }
            self.field("ok", json!(code == OK));
            self.field("exit", json!(code));
            print_line(&format!("{:#}", Value::Object(self.fields)));
        }
        ExitCode::from(code)
    }
}

/// Prints diagnostics for people.
fn show(diagnostics: &[Diagnostic]) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for diagnostic in diagnostics {
        eprint!("{}", render(diagnostic, colour));
    }
}

/// Prints a line. An error is ignored: a reader that closed the pipe does not want to read on.
fn print_line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// The exit code that goes with a diagnostic's code.
pub fn exit_code(code: &str) -> u8 {
    match code {
        "CF0506" => 4,
        "CF0604" => 6,
        _ if code.starts_with("CF06") => 5,
        _ if code.starts_with("CF07") => NOT_AS_PROMISED,
        _ => 3,
    }
}
