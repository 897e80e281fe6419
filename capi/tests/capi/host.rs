//! A program in C uses the library on this computer and compares every result with models of its own.

use crate::support::{cc, file, library, run, scratch};

/// Compiles one of the programs below `tests/c` with the library and runs it.
fn run_program(name: &str) -> String {
    let directory = library("host", name);
    let program = directory.join(name);
    let mut compile = cc();
    compile.arg("-I").arg(&directory).arg(file(&format!("tests/c/{name}.c"))).arg("-o").arg(&program);
    run(compile.arg(directory.join("libcofferdam_mem.a")).args(["-lpthread", "-ldl", "-lm"]));
    run(&mut std::process::Command::new(&program))
}

/// Counts of checks by name, as the programs print them; each at least `least`.
fn checked(printed: &str, least: &[(&str, u64)]) {
    for (name, least) in least {
        let found = printed.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        assert!(found.is_some_and(|found| found >= *least), "{name}: {found:?} of at least {least}\n{printed}");
    }
}

#[test]
fn regions_trie_and_slots_agree_with_models_in_c() {
    let printed = run_program("regions");
    let least = [("encoded", 1000), ("refused", 1000), ("covered", 1000), ("inserted", 1000), ("full", 100)];
    checked(&printed, &least);
    checked(&printed, &[("removed", 500), ("filled", 2000), ("violations", 500), ("unmapped", 20)]);
}

#[test]
fn the_heap_agrees_with_a_list_of_blocks() {
    let printed = run_program("heap");
    let least = [("allocated", 10_000), ("freed", 5000), ("resized", 3000), ("full", 100), ("envelope", 20_000)];
    checked(&printed, &least);
}

#[test]
fn the_ledger_decides_as_its_rules_say() {
    let printed = run_program("ledger");
    let least = [("admitted", 5000), ("denied", 5000), ("changes", 3000), ("released", 3000)];
    checked(&printed, &least);
}

#[test]
fn pointers_that_cannot_be_right_are_refused() {
    let printed = run_program("pointers");
    checked(&printed, &[("null", 30), ("misaligned", 30), ("stale", 10)]);
}

#[test]
fn the_header_is_also_one_for_cplusplus() {
    let source = scratch("cplusplus").join("include.cpp");
    std::fs::write(&source, "#include \"cofferdam_mem.h\"\n").expect("a writable directory");
    if std::process::Command::new("c++").arg("--version").output().is_err() {
        eprintln!("no C++ compiler on this computer: not checked");
        return;
    }
    let mut compile = std::process::Command::new("c++");
    compile.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]).arg(file("include"));
    run(compile.arg(&source));
}
