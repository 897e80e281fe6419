//! Compiles o1heap as it is, and links the C library for its allocator.

fn main() {
    let source = compile::package("o1heap").join("o1heap/o1heap");
    let mut build = compile::c_build();
    build.warnings(false);
    build
        .define("NDEBUG", None)
        .define("O1HEAP_ASSERT(x)", "(void)(x)")
        .file(source.join("o1heap.c"))
        .compile("o1heap");
    compile::link_c_library();
    println!("cargo::rerun-if-changed=build.rs");
}
