//! Programs that are built as docs/your-program.md says, with the flags of `cofferdam sdk`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ran, cofferdam, root};

/// The output of `cofferdam sdk` for a board.
#[derive(Debug)]
pub struct Sdk {
    /// The compiler.
    pub cc: String,
    /// Flags for compiling.
    pub cflags: Vec<String>,
    /// Flags for linking.
    pub ldflags: Vec<String>,
}

impl Sdk {
    /// Asks for it.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn of(board: &str) -> Sdk {
        let output = cofferdam(&["sdk", "--board", board, "--json"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let sdk: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{told}"));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let list = |key: &str| sdk[key].as_array().into_iter().flatten().filter_map(text).collect();
        let cc = text(&sdk["cc"]).unwrap_or_else(|| panic!("no compiler\n{told}"));
        Sdk { cc, cflags: list("cflags"), ldflags: list("ldflags") }
    }

    /// Compiles and links at once.
    ///
    /// # Panics
    /// When the compiler cannot be started.
    pub fn build(&self, sources: &[PathBuf], more: &[&str], program: &Path) -> Output {
        let cpp = sources.iter().any(|source| source.extension().is_some_and(|e| e == "cc"));
        let compiler = if cpp { self.cc.replace("gcc", "g++") } else { self.cc.clone() };
        let mut command = Command::new(compiler);
        command.args(&self.cflags).args(sources).args(&self.ldflags).args(more).args(["-lm", "-o"]).arg(program);
        command.output().unwrap_or_else(|error| panic!("{}: {error}", self.cc))
    }
}

/// Builds a program of sources in `tests/programs` and runs it alone.
///
/// # Panics
/// When it does not build.
pub fn run(board: &str, sources: &[&str], more: &[&str]) -> Ran {
    let scratch = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let program = scratch.path().join("program.elf");
    let sources: Vec<PathBuf> = sources.iter().map(|source| root().join("tests/programs").join(source)).collect();
    let built = Sdk::of(board).build(&sources, &[], &program);
    assert!(built.status.success(), "{board}: {}", String::from_utf8_lossy(&built.stderr));
    Ran::new(&program.to_string_lossy(), &[&["--board", board], more].concat())
}

/// Lines that the program printed, without its name in front.
pub fn printed(ran: &Ran) -> Vec<String> {
    let console = ran.console();
    console.lines().map(|line| line.split_once(": ").map_or(line, |(_, text)| text).to_owned()).collect()
}
