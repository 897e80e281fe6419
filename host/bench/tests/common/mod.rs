//! What the tests under the observer share.

use std::path::{Path, PathBuf};
use std::process::Command;

use runner::Tools;

/// The directory that cargo builds into.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows itself");
    program.ancestors().nth(3).expect("target/debug/deps/test").to_path_buf()
}

/// QEMU and the observer, which is built here.
pub fn tools() -> Tools {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "-p", "cofferdam-plugin", "--target-dir"]).arg(target());
    assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo starts").success());
    let plugin = target().join("release/libcofferdam_plugin.so");
    Tools::at(Path::new("qemu-system-arm"), vec![plugin]).expect("QEMU 10.0 is installed")
}
