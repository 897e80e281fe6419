//! Programs that are kept, and changes after which they are not used.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::Store;

const COMPILER: (&str, &str) = ("echo", "version 1");

/// Sources with a file of the kernel, one of the suite, and what nobody builds.
fn sources() -> TempDir {
    let directory = TempDir::new().unwrap();
    for (path, text) in [
        ("kernel/src/gate.rs", "check"),
        ("kernel/README.md", "read me"),
        ("docs/memory.txt", "text"),
        ("tools/build/c.rs", "-O2"),
        ("tools/board-facts/lib.rs", "constants"),
        ("tools/report/page.rs", "page"),
        ("tests/attacks/attacker.rs", "attack"),
        ("tests/attacks/order.txt", "order"),
        ("tests/attacks/order-a9.txt", "order"),
        ("tests/conformance/lead.rs", "row"),
        ("tests/conformance/mutants.toml", "mutant"),
        ("tests/direct/hostile.rs", "life"),
    ] {
        write(directory.path(), path, text);
    }
    directory
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn open(sources: &TempDir, kept: &TempDir, compiler: (&str, &str)) -> Store {
    Store::new(kept.path().join("store"), sources.path(), &[(Path::new(compiler.0), compiler.1)])
}

/// Whether the store makes it anew, and what it then gives.
fn made(store: &Store, parts: &[&str]) -> (bool, Vec<Vec<u8>>) {
    let asked = Cell::new(false);
    let given = store.contents(parts, || {
        asked.set(true);
        Ok(vec![b"kernel".to_vec(), parts.concat().into_bytes(), b"kernel".to_vec()])
    });
    (asked.get(), given.unwrap())
}

#[test]
fn what_was_built_from_the_same_is_not_built_again() {
    let (sources, kept) = (sources(), TempDir::new().unwrap());
    let (first, given) = made(&open(&sources, &kept, COMPILER), &["a", "b"]);
    assert!(first);
    assert_eq!(made(&open(&sources, &kept, COMPILER), &["a", "b"]), (false, given));
    // Another change is another origin, and the parts are not run together.
    assert!(made(&open(&sources, &kept, COMPILER), &["ab", ""]).0);
}

#[test]
fn a_change_of_whatever_is_built_builds_again() {
    for (path, again) in [
        ("kernel/src/gate.rs", true),
        ("kernel/src/new.rs", true),
        ("tools/build/c.rs", true),
        ("tools/board-facts/lib.rs", true),
        ("tests/attacks/attacker.rs", true),
        ("tests/conformance/lead.rs", true),
        ("tests/direct/hostile.rs", true),
        ("apps/new/main.rs", true),
        ("Cargo.lock", true),
        ("kernel/README.md", false),
        ("docs/memory.txt", false),
        ("tools/report/page.rs", false),
        ("tests/attacks/order.txt", false),
        ("tests/attacks/order-a9.txt", false),
        ("tests/conformance/mutants.toml", false),
        ("tests/direct/mutants.toml", false),
        (".git/index", false),
    ] {
        let (sources, kept) = (sources(), TempDir::new().unwrap());
        made(&open(&sources, &kept, COMPILER), &["a"]);
        write(sources.path(), path, "changed");
        assert_eq!(made(&open(&sources, &kept, COMPILER), &["a"]).0, again, "{path}");
    }
}

#[test]
fn another_compiler_builds_again() {
    let (sources, kept) = (sources(), TempDir::new().unwrap());
    made(&open(&sources, &kept, COMPILER), &["a"]);
    assert!(made(&open(&sources, &kept, ("echo", "version 2")), &["a"]).0);
}

#[test]
fn damaged_contents_are_made_again() {
    let (sources, kept) = (sources(), TempDir::new().unwrap());
    let (_, given) = made(&open(&sources, &kept, COMPILER), &["a"]);
    let damaged = fs::read_dir(kept.path().join("store")).unwrap().flatten().map(|entry| entry.path());
    let damaged = damaged.filter(|path| fs::read(path).unwrap() == b"kernel");
    assert_eq!(damaged.map(|path| fs::write(path, "kern").unwrap()).count(), 1, "the same contents are kept once");
    assert_eq!(made(&open(&sources, &kept, COMPILER), &["a"]), (true, given.clone()));
    assert_eq!(made(&open(&sources, &kept, COMPILER), &["a"]), (false, given));
}

#[test]
fn a_failure_is_not_kept() {
    let (sources, kept) = (sources(), TempDir::new().unwrap());
    let store = open(&sources, &kept, COMPILER);
    assert_eq!(store.contents(&["a"], || Err("does not build".into())), Err("does not build".into()));
    assert!(made(&store, &["a"]).0);
}

#[test]
fn a_file_is_kept_and_what_nobody_asks_for_is_forgotten() {
    let (sources, kept) = (sources(), TempDir::new().unwrap());
    let program = kept.path().join("program");
    let make = || {
        fs::write(&program, "program").unwrap();
        Ok(program.clone())
    };
    let store = open(&sources, &kept, COMPILER);
    made(&store, &["a"]);
    made(&store, &["b"]);
    let first = store.file(&["f"], make).unwrap();
    let store = open(&sources, &kept, COMPILER);
    assert_eq!(store.file(&["f"], || Err("kept".into())), Ok(first.clone()));
    made(&store, &["a"]);
    store.forget_the_rest();
    assert_eq!(fs::read(first).unwrap(), b"program");
    let store = open(&sources, &kept, COMPILER);
    assert_eq!((made(&store, &["a"]).0, made(&store, &["b"]).0), (false, true));
}
