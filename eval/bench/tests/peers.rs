//! The peers are built from the fetched sources and run to completion on the emulated board, without the observer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::{Error, build_peer, chip};
use build_tool::Install;
use runner::{Go, ImageFacts, Machine, Qemu, Run, Watch};

/// The board for which the peers are written, which is QEMU's name of its machine, too.
const BOARD: &str = "mps2-an500";

fn install() -> Install {
    Install::find().expect("the tests run in a checkout")
}

fn sources() -> PathBuf {
    bench::sources(&install()).expect("the sources are fetched")
}

/// Builds the peer whose rows have that suffix.
fn build(kernel: &Path, suffix: &str, out: &Path) -> Result<PathBuf, Error> {
    let install = install();
    let chip = chip::find(&install, BOARD).expect("the board is measured");
    let peer = chip.peers().iter().find(|peer| peer.suffix == suffix).expect("the board's file lists it");
    build_peer(&install, &chip.board, kernel, peer, out)
}

/// Exit status of the peer under the plain emulator: 0 when every workload ran to its end as the build promises, 1 when tasks had
/// another privilege or a load did not miss exactly once, 2 after a fault, 3 and 4 when something could not be made, 5 after an access
/// that no range permits.
fn status_of(peer: &str) -> Option<i32> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let image = build(&sources(), peer, out).expect("the peer builds");
    let port = ImageFacts::read(&image).expect("it is an image").symbol("peer_port");
    let watch = Watch { trace_port: port, ..Watch::default() };
    let mut run = Run::new(Machine::named(BOARD), image, out.join(format!("run-{peer}")), watch);
    run.time_limit = Some(Duration::from_secs(120));
    let qemu = Qemu::find_fallback().expect("QEMU is installed");
    run.start(&qemu, &mut |_| Go::On).expect("an outcome").summary.end.status
}

#[test]
fn freertos_runs_to_completion() {
    assert_eq!(status_of("freertos"), Some(0));
}

#[test]
fn freertos_mpu_runs_to_completion_with_unprivileged_tasks() {
    assert_eq!(status_of("freertos_mpu"), Some(0));
}

#[test]
fn the_handler_in_c_answers_each_miss_once() {
    assert_eq!(status_of("c_handler"), Some(0));
}

#[test]
fn sources_that_do_not_compile_are_reported_with_the_compilers_words() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    let kernel = out.join("kernel");
    std::fs::create_dir_all(&kernel).expect("a writable directory");
    std::fs::write(kernel.join("tasks.c"), "int x = no_such_thing;\n").expect("a writable directory");
    let error = build(&kernel, "freertos", &out).expect_err("it cannot compile");
    assert!(error.to_string().contains("no_such_thing"), "{error}");
}
