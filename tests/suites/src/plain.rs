//! Images on plain QEMU: without an observer, in time that counts instructions.

use std::path::Path;
use std::time::Duration;

use runner::{Go, ImageFacts, Machine, Qemu, Run, Watch};
use tempfile::TempDir;

/// What an image has printed on the first UART, and the exit code with which it ended within a minute of the host's time; none: it did not. `port`: the
/// symbol of its trace port.
///
/// # Panics
/// When there is no QEMU, or the image has no such symbol.
pub fn ended(machine: Machine, image: &Path, port: &str) -> (String, Option<i32>) {
    let facts = ImageFacts::read(image).unwrap_or_else(|error| panic!("{error}"));
    let Some(trace_port) = facts.symbol(port) else { panic!("{}: no symbol {port}", image.display()) };
    let directory = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let watch = Watch { trace_port: Some(trace_port), ..Watch::default() };
    let run = Run { time_limit: Some(Duration::from_secs(60)), ..Run::new(machine, image, directory.path(), watch) };
    let qemu = Qemu::find_fallback().unwrap_or_else(|error| panic!("{error}"));
    let outcome = run.start(&qemu, &mut |_| Go::On).unwrap_or_else(|error| panic!("{error}"));
    let printed = std::fs::read(&outcome.uart).unwrap_or_default();
    (String::from_utf8_lossy(&printed).into_owned(), outcome.summary.end.status)
}
