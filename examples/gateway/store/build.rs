//! Compiles SQLite for one thread, without an operating system, with its own bounded allocator.

/// SQLite's options; https://sqlite.org/compile.html describes each.
const DEFINES: &[(&str, &str)] = &[
    ("SQLITE_OS_OTHER", "1"),
    ("SQLITE_THREADSAFE", "0"),
    ("SQLITE_ZERO_MALLOC", "1"),
    ("SQLITE_ENABLE_MEMSYS5", "1"),
    ("SQLITE_TEMP_STORE", "3"),
    ("SQLITE_DEFAULT_LOOKASIDE", "512,64"),
    ("SQLITE_LIKE_DOESNT_MATCH_BLOBS", "1"),
    ("SQLITE_OMIT_AUTHORIZATION", "1"),
    ("SQLITE_OMIT_COMPLETE", "1"),
    ("SQLITE_OMIT_DEPRECATED", "1"),
    ("SQLITE_OMIT_DESERIALIZE", "1"),
    ("SQLITE_OMIT_GET_TABLE", "1"),
    ("SQLITE_OMIT_INCRBLOB", "1"),
    ("SQLITE_OMIT_INTROSPECTION_PRAGMAS", "1"),
    ("SQLITE_OMIT_JSON", "1"),
    ("SQLITE_OMIT_LOAD_EXTENSION", "1"),
    ("SQLITE_OMIT_LOCALTIME", "1"),
    ("SQLITE_OMIT_SHARED_CACHE", "1"),
    ("SQLITE_OMIT_TRACE", "1"),
    ("SQLITE_OMIT_UTF16", "1"),
    ("SQLITE_OMIT_WAL", "1"),
];

fn main() {
    let source = compile::package("libsqlite3-sys").join("sqlite3/sqlite3.c");
    let mut build = compile::c_build();
    // Size counts more than speed: with everything else the gateway fills most of the flash.
    build.file(&source).flag("-Os").warnings(false);
    for (name, value) in DEFINES {
        build.define(name, *value);
    }
    build.compile("sqlite3");
    compile::link_c_library();
    println!("cargo::rerun-if-changed=build.rs");
}
