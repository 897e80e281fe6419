//! Runs whole systems through `./cofferdam`, as a user does, and reads what it reports.

pub mod attacks;
pub mod conformance;
pub mod direct;
pub mod gateway;
pub mod plain;
pub mod sdk;
pub mod time;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The boards that systems run on.
pub const BOARDS: [&str; 2] = ["mps2-an500", "xilinx-zynq-a9"];

/// These, and the one with a Cortex-M33, whose own chip has room for small systems.
pub const WITH_M33: [&str; 3] = [BOARDS[0], BOARDS[1], "mps2-an505"];

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The directory into which `./cofferdam` builds.
pub fn target_dir() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    set.map_or_else(|| root().join("target"), |target| if target.is_absolute() { target } else { root().join(target) })
}

/// Directory of the results of a system whose manifest is in a directory outside the checkout.
pub fn results_beside(directory: &Path) -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").is_some();
    (if set { target_dir() } else { directory.join("target") }).join("cofferdam")
}

/// Runs `./cofferdam` with some arguments, from the root.
///
/// # Panics
/// When it cannot be started.
pub fn cofferdam(args: &[&str]) -> Output {
    let output = Command::new("./cofferdam").args(args).current_dir(root()).output();
    output.unwrap_or_else(|error| panic!("./cofferdam cannot be started: {error}"))
}

/// A run that has ended.
pub struct Ran {
    /// Exit code of the command.
    pub code: i32,
    /// `report.json`.
    pub report: Value,
    /// The command's error stream.
    pub stderr: String,
    directory: TempDir,
}

impl Ran {
    /// Runs a system (path from the root) and reads its report.
    ///
    /// # Panics
    /// When there is no report.
    pub fn new(manifest: &str, more: &[&str]) -> Ran {
        let directory = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
        let out = directory.path().to_string_lossy().into_owned();
        let output = cofferdam(&[&["run", manifest, "--out", &out], more].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = std::fs::read_to_string(directory.path().join("report.json"));
        let text = text.unwrap_or_else(|error| panic!("no report of {manifest}: {error}\n{stderr}"));
        let report = serde_json::from_str(&text).unwrap_or_else(|error| panic!("the report is not JSON: {error}"));
        Ran { code: output.status.code().unwrap_or(-1), report, stderr, directory }
    }

    /// As [`Ran::new`], on this board, whatever the manifest says.
    ///
    /// # Panics
    /// When there is no report.
    pub fn on(board: &str, manifest: &str, more: &[&str]) -> Ran {
        Ran::new(manifest, &[&["--board", board], more].concat())
    }

    /// The console's output.
    pub fn console(&self) -> &str {
        self.report["console"].as_str().unwrap_or_default()
    }

    /// Writes the console's output where another tool can read it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn console_file(&self) -> PathBuf {
        let path = self.directory.path().join("console.txt");
        std::fs::write(&path, self.console()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// The entry of a list of the report with a name.
    ///
    /// # Panics
    /// When there is none.
    pub fn named(&self, list: &str, key: &str, name: &str) -> &Value {
        named(&self.report, list, key, name).unwrap_or_else(|| panic!("no {key} `{name}` in `{list}`"))
    }

    /// The report without what depends on the computer it ran on.
    pub fn repeatable(&self) -> Value {
        let mut report = self.report.clone();
        if let Some(fields) = report.as_object_mut() {
            fields.remove("host");
            fields.remove("provenance");
        }
        report
    }
}

/// The entry of a list of a report with a name, if there is one.
pub fn named<'a>(report: &'a Value, list: &str, key: &str, name: &str) -> Option<&'a Value> {
    report[list].as_array()?.iter().find(|entry| entry[key] == name)
}
