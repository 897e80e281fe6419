//! The peers are built from the fetched sources and run to completion on the emulated board, without the observer.

use std::path::{Path, PathBuf};
use std::process::Command;

use bench::{Peer, build_peer};
use build_tool::Install;

fn install() -> Install {
    Install::find().expect("the tests run in a checkout")
}

fn sources() -> PathBuf {
    bench::sources(&install()).expect("the sources are fetched")
}

/// Exit status of the peer under the plain emulator: 0 when every workload ran to its end as the build promises, 1 when tasks had
/// another privilege or a load did not miss exactly once, 2 after a fault, 3 and 4 when something could not be made, 5 after an access
/// that no range permits.
fn status_of(peer: Peer) -> Option<i32> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let image = build_peer(&install(), &sources(), peer, out).expect("the peer builds");
    let machine = ["-M", "mps2-an500", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting", "-kernel"];
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "120", "qemu-system-arm"]).args(machine).arg(image);
    command.status().expect("timeout and qemu-system-arm are installed").code()
}

#[test]
fn freertos_runs_to_completion() {
    assert_eq!(status_of(Peer::FreeRtos), Some(0));
}

#[test]
fn freertos_mpu_runs_to_completion_with_unprivileged_tasks() {
    assert_eq!(status_of(Peer::FreeRtosMpu), Some(0));
}

#[test]
fn the_handler_in_c_answers_each_miss_once() {
    assert_eq!(status_of(Peer::CHandler), Some(0));
}

#[test]
fn sources_that_do_not_compile_are_reported_with_the_compilers_words() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    let kernel = out.join("kernel");
    std::fs::create_dir_all(&kernel).expect("a writable directory");
    std::fs::write(kernel.join("tasks.c"), "int x = no_such_thing;\n").expect("a writable directory");
    let error = build_peer(&install(), &kernel, Peer::FreeRtos, &out).expect_err("it cannot compile");
    assert!(error.to_string().contains("no_such_thing"), "{error}");
}
