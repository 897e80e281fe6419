//! There to have dependencies: libraries of build scripts and macros have features of their own.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
