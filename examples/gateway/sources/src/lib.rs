//! For build scripts of the gateway's domains: where the sources that a crate carries are, and how C is compiled for
//! the chip ([`c_build`]). Crates listed under `[target.'cfg(any())'.dependencies]` are fetched and never built, so that domains can
//! compile the C code in them their own way.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use compile::{c_build, root};

/// Directory of a package that the manifest in the current directory depends on.
///
/// # Panics
/// When cargo does not know the package: a build script has nobody else to tell.
pub fn package(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(["metadata", "--format-version", "1"]).output().expect("cargo metadata starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let found = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == name);
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.unwrap_or_else(|| panic!("cargo knows no package {name}"));
    Path::new(manifest).parent().expect("a manifest lies in a directory").to_path_buf()
}

/// Links the C library, its mathematics and the compiler's helpers into the domain whose build script calls this.
pub fn link_c_library() {
    for flag in ["-Wl,--start-group", "-lc", "-lm", "-lgcc", "-Wl,--end-group"] {
        println!("cargo::rustc-link-arg={flag}");
    }
}

/// The directory of fetched data (`scripts/fetch-data.sh`).
pub fn data() -> PathBuf {
    std::env::var_os("COFFERDAM_DATA").map_or_else(|| root().join("target/data"), PathBuf::from)
}
