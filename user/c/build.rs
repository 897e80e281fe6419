//! Compiles the C library glue (without the start-up code: the Rust run-time has its own).

use std::path::Path;

/// The library of C of every target that domains in Rust with parts in C are built for (`cofferdam_compile`).
const LIBRARY: &str = "newlib";

fn main() {
    let mut build = compile::c_build();
    build.include(compile::entry().join("include")).include("src").include(LIBRARY);
    for file in
        ["info.c", "console.c", "syscalls.c", "clock.c", "refused.c", "conversion.c", "format.c", "signal.c", "exact.c"]
    {
        build.file(Path::new("src").join(file));
    }
    for file in ["own.c", "own_state.c", "format.c", "number.c", "buffer.c", "exact.c"] {
        build.file(Path::new(LIBRARY).join("src").join(file));
    }
    // The C library, which calls this glue, comes last on the linker's command line: take all of it, wanted yet or not.
    build.cargo_metadata(false).compile("cofferdam_glue");
    println!("cargo::rustc-link-search=native={}", std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rustc-link-lib=static:+whole-archive,-bundle=cofferdam_glue");
    for watched in ["src", "include", LIBRARY] {
        println!("cargo::rerun-if-changed={watched}");
    }
    println!("cargo::rerun-if-changed={}", compile::entry().display());
}
