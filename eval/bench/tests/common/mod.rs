//! The helpers that the tests under the observer share.

use std::path::{Path, PathBuf};
use std::process::Command;

use runner::Qemu;

/// The directory that cargo builds into.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows itself");
    program.ancestors().nth(3).expect("target/debug/deps/test").to_path_buf()
}

/// QEMU and the observer, which the command builds: by itself cargo would link it with other features to the same place, while other tests
/// load it from there.
pub fn simulator() -> Qemu {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut build = Command::new(root.join("cofferdam"));
    build.arg("--version").env("CARGO_TARGET_DIR", target());
    assert!(build.output().expect("the command starts").status.success());
    let plugin = target().join("release/libcofferdam_plugin.so");
    Qemu::at(Path::new("qemu-system-arm"), vec![plugin]).expect("QEMU 10.0 is installed")
}
