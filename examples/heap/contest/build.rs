//! Compiles o1heap as it is, and links the C library for its allocator.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let source = package("o1heap").join("o1heap/o1heap");
    let mut build = compile::c_build();
    build.warnings(false);
    build
        .define("NDEBUG", None)
        .define("O1HEAP_ASSERT(x)", "(void)(x)")
        .file(source.join("o1heap.c"))
        .compile("o1heap");
    for flag in ["-Wl,--start-group", "-lc", "-lgcc", "-Wl,--end-group"] {
        println!("cargo::rustc-link-arg={flag}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Directory of a package that this one depends on.
fn package(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(["metadata", "--format-version", "1"]).output().expect("cargo metadata");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let found = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == name);
    let manifest = found.and_then(|package| package["manifest_path"].as_str()).expect("cargo knows the package");
    Path::new(manifest).parent().expect("a manifest lies in a directory").to_path_buf()
}
