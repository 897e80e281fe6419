//! Whatever was built in a directory before, what comes out of it was built from the files that are there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use super::*;
use crate::rust::executable;

/// A directory of cargo's, and projects with packages of one name and version.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cofferdam-built-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path.canonicalize().unwrap())
    }

    /// Writes a file as if it had been there before anything was built: cargo does not see that it is another one.
    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    /// A workspace with a program, which prints what its library says, and a text beside them.
    fn project(&self, name: &str, says: &str) {
        let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        let app = "[dependencies]\nlibrary = { path = \"library\" }\n[workspace]\n";
        self.write(&format!("{name}/Cargo.toml"), &(package("app") + app));
        self.write(
            &format!("{name}/src/main.rs"),
            "fn main() { print!(\"{}{}\", library::SAYS, include_str!(\"../../text\")); }",
        );
        self.write(&format!("{name}/library/Cargo.toml"), &package("library"));
        self.library(name, says);
    }

    fn library(&self, name: &str, says: &str) {
        self.write(&format!("{name}/library/src/lib.rs"), &format!("pub const SAYS: &str = {says:?};"));
    }

    fn build(&self, name: &str, with: &str) -> Build {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let counted = self.0.join("cargo");
        if !counted.exists() {
            let script =
                format!("#!/bin/sh\necho >> {}\nexec '{}' \"$@\"\n", self.0.join("asked").display(), program.display());
            fs::write(&counted, script).unwrap();
            fs::set_permissions(&counted, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let cargo = |verb: &str| {
            let mut command = Command::new(&counted);
            command.arg(verb).arg("--offline").arg("--target-dir").arg(self.0.join("target"));
            command.arg("--manifest-path").arg(self.0.join(name).join("Cargo.toml"));
            command
        };
        let (mut command, clean) = (cargo("build"), [cargo("clean"), cargo("clean")]);
        command.args(["--message-format", "json-render-diagnostics"]);
        let (directory, others) = (self.0.join("target"), Vec::new());
        Build {
            command,
            clean,
            directory,
            target: "host".into(),
            with: with.to_owned(),
            others,
            of_target: false,
            compilers: String::new(),
        }
    }

    /// What the program of a project prints, and when it was linked.
    fn runs(&self, name: &str, with: &str) -> (String, SystemTime) {
        let finished = self.build(name, with).run("the program").unwrap();
        let program = executable(&finished.output.stdout, None).unwrap();
        let said = Command::new(&program).output().unwrap().stdout;
        (String::from_utf8(said).unwrap(), fs::metadata(program).unwrap().modified().unwrap())
    }

    /// How often cargo was asked.
    fn asked(&self) -> usize {
        fs::read(self.0.join("asked")).unwrap_or_default().len()
    }

    fn says(&self, name: &str) -> String {
        self.runs(name, "").0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_built_is_of_the_files_that_are_there() {
    let scratch = Scratch::new();
    scratch.write("text", "!");
    scratch.project("c", "I am C");
    scratch.project("d", "I am D");
    assert_eq!(scratch.says("c"), "I am C!");
    assert_eq!(scratch.says("d"), "I am D!", "packages of one name in two directories");
    scratch.library("d", "I was D");
    assert_eq!(scratch.says("d"), "I was D!", "a source that is older than what was built");
    scratch.write("text", "?");
    assert_eq!(scratch.says("d"), "I was D?", "a file beside the package");
    fs::rename(scratch.0.join("d"), scratch.0.join("e")).unwrap();
    fs::rename(scratch.0.join("c"), scratch.0.join("d")).unwrap();
    assert_eq!(scratch.says("d"), "I am C?", "another directory in its place");
}

#[test]
fn what_cargo_does_not_know_counts_and_nothing_is_built_twice() {
    let scratch = Scratch::new();
    scratch.write("text", "");
    scratch.project("c", "C");
    let built = |with: &str| scratch.runs("c", with).1;
    let first = built("a linker");
    assert_eq!(built("a linker"), first);
    let second = built("another linker");
    assert!(second > first);
    assert_eq!(built("another linker"), second);
}

#[test]
fn who_builds_at_the_same_time_gets_his_own() {
    let scratch = Scratch::new();
    scratch.write("text", "");
    scratch.project("c", "C");
    scratch.project("d", "D");
    std::thread::scope(|scope| {
        for name in ["c", "d"] {
            let scratch = &scratch;
            scope.spawn(move || (0..2).for_each(|_| assert_eq!(scratch.says(name), name.to_uppercase())));
        }
    });
}

/// Cargo sees a change in one library and overlooks one in another. The second is then built again. The first was built a moment before, and is kept.
#[test]
fn what_was_built_before_something_else_was_found_stale_is_kept() {
    let scratch = Scratch::new();
    scratch.write("text", "");
    scratch.project("c", "C");
    let other = |says: &str| format!("pub const SAYS: &str = {says:?};");
    let manifest = "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    scratch.write("c/other/Cargo.toml", manifest);
    scratch.write("c/other/src/lib.rs", &other("1"));
    let app = fs::read_to_string(scratch.0.join("c/Cargo.toml")).unwrap();
    scratch.write("c/Cargo.toml", &app.replace("[workspace]", "other = { path = \"other\" }\n[workspace]"));
    scratch.write("c/src/main.rs", "fn main() { print!(\"{}{}\", library::SAYS, other::SAYS); }");
    assert_eq!(scratch.says("c"), "C1");
    scratch.library("c", "D");
    fs::write(scratch.0.join("c/other/src/lib.rs"), other("2")).unwrap();
    assert_eq!(scratch.says("c"), "D2");
}

#[test]
fn a_new_directory_has_what_another_has_with_its_times() {
    let scratch = Scratch::new();
    for (directory, target) in [("a", "arm"), ("b", "riscv")] {
        scratch.write(&format!("{directory}/lock"), "");
        scratch.write(&format!("{directory}/bare/deps/host"), directory);
        scratch.write(&format!("{directory}/{target}/bare/deps/core"), directory);
        scratch.write(&format!("{directory}/built"), &format!("notes of {directory}\n"));
    }
    let others = ["a", "b"].map(|name| scratch.0.join(name));
    let read = |path: &str| fs::read_to_string(scratch.0.join(path)).unwrap_or_default();
    inherit::inherit(&scratch.0.join("new"), "riscv", &others, true);
    assert_eq!(["bare/deps/host", "riscv/bare/deps/core"].map(|path| read(&format!("new/{path}"))), ["b", "b"]);
    assert_eq!(read("new/built"), "notes of b\n");
    let core = fs::metadata(scratch.0.join("new/riscv/bare/deps/core")).unwrap();
    assert_eq!(core.modified().unwrap(), SystemTime::UNIX_EPOCH);
    // Something was built there already.
    inherit::inherit(&scratch.0.join("new"), "arm", &others, true);
    assert!(!scratch.0.join("new/arm").exists());
    // Other options: only what runs on the host.
    inherit::inherit(&scratch.0.join("domains"), "riscv", &others, false);
    assert_eq!((read("domains/bare/deps/host").as_str(), scratch.0.join("domains/riscv").exists()), ("a", false));
    assert_eq!(read("domains/built"), "notes of a\n");
}

#[test]
fn names_of_files_may_have_blanks() {
    let scratch = Scratch::new();
    scratch.write("it.d", "/x/it: /a\\ b/c.rs /d.rs\n");
    assert_eq!(sources(&scratch.0.join("it")), [PathBuf::from("/a b/c.rs"), PathBuf::from("/d.rs")]);
    assert!(sources(&scratch.0.join("other")).is_empty());
}

/// What can change between two builds, each of which cargo must be asked about.
const CHANGES: &[(&str, &str)] = &[
    ("c/src/main.rs", "fn main() { print!(\"{}{} \", library::SAYS, include_str!(\"../../text\")); }"),
    ("c/library/src/lib.rs", "pub const SAYS: &str = \"D\";"),
    ("text", "?"),
    ("c/library/Cargo.toml", "[package]\nname = \"library\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("c/.cargo/config.toml", "[build]\nincremental = false\n"),
    (".cargo/config.toml", "[build]\nincremental = false\n"),
    ("c/build.rs", "fn main() {}"),
    ("c/src/bin/other/main.rs", "fn main() {}"),
];

#[test]
fn the_same_again_is_not_asked_of_cargo_and_whatever_it_depends_on_is() {
    let scratch = Scratch::new();
    scratch.write("text", "!");
    scratch.project("c", "C");
    assert_eq!(scratch.says("c"), "C!");
    let first = scratch.asked();
    assert_eq!((scratch.says("c").as_str(), scratch.asked()), ("C!", first), "nothing has changed");
    for (path, text) in CHANGES {
        let before = scratch.asked();
        scratch.write(path, text);
        scratch.build("c", "").run("the program").unwrap();
        assert!(scratch.asked() > before, "{path}");
    }
    fs::remove_dir_all(scratch.0.join("c/src/bin")).unwrap();
    assert_eq!(scratch.says("c"), "D? ");
    let before = scratch.asked();
    scratch.runs("c", "another linker");
    assert!(scratch.asked() > before, "another linker");
    let before = scratch.asked();
    let mut build = scratch.build("c", "");
    build.command.env("LIBRARY_SAYS", "E");
    build.run("the program").unwrap();
    assert!(scratch.asked() > before, "another environment");
    let before = scratch.asked();
    let build = Build { compilers: "another".into(), ..scratch.build("c", "") };
    { build }.run("the program").unwrap();
    assert!(scratch.asked() > before, "another compiler");
}

#[test]
fn a_result_that_is_not_what_was_built_is_built_again() {
    let scratch = Scratch::new();
    scratch.write("text", "!");
    scratch.project("c", "C");
    scratch.says("c");
    let finished = scratch.build("c", "").run("the program").unwrap();
    let program = executable(&finished.output.stdout, None).unwrap();
    assert_eq!(program.parent().and_then(Path::file_name), Some("deps".as_ref()), "under its own name");
    drop(finished);
    fs::remove_file(&program).unwrap();
    assert_eq!(scratch.says("c"), "C!");
}

/// Two programs of one package and one name: cargo gives the name to the one that was built last.
#[test]
fn variants_of_a_package_are_told_apart() {
    let scratch = Scratch::new();
    scratch.write("text", "!");
    scratch.project("c", "C");
    let manifest = fs::read_to_string(scratch.0.join("c/Cargo.toml")).unwrap();
    scratch.write("c/Cargo.toml", &manifest.replace("[workspace]", "[features]\nloud = []\n[workspace]"));
    scratch.write(
        "c/src/main.rs",
        "fn main() { print!(\"{}\", if cfg!(feature = \"loud\") { \"C!!\" } else { library::SAYS }); }",
    );
    let says = |loud: bool| {
        let mut build = scratch.build("c", "");
        build.command.args(loud.then_some("--features=loud"));
        let finished = build.run("the program").unwrap();
        let said = Command::new(executable(&finished.output.stdout, None).unwrap()).output().unwrap().stdout;
        String::from_utf8(said).unwrap()
    };
    let all = || [false, true, false, true].map(says);
    assert_eq!(all(), ["C", "C!!", "C", "C!!"]);
    let before = scratch.asked();
    assert_eq!((all(), scratch.asked()), (["C", "C!!", "C", "C!!"].map(str::to_owned), before));
}
