//! Prints the command's output: text for people, one JSON object for machines, progress only on a
//! terminal.

use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use manifest::{Diagnostic, render};
use record::{visible, visible_bytes, visible_json};
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

/// A path as an argument of a command that is shown: a shell reads it as one word, and no command as an option.
pub fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The one place that prints.
pub struct Output {
    json: bool,
    quiet: bool,
    fields: Map<String, Value>,
    bar: Option<ProgressBar>,
    /// The line that says for what it waits, once it stands there.
    waited: String,
    /// Bytes of the console that were shown.
    heard: u64,
}

impl Output {
    /// For one verb.
    pub fn new(json: bool, quiet: bool, verb: &str) -> Output {
        let fields = Map::from_iter([("verb".to_owned(), json!(verb))]);
        Output { json, quiet, fields, bar: None, waited: String::new(), heard: 0 }
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

    /// Shows what has come into the console's file since this was called last: whole lines, or, when the run is over, everything.
    pub fn console(&mut self, file: &Path, over: bool) {
        if self.json || self.quiet {
            return;
        }
        let mut new = Vec::new();
        let read = File::open(file).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.heard))?;
            file.read_to_end(&mut new)
        });
        let whole = if over { new.len() } else { new.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
        if read.is_err() || whole == 0 {
            return;
        }
        self.heard += whole as u64;
        let bytes = &new[..whole];
        let bytes = if over { bytes.trim_ascii_end() } else { bytes.strip_suffix(b"\n").unwrap_or(bytes) };
        if over && bytes.is_empty() {
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| print_bytes(bytes)),
            None => print_bytes(bytes),
        }
    }

    /// A field of the JSON object.
    pub fn field(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Shows the current step; only on a terminal, and gone when the step is done.
    pub fn progress(&mut self, text: String) {
        if self.json || self.quiet || !can_draw() {
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
        bar.set_message(visible(&text));
    }

    /// Says that the command waits for another one that runs a system: a line on stderr where no progress is drawn.
    pub fn wait(&mut self, system: &str) {
        let text = format!("{system}: waiting until the run under way is over");
        if can_draw() {
            self.progress(text);
        } else if !self.quiet && self.waited != text {
            eprintln!("{text}");
            self.waited = text;
        }
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
        self.end(code);
        ExitCode::from(code)
    }

    /// As [`Output::finish`], from amid the work.
    pub fn leave(&mut self, code: u8) -> ! {
        self.end(code);
        std::process::exit(code.into())
    }

    fn end(&mut self, code: u8) {
        self.end_progress();
        if self.json {
            for list in ["diagnostics", "warnings"] {
                self.fields.entry(list).or_insert_with(|| json!([]));
            }
            self.field("ok", json!(code == OK));
            self.field("exit", json!(code));
            print_line(&visible_json(&format!("{:#}", Value::Object(std::mem::take(&mut self.fields)))));
        }
    }
}

/// Prints diagnostics for people.
fn show(diagnostics: &[Diagnostic]) {
    let colour = can_draw() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    for diagnostic in diagnostics {
        let plain = render(diagnostic, false);
        let shown = if std::io::stderr().is_terminal() { visible(&plain) } else { plain.clone() };
        // What a file says could be taken for colours.
        eprint!("{}", if colour && shown == plain { render(diagnostic, true) } else { shown });
    }
}

/// Whether standard error is a terminal that knows control characters.
fn can_draw() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints a line. An error is ignored: a reader that closed the pipe does not want to read on.
fn print_line(text: &str) {
    print_bytes(text.as_bytes());
}

/// Prints bytes and the end of a line: to a file or a pipe as they are, to a terminal so that it obeys none of them.
fn print_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout();
    let _ = if out.is_terminal() {
        writeln!(out, "{}", visible_bytes(bytes))
    } else {
        out.write_all(&[bytes, b"\n"].concat())
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_is_shown_by_lines_and_nothing_twice() {
        let path = std::env::temp_dir().join(format!("cofferdam-console-{}", std::process::id()));
        let mut output = Output::new(false, false, "run");
        output.console(&path, false);
        assert_eq!(output.heard, 0, "there is no file yet");
        std::fs::write(&path, "one\ntw").unwrap();
        output.console(&path, false);
        assert_eq!(output.heard, 4, "a line that is not complete waits");
        std::fs::write(&path, "one\ntwo").unwrap();
        output.console(&path, true);
        assert_eq!(output.heard, 7);
        std::fs::remove_file(path).unwrap();
    }
}
