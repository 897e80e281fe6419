//! Compilers and the library, for the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command that must succeed; what it wrote to its standard output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}\n{out}{err}", output.status);
    out.into_owned()
}

/// A file of this package.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A directory for what a test makes.
pub fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a writable directory");
    directory
}

/// Builds the library with `build.sh`, as a user does, and returns the directory that holds it and its header.
pub fn library(target: &str, name: &str) -> PathBuf {
    let directory = scratch(name);
    let mut build = Command::new(file("build.sh"));
    build.arg(target).arg(&directory);
    // The processor that the example on FreeRTOS is built for: what is built once serves both.
    build.env("COFFERDAM_CPU", if target == "host" { "" } else { "cortex-m7" });
    // Beside the directory that this test was built into, not in it: cargo holds a lock there.
    let target_directory = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a directory of cargo's");
    run(build.env("CARGO_TARGET_DIR", target_directory));
    directory
}

/// The C compiler of this computer, with the flags of the tests.
pub fn cc() -> Command {
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2"]);
    command
}
