//! Compiles Duktape as it is, and a few lines that turn its macros into functions.

#[path = "../../gateway/sources/src/lib.rs"]
#[allow(dead_code)]
mod sources;

fn main() {
    let duktape = sources::package("ducc-sys").join("duktape");
    let mut build = sources::c_build();
    build.include(&duktape).file(duktape.join("duktape.c")).file("src/engine.c").flag("-O2").warnings(false);
    build.compile("engine");
    sources::link_c_library();
    for watched in ["build.rs", "src/engine.c"] {
        println!("cargo::rerun-if-changed={watched}");
    }
}
