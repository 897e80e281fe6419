//! Images on plain QEMU: without an observer, in time that counts instructions.

use std::path::Path;
use std::time::Duration;

use runner::{Go, ImageFacts, Machine, Qemu, Run, Watch};
use tempfile::TempDir;

/// The address of a trace port by its symbol.
///
/// # Panics
/// When the ELF file has no such symbol.
pub fn port(elf: &Path, symbol: &str) -> u32 {
    let facts = ImageFacts::read(elf).unwrap_or_else(|error| panic!("{error}"));
    facts.symbol(symbol).unwrap_or_else(|| panic!("{}: no symbol {symbol}", elf.display()))
}

/// What an image with this trace port has printed on the first UART, and the exit code with which it ended within a minute of the host's time; none: it
/// did not.
///
/// # Panics
/// When there is no QEMU.
pub fn ended(machine: Machine, image: &Path, trace_port: u32) -> (String, Option<i32>) {
    let directory = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let watch = Watch { trace_port: Some(trace_port), ..Watch::default() };
    let run = Run { time_limit: Some(Duration::from_secs(60)), ..Run::new(machine, image, directory.path(), watch) };
    let qemu = Qemu::find_fallback().unwrap_or_else(|error| panic!("{error}"));
    let outcome = run.start(&qemu, &mut |_| Go::On).unwrap_or_else(|error| panic!("{error}"));
    let printed = std::fs::read(&outcome.uart).unwrap_or_default();
    (String::from_utf8_lossy(&printed).into_owned(), outcome.summary.end.status)
}
