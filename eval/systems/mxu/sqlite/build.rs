//! Compiles SQLite for one thread, without an operating system, and the workload.

/// SQLite's options; https://sqlite.org/compile.html describes each. Options that decide how much
/// work a statement is keep their defaults.
const DEFINES: &[(&str, &str)] = &[
    ("SQLITE_OS_OTHER", "1"),
    ("SQLITE_THREADSAFE", "0"),
    ("SQLITE_ENABLE_MEMSYS5", "1"),
    ("SQLITE_TEMP_STORE", "3"),
    ("SQLITE_ZERO_MALLOC", "1"),
    ("SQLITE_OMIT_DEPRECATED", "1"),
    ("SQLITE_OMIT_JSON", "1"),
    ("SQLITE_OMIT_LOAD_EXTENSION", "1"),
    ("SQLITE_OMIT_LOCALTIME", "1"),
    ("SQLITE_OMIT_SHARED_CACHE", "1"),
    ("SQLITE_OMIT_WAL", "1"),
];

fn main() {
    let directory = compile::package("libsqlite3-sys").join("sqlite3");
    let mut build = compile::c_build();
    build.file(directory.join("sqlite3.c")).file("src/workload.c").include(&directory).warnings(false);
    build.flag(if std::env::var_os("CARGO_FEATURE_SMALL").is_some() { "-Os" } else { "-O2" });
    for (name, value) in DEFINES {
        build.define(name, *value);
    }
    build.compile("workload");
    compile::link_c_library();
    for watched in ["build.rs", "src/workload.c"] {
        println!("cargo::rerun-if-changed={watched}");
    }
}
