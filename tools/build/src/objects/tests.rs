//! A store never answers for another text, compiler, flag or directory than the one that it has.

use std::fs;

use super::*;

/// A compiler that can be counted: a script in front of the host's `gcc`.
struct Scratch {
    path: PathBuf,
    tools: Toolchain,
}

impl Scratch {
    fn new(name: &str) -> Scratch {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("cofferdam-objects-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let gcc = path.join("gcc");
        // Only a compilation has `-c`.
        let script = format!(
            "#!/bin/sh\nfor a; do [ \"$a\" = -c ] && echo x >> {0}/compiled; done\nexec gcc \"$@\"\n",
            path.display()
        );
        fs::write(&gcc, script).unwrap();
        fs::set_permissions(&gcc, fs::Permissions::from_mode(0o755)).unwrap();
        let tools = Toolchain {
            cargo: gcc.clone(),
            rustc: gcc.clone(),
            build_std: false,
            version: String::new(),
            ar: gcc.clone(),
            gcc,
        };
        Scratch { path, tools }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path.join(name), text).unwrap();
    }

    /// Makes the object of `main.c`, and returns its bytes, the warnings, and how often anything was compiled so far.
    fn make(&self, flags: &[&str]) -> (Vec<u8>, String, usize) {
        let install = Install::new("/nowhere".into(), self.path.join("target"));
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let object = self.path.join("main.o");
        let (_, warnings) =
            Objects::of(&install, &self.tools).make(&flags, &self.path.join("main.c"), &object).unwrap();
        let compiled = fs::read_to_string(self.path.join("compiled")).unwrap_or_default().lines().count();
        (fs::read(object).unwrap(), warnings, compiled)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[test]
fn an_object_is_compiled_once_and_its_warnings_are_said_each_time() {
    let scratch = Scratch::new("once");
    scratch.write("main.c", "int main(void) { int unused; return 1; }\n");
    let (first, warned, compiled) = scratch.make(&["-Wall"]);
    assert!(warned.contains("unused") && compiled == 1, "{warned}");
    assert_eq!(scratch.make(&["-Wall"]), (first, warned, 1));
}

#[test]
fn another_text_header_flag_or_compiler_is_another_object() {
    let scratch = Scratch::new("other");
    scratch.write("main.h", "#define SAYS 1\n");
    scratch.write("main.c", "#include \"main.h\"\nint says(void) { return SAYS; }\n");
    let first = scratch.make(&["-O1"]).0;
    scratch.write("main.h", "#define SAYS 2\n");
    let (second, _, compiled) = scratch.make(&["-O1"]);
    assert!(second != first && compiled == 2, "a header");
    assert_eq!(scratch.make(&["-O2"]).2, 3, "a flag");
    scratch.write("main.h", "#define SAYS 1\n");
    assert_eq!((scratch.make(&["-O1"]).0, scratch.make(&["-O1"]).2), (first, 3), "the first again");
    fs::File::options().append(true).open(&scratch.tools.gcc).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(scratch.make(&["-O1"]).2, 4, "a compiler");
}

#[test]
fn what_reads_more_than_the_preprocessor_sees_is_compiled_each_time() {
    let scratch = Scratch::new("more");
    scratch.write("part", "1");
    scratch.write("main.c", &format!("asm(\".incbin \\\"{}\\\"\");\n", scratch.path.join("part").display()));
    assert_eq!([scratch.make(&[]).2, scratch.make(&[]).2], [1, 2]);
    scratch.write("main.c", &format!("asm(\".inc\"\n\"bin \\\"{}\\\"\");\n", scratch.path.join("part").display()));
    assert_eq!([scratch.make(&[]).2, scratch.make(&[]).2], [3, 4], "a directive in two strings");
    scratch.write("main.c", "int x;\n");
    assert_eq!([scratch.make(&["-fprofile-dir=x"]).2, scratch.make(&["-fprofile-dir=x"]).2], [5, 6]);
    assert_eq!([scratch.make(&["-Wa,--noexecstack"]).2, scratch.make(&["-Wa,--noexecstack"]).2], [7, 8]);
}

/// Half an object is no object: the note beside it comes first.
#[test]
fn an_object_without_its_warnings_is_made_again() {
    let scratch = Scratch::new("half");
    scratch.write("main.c", "int x;\n");
    scratch.make(&[]);
    for entry in fs::read_dir(scratch.path.join("target/objects")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "txt") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_eq!(scratch.make(&[]).2, 2);
}
