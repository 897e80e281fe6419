//! Runs a compiler quietly. Its messages are shown when it fails, and warnings when it does not.

use std::path::Path;
use std::process::{Command, Output};

use manifest::Diagnostic;

/// Runs to the end. On failure the diagnostic carries the last lines of what the program said.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<Output, Diagnostic> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| {
        Diagnostic::new("CF0601", format!("`{program}` cannot be started: {error}"))
            .rule("building needs this program")
            .remedy("run `make setup` in the checkout of Cofferdam")
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Diagnostic::new("CF0506", format!("{what} does not build\n{}", tail(&said)))
        .rule("the compiler accepts every program")
        .remedy("correct the program as the compiler says"))
}

/// The warnings in what a compiler said, without its account of what it did.
pub(crate) fn warnings(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let told = |line: &&str| !ACCOUNTS.iter().any(|account| line.trim_start().starts_with(account));
    let lines: Vec<&str> = said.lines().filter(told).collect();
    tail(&lines.join("\n"))
}

/// The lines with which cargo says what it does.
const ACCOUNTS: &[&str] = &[
    "Compiling ",
    "Finished ",
    "Blocking ",
    "Updating ",
    "Locking ",
    "Adding ",
    "Downloading ",
    "Downloaded ",
    "Fresh ",
];

/// The last 60 lines: the whole of a long log would push the message off the screen.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let cut = lines.len().saturating_sub(60);
    let mut shown = lines[cut..].join("\n");
    if cut > 0 {
        shown.insert_str(0, &format!("({cut} lines before)\n"));
    }
    shown
}
