//! Hands the linker script to the linker by an absolute path, so that the build works from any directory.

use std::path::PathBuf;

fn main() {
    let Some(directory) = std::env::var_os("CARGO_MANIFEST_DIR") else { return };
    let script = PathBuf::from(directory).join("kernel.ld");
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    println!("cargo::rustc-link-arg-examples=-T{}", script.display());
    println!("cargo::rerun-if-changed=kernel.ld");
}
