//! The command as a user meets it: refusals that need a run, a starter system, a program of one's own, interruption.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use system_tests::{BOARDS, cofferdam, root};
use tempfile::TempDir;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The text of a run's refusals is a reviewed file.
fn compare(name: &str, manifest: &str) {
    let output = cofferdam(&["run", "--quiet", manifest]);
    let seen = format!("{}exit code {}\n", text(&output.stderr), output.status.code().unwrap_or(-1));
    let path = root().join(format!("tests/golden/run/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &seen).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), seen, "UPDATE_GOLDEN=1 rewrites {}", path.display());
}

#[test]
fn a_domain_that_never_starts_reads_as_reviewed() {
    compare("never-starts", "tests/golden/run/never-starts.toml");
}

#[test]
fn a_service_says_that_it_has_no_driver_for_its_device() {
    let output = cofferdam(&["run", "tests/golden/run/no-driver.toml"]);
    let shown = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(shown.contains("console: exited with code 2 (CF0718"), "{shown}");
    assert_eq!(output.status.code(), Some(1), "{shown}");
}

/// The kind of a device, and that of memory, as `cofferdam.h` tells them.
const KINDS: &str = r#"
    #include <cofferdam.h>
    int main(void) {
        struct cof_area device, code;
        if (cof_area("timer1", &device) != 0 || cof_area("code", &code) != 0)
            return 1;
        return device.kind == cof_name_hash("cmsdk-timer") && code.kind == 0 ? 0 : 2;
    }
"#;

#[test]
fn a_program_in_c_learns_the_kind_of_its_device() {
    let directory = TempDir::new().unwrap();
    let manifest = fs::read_to_string(root().join("tests/golden/run/never-starts.toml")).unwrap();
    let (one, _) = manifest.split_once("[budget.late]").unwrap();
    let system =
        one.replace("\"late\"", "\"busy\"") + "[domain.busy]\nc = { sources = [\"main.c\"] }\ndevices = [\"timer1\"]\n";
    let system = system.replace("never-starts", "kinds") + "[[domain.busy.thread]]\npriority = 2\nbudget = \"busy\"\n";
    fs::write(directory.path().join("system.toml"), system).unwrap();
    fs::write(directory.path().join("main.c"), KINDS).unwrap();
    let ran = cofferdam(&["run", &directory.path().join("system.toml").to_string_lossy()]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", text(&ran.stdout), text(&ran.stderr));
}

#[test]
fn a_starter_system_runs() {
    for more in [&[][..], &["--rust"]] {
        let directory = TempDir::new().unwrap();
        let system = directory.path().join("starter");
        let system = system.to_str().unwrap();
        let made = cofferdam(&[&["new", system], more].concat());
        assert!(made.status.success(), "{}", text(&made.stderr));
        let ran = cofferdam(&["run", &format!("{system}/system.toml")]);
        assert!(text(&ran.stdout).contains("6 times 7 is 42"), "{}{}", text(&ran.stdout), text(&ran.stderr));
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stdout));
        travels(directory.path());
    }
}

/// No file of a new project holds the checkout's path, and where it goes the link follows.
fn travels(project: &Path) {
    let (here, there) = (project.join("starter"), project.join("elsewhere"));
    let mut grep = Command::new("grep");
    let named = grep.args(["-rlI", "--exclude-dir=target", "--exclude-dir=.cofferdam"]).arg(root()).arg(&here);
    assert_eq!(text(&named.output().unwrap().stdout), "");
    fs::rename(&here, &there).unwrap();
    let link = there.join(".cofferdam");
    if fs::remove_file(&link).is_ok() {
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    }
    let checked = cofferdam(&["check", there.to_str().unwrap()]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
}

#[test]
fn a_plain_program_runs_in_a_domain_of_its_own() {
    let directory = TempDir::new().unwrap();
    let (source, program) = (directory.path().join("main.c"), directory.path().join("program.elf"));
    fs::write(&source, "#include <stdio.h>\nint main(void) { printf(\"half of 3 is %g\\n\", 3 / 2.0); return 0; }\n")
        .unwrap();
    for board in BOARDS {
        let flags = |which: &str| text(&cofferdam(&["sdk", "--board", board, which]).stdout);
        let built = Command::new("arm-none-eabi-gcc")
            .args(flags("--cflags").split_whitespace())
            .arg(&source)
            .args(flags("--ldflags").split_whitespace())
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
        let ran = cofferdam(&["run", "--board", board, program.to_str().unwrap()]);
        assert!(text(&ran.stdout).contains("half of 3 is 1.5"), "{}{}", text(&ran.stdout), text(&ran.stderr));
        assert_eq!(ran.status.code(), Some(0));
    }
}

/// Sources whose names differ by a separator alone, headers and flags: what runs was built from the files that are there, and the report says what that was.
#[test]
fn what_runs_is_what_was_built() {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        // Older than all that is built.
        fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    };
    let says = |text: &str| {
        format!("#include <stdio.h>\n__attribute__((constructor)) static void says(void) {{ puts(\"{text}\"); }}\n")
    };
    write("a/b.c", &says("a/b.c"));
    write("a_b.c", &says("a_b.c"));
    write(
        "main.c",
        "#include <stdio.h>\n#include \"value.h\"\nint main(void) { printf(\"%d %d\\n\", VALUE, FLAG); return 0; }\n",
    );
    let run = |flag: u32, value: u32| {
        write("value.h", &format!("#define VALUE {value}\n"));
        let manifest = format!(
            "[system]\nname = \"sources\"\nboard = \"mps2-an500\"\n[run]\nawait = [\"app\"]\nlimit = \"1 s\"\n[console]\n\
             [budget.app]\nperiod = \"10 ms\"\ncapacity = \"7 ms\"\n[domain.app]\n\
             c = {{ sources = [\"a/b.c\", \"*.c\", \"main.c\"], flags = [\"-DFLAG={flag}\"] }}\n\
             heap = {{ memory = \"sdram\", size = \"64 KiB\" }}\n[[domain.app.thread]]\npriority = 8\nbudget = \"app\"\n\
             [domain.app.uses]\nconsole = {{ gate = \"console.write\" }}\n"
        );
        write("system.toml", &manifest);
        let ran = cofferdam(&["run", directory.path().join("system.toml").to_str().unwrap()]);
        assert_eq!(ran.status.code(), Some(0), "{}{}", text(&ran.stdout), text(&ran.stderr));
        let said = text(&ran.stdout);
        for line in ["a/b.c", "a_b.c", &format!("{value} {flag}")] {
            let line = format!("app: {line}");
            assert_eq!(said.lines().filter(|said| *said == line).count(), 1, "{line}: {said}");
        }
    };
    run(1, 2);
    run(3, 4);
    let results = directory.path().join("target/cofferdam/sources");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(results.join("report.json")).unwrap()).unwrap();
    let programs = report["provenance"]["programs"].as_array().unwrap();
    let names: Vec<&str> = programs.iter().map(|program| program["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["image", "kernel", "console", "app"]);
    for program in programs {
        let sum = Command::new("sha256sum").arg(program["path"].as_str().unwrap()).output().unwrap();
        let expected = format!("sha256:{}", text(&sum.stdout).split(' ').next().unwrap());
        assert_eq!(program["hash"], expected.as_str(), "{program}");
    }
}

/// Processes of QEMU that run an image of this system.
fn emulators(image: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let lines = processes.filter_map(|path: std::path::PathBuf| fs::read(path).ok());
    lines
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            line.starts_with("qemu") && line.contains(image)
        })
        .count()
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    let system = directory.path().join("endless");
    assert!(cofferdam(&["new", system.to_str().unwrap()]).status.success());
    fs::write(system.join("main.c"), "int main(void) { for (;;) {} }\n").unwrap();
    let manifest = system.join("system.toml");
    let longer = fs::read_to_string(&manifest).unwrap().replace("limit = \"10 s\"", "limit = \"1000 s\"");
    fs::write(&manifest, longer).unwrap();
    assert!(cofferdam(&["build", manifest.to_str().unwrap()]).status.success());
    let out = directory.path().join("out");
    let mut run = Command::new("./cofferdam")
        .args(["run", manifest.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .current_dir(root())
        .spawn()
        .unwrap();
    let running = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        emulators("endless/image.elf") > 0
    });
    assert!(running, "QEMU did not start within a minute");
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(emulators("endless/image.elf"), 0);
    assert!(!Path::new(&out).exists(), "a report was begun");
}
