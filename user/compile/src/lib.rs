//! For build scripts of packages with C parts: how C is compiled and linked for the chip that cargo builds for, and where the C sources
//! that a crate carries are. Crates listed under `[target.'cfg(any())'.dependencies]` are fetched and never built, so that domains can
//! compile the C code in them their own way.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Beginning of a target triple, and the file of the flags that C is compiled with for it.
const FLAGS: &[(&str, &str)] = &[
    ("thumbv7em-", "arch/armv-m-user/armv7m.txt"),
    ("thumbv8m.main-", "arch/armv-m-user/armv8m.txt"),
    ("armv7a-", "arch/armv7a-user/cflags.txt"),
];

/// Flags that go with the C library, as `cofferdam sdk` prints them, too.
const COMPILE: &str = include_str!("../../c/newlib/compile.txt");
const LINK: &str = include_str!("../../c/newlib/link.txt");

/// The directory of how domains enter the kernel, with its C header: the same for every target in [`FLAGS`].
pub fn entry() -> PathBuf {
    root().join("arch/arm-user")
}

/// The file of C flags for the target that cargo builds for.
fn flags() -> PathBuf {
    let target = std::env::var("TARGET").expect("cargo sets TARGET for build scripts");
    let found = FLAGS.iter().find(|(begins, _)| target.starts_with(begins));
    let (_, file) = found.unwrap_or_else(|| panic!("no domain can be built for {target}"));
    root().join(file)
}

/// A compiler for the chip, with the flags that every C part of the run-time is compiled with.
///
/// # Panics
/// For a target without a port, if the flags cannot be read, and outside of a build script. A build
/// script reports errors in this way.
pub fn c_build() -> cc::Build {
    let flags = flags();
    println!("cargo::rerun-if-changed={}", flags.display());
    let mut build = cc::Build::new();
    build.no_default_flags(true).compiler("arm-none-eabi-gcc");
    for flag in
        std::fs::read_to_string(&flags).expect("the flags of the run-time's C parts").lines().chain(COMPILE.lines())
    {
        build.flag(flag);
    }
    for include in ["include", "newlib/include"] {
        build.include(root().join("user/c").join(include));
    }
    build
}

/// Links the C library, its mathematics and the compiler's helpers into the domain whose build script calls this.
pub fn link_c_library() {
    for flag in LINK.lines().chain(["-Wl,--start-group", "-lc", "-lm", "-lgcc", "-Wl,--end-group"]) {
        println!("cargo::rustc-link-arg={flag}");
    }
}

/// Directory of a package that the manifest in the current directory depends on.
///
/// # Panics
/// If cargo does not know the package. A build script reports errors in this way.
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

/// The directory of fetched data (`scripts/fetch-data.sh`).
pub fn data() -> PathBuf {
    std::env::var_os("COFFERDAM_DATA").map_or_else(|| root().join("target/data"), PathBuf::from)
}
