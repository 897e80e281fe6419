//! For build scripts of packages with C parts: how C is compiled for the chip that cargo builds for.

use std::path::{Path, PathBuf};

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Beginning of a target triple, and the directory of how its domains enter the kernel.
const ENTRIES: &[(&str, &str)] = &[("thumbv7em-", "arch/armv7m-user"), ("armv7a-", "arch/armv7a-user")];

/// The directory that holds the C flags of the target (`cflags.txt`) and its header, for the target that cargo builds for.
///
/// # Panics
/// For a target that no port is for, and outside of a build script: a build script has nobody else to tell.
pub fn entry() -> PathBuf {
    let target = std::env::var("TARGET").expect("cargo sets TARGET for build scripts");
    let found = ENTRIES.iter().find(|(begins, _)| target.starts_with(begins));
    let (_, directory) = found.unwrap_or_else(|| panic!("no domain can be built for {target}"));
    root().join(directory)
}

/// A compiler for the chip, with the flags that every C part of the run-time is compiled with.
///
/// # Panics
/// As [`entry`], and when the flags cannot be read.
pub fn c_build() -> cc::Build {
    let flags = entry().join("cflags.txt");
    println!("cargo::rerun-if-changed={}", flags.display());
    let mut build = cc::Build::new();
    build.no_default_flags(true).compiler("arm-none-eabi-gcc");
    for flag in std::fs::read_to_string(&flags).expect("the flags of the run-time's C parts").lines() {
        build.flag(flag);
    }
    build
}
