//! Compiles Duktape as it is, and a few lines that turn its macros into functions.

fn main() {
    let duktape = compile::package("ducc-sys").join("duktape");
    let mut build = compile::c_build();
    build.include(&duktape).file(duktape.join("duktape.c")).file("src/engine.c").flag("-O2").warnings(false);
    build.compile("engine");
    compile::link_c_library();
    for watched in ["build.rs", "src/engine.c"] {
        println!("cargo::rerun-if-changed={watched}");
    }
}
