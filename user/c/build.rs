//! Compiles the C library glue (without the start-up code: the Rust run-time has its own).

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arch = root.join("arch/armv7m-user");
    let flags = std::fs::read_to_string(arch.join("cflags.txt")).expect("arch/armv7m-user/cflags.txt");
    let mut build = cc::Build::new();
    build.no_default_flags(true).compiler("arm-none-eabi-gcc").include("include").include(arch.join("include"));
    for flag in flags.lines() {
        build.flag(flag);
    }
    for file in ["info.c", "console.c", "syscalls.c"] {
        build.file(Path::new("src").join(file));
    }
    // The C library, which calls this glue, comes last on the linker's command line: take all of it, wanted yet or not.
    build.cargo_metadata(false).compile("cofferdam_glue");
    println!("cargo::rustc-link-search=native={}", std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rustc-link-lib=static:+whole-archive,-bundle=cofferdam_glue");
    for watched in ["src", "include", "../../arch/armv7m-user"] {
        println!("cargo::rerun-if-changed={watched}");
    }
}
