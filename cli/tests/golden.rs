//! The text of every refusal is a reviewed file: `tests/golden/NAME.txt` is what `cofferdam check NAME.toml` prints.
//! `UPDATE_GOLDEN=1` rewrites the files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Manifests whose refusal comes only after the programs were built and placed.
const NEED_BUILD: &[&str] = &[
    "fixed-elf",
    "missing-symbol",
    "compiler-warns",
    "memory-full",
    "objects",
    "other-profile",
    "direct-reaches",
    "handler-ends",
    "handler-recursive",
    "handler-deep",
    "handler-calls",
    "handler-divides",
    "handler-allocates",
    "handler-prints",
    "handler-float",
    "source-pattern",
    "does-not-build",
    "symbol-empty",
    "symbol-label",
    "symbol-variable",
    "envelope-too-big",
    "marks",
    "marks-quota",
    "table-tcm",
    "zynq-objects",
    "zynq-ocm",
    "zynq-ocm-tables",
    "zynq-tables",
    "zynq-unit",
    "zynq-ways-full",
];

/// Manifests that are admitted, with a warning.
const WARNED: &[&str] = &["circular-gates", "compiler-warns"];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

/// A directory below the target directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cofferdam(directory: &Path, args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cofferdam"));
    command.args(args).current_dir(directory).env_remove("COFFERDAM_ROOT");
    command.envs(environment.iter().copied()).output().unwrap()
}

/// The text that a person sees, without the parts that depend on the machine.
fn seen(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let lines = text.lines().map(str::trim_end);
    let code = output.status.code().map_or("none".into(), |code| code.to_string());
    lines.chain([format!("exit code {code}").as_str()]).map(|line| format!("{line}\n")).collect()
}

/// Compares with the file, or rewrites it; returns what is wrong.
fn compare(name: &str, seen: &str) -> Option<String> {
    let path = golden().join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, seen).unwrap();
        return None;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    (expected != seen).then(|| format!("== {name}\n-- expected\n{expected}-- seen\n{seen}"))
}

fn manifests() -> Vec<String> {
    let entries = fs::read_dir(golden()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    names
}

/// An ELF header for a machine, followed by nothing.
fn header(class: u8, machine: u16, flags: u32) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', class, 1, 1];
    bytes.resize(16, 0);
    bytes.extend(2u16.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.resize(36, 0);
    bytes.extend(flags.to_le_bytes());
    bytes.extend(52u16.to_le_bytes());
    bytes.resize(64, 0);
    bytes
}

fn copy_all(to: &Path) {
    for entry in fs::read_dir(golden()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    fs::write(to.join("x86.elf"), header(2, 62, 0)).unwrap();
    fs::write(to.join("riscv.elf"), header(1, 243, 0)).unwrap();
    fs::write(to.join("soft-float.elf"), header(1, 40, 0x0500_0200)).unwrap();
    fs::write(to.join("damaged.elf"), b"\x7fELF and then nothing").unwrap();
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}\n{} texts differ; UPDATE_GOLDEN=1 rewrites them", wrong.join("\n"), wrong.len());
}

#[test]
fn every_refusal_of_a_manifest_reads_as_reviewed() {
    let scratch = Scratch::new("manifests");
    copy_all(&scratch.0);
    let mut wrong = Vec::new();
    for name in manifests().iter().filter(|name| !NEED_BUILD.contains(&name.as_str())) {
        let output = cofferdam(&scratch.0, &["check", "--quick", &format!("{name}.toml")], &[]);
        assert_eq!(output.status.code() == Some(0), WARNED.contains(&name.as_str()), "{name}: {}", seen(&output));
        wrong.extend(compare(name, &seen(&output)));
    }
    report(wrong);
}

/// A program that is linked for addresses in the middle of the kernel's memory, without relocations.
fn link_fixed(directory: &Path) {
    const AT: &str = "-Wl,--defsym=__cofferdam_code=0x00200000,--defsym=__cofferdam_gate_return=0";
    let script = format!("-T{}", Path::new(env!("CARGO_MANIFEST_DIR")).join("../user/domain.ld").display());
    link(directory, "fixed", "COF_NOTE", "void __cofferdam_entry(void) { for (;;) {} }", &[AT, &script]);
}

/// Links a program that says in its note for which version it is.
fn link(directory: &Path, name: &str, note: &str, source: &str, more: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let note = format!("const unsigned version[] __attribute__((used, section(COF_NOTE_SECTION))) = {note};");
    fs::write(directory.join(name).with_extension("c"), format!("#include <cofferdam_abi.h>\n{note}\n{source}\n"))
        .unwrap();
    let status = Command::new("arm-none-eabi-gcc")
        .args(["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-nostdlib"])
        .arg(format!("-I{}", root.join("user/c/include").display()))
        .args(more)
        .args([&format!("{name}.c"), "-o", &format!("{name}.elf")])
        .current_dir(directory)
        .status()
        .unwrap();
    assert!(status.success());
}

/// Links a program for a domain, of a few lines.
fn link_domain(directory: &Path, name: &str, note: &str) {
    const SOURCE: &str =
        "const unsigned table[] = { 7, 0x16d00004, 0x16d00009 }; int data[4] = { 1 }, *pointer = &data[1];
        void __cofferdam_gate_return(void) {} void __cofferdam_entry(void) { data[0] = (int)table[*pointer]; }";
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../user/domain.ld");
    link(directory, name, note, SOURCE, &["-Wl,--emit-relocs", &format!("-T{}", script.display())]);
}

/// Files of every kind in the place of a program, a source or a manifest: each is read, or refused, at once.
#[test]
fn every_refusal_of_a_file_reads_as_reviewed() {
    let scratch = Scratch::new("files");
    let directory = &scratch.0;
    let at = |name: &str| directory.join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    fs::create_dir(at("directory")).unwrap();
    fs::write(at("empty"), b"").unwrap();
    fs::File::create(at("sparse")).unwrap().set_len(10 << 30).unwrap();
    link_domain(directory, "good", "COF_NOTE");
    link_domain(directory, "older", "{ 12u, 4u, 1u, 0x66666f43u, 0x61647265u, 0x6du, 2u }");
    let mut bytes = fs::read(at("good.elf")).unwrap();
    bytes[5] = 2;
    fs::write(at("big-endian.elf"), &bytes).unwrap();
    let mut cut = Command::new("arm-none-eabi-objcopy");
    cut.args(["-R", ".rel.text", "good.elf", "cut.elf"]).current_dir(directory);
    assert!(cut.status().unwrap().success());
    let manifest = |key: &str, file: &str| {
        let text = fs::read_to_string(golden().join("missing-elf.toml")).unwrap();
        text.replace("elf = \"absent.elf\"", &key.replace('@', file))
    };
    let (elf, source) = ("elf = \"@\"", "c = { sources = [\"@\"] }");
    let cases = [
        ("elf-device", elf, "/dev/zero"),
        ("elf-pipe", elf, "pipe"),
        ("elf-directory", elf, "directory"),
        ("elf-sparse", elf, "sparse"),
        ("elf-empty", elf, "empty"),
        ("elf-older", elf, "older.elf"),
        ("elf-big-endian", elf, "big-endian.elf"),
        ("elf-cut", elf, "cut.elf"),
        ("elf-suspects", elf, "good.elf"),
        ("source-pipe", source, "pipe"),
        ("source-sparse", source, "sparse"),
    ];
    let mut wrong = Vec::new();
    for (name, key, file) in cases {
        fs::write(at(name).with_extension("toml"), manifest(key, file)).unwrap();
        wrong.extend(compare(name, &seen(&cofferdam(directory, &["check", "--quick", &format!("{name}.toml")], &[]))));
    }
    let cases: [(&str, &[&str]); 3] = [
        ("manifest-device", &["check", "/dev/zero"]),
        ("manifest-pipe", &["check", "pipe"]),
        ("run-sparse", &["run", "--board", "mps2-an500", "sparse"]),
    ];
    wrong.extend(cases.iter().filter_map(|(name, args)| compare(name, &seen(&cofferdam(directory, args, &[])))));
    report(wrong);
    let output = cofferdam(directory, &["check", "--quick", "--json", "elf-suspects.toml"], &[]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["ok"], &value["warnings"][0]["code"]), (&true.into(), &"CF0510".into()));
}

#[test]
fn every_refusal_of_a_program_reads_as_reviewed() {
    let scratch = Scratch::new("programs");
    copy_all(&scratch.0);
    link_fixed(&scratch.0);
    let mut wrong = Vec::new();
    for name in NEED_BUILD {
        let output = cofferdam(&scratch.0, &["check", &format!("{name}.toml")], &[]);
        assert_eq!(output.status.code() == Some(0), WARNED.contains(name), "{name}: {}", seen(&output));
        wrong.extend(compare(name, &seen(&output)));
    }
    report(wrong);
}

#[test]
fn a_missing_or_wrong_qemu_reads_as_reviewed() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("qemu");
    let old = scratch.0.join("qemu");
    fs::write(&old, "#!/bin/sh\necho 'QEMU emulator version 7.2.9 (Debian)'\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(scratch.0.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    let manifest = fs::read_to_string(golden().join("missing-source.toml")).unwrap().replace("absent.c", "main.c");
    fs::write(scratch.0.join("system.toml"), manifest).unwrap();
    let cases = BTreeMap::from([("qemu-missing", "/nonexistent/qemu-system-arm"), ("qemu-version", "./qemu")]);
    let mut wrong = Vec::new();
    for (name, qemu) in cases {
        let output = cofferdam(&scratch.0, &["run"], &[("COFFERDAM_QEMU", qemu)]);
        wrong.extend(compare(name, &seen(&output)));
    }
    report(wrong);
}

#[test]
fn a_missing_manifest_and_run_and_code_read_as_reviewed() {
    let scratch = Scratch::new("missing");
    fs::write(scratch.0.join("older.json"), "{\"schema\": 3}").unwrap();
    fs::write(scratch.0.join("cut.json"), "{\"schema\": 4, ").unwrap();
    let cases: [(&str, &[&str]); 13] = [
        ("manifest-missing", &["check", "absent.toml"]),
        ("code-unknown", &["explain", "CF9999"]),
        ("elf-without-board", &["run", "program.elf"]),
        ("elf-argument", &["run", "program.elf", "--board", "mps2-an500", "--", "two\nlines"]),
        ("stack-of-system", &["run", "absent.toml", "--stack", "8 KiB"]),
        ("report-board", &["report", "golden", "--board", "absent"]),
        ("waves-backwards", &["run", "absent.toml", "--waves", "2000..1000"]),
        ("bench-only", &["bench", "--only", "absent"]),
        ("new-name", &["new", "a golden system"]),
        ("diff-missing", &["diff", "absent.json", "older.json"]),
        ("diff-schema", &["diff", "older.json", "older.json"]),
        ("diff-device", &["diff", "/dev/zero", "older.json"]),
        ("diff-cut", &["diff", "cut.json", "older.json"]),
    ];
    let wrong = cases.iter().filter_map(|(name, args)| compare(name, &seen(&cofferdam(&scratch.0, args, &[]))));
    report(wrong.collect());
}

/// The files of a run of a system with nothing in it, as `cofferdam report` reads them.
fn fake_run(target: &Path) {
    let run = target.join("cofferdam/golden/run");
    fs::create_dir_all(&run).unwrap();
    let system = report::SystemDescription {
        system: "golden".into(),
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        ..Default::default()
    };
    fs::write(target.join("cofferdam/golden/layout.json"), serde_json::to_vec(&system).unwrap()).unwrap();
    fs::write(run.join("events.bin"), b"CFDEVT\x02\0\0\0\0\0\0\0\0\0").unwrap();
    fs::write(run.join("summary.json"), include_str!("summary.json")).unwrap();
    fs::write(run.join("uart.txt"), b"").unwrap();
}

/// Two reports of one run are equal; another number of switches is a difference, unless it is within the threshold.
#[test]
fn diff_says_what_changed_and_answers_by_its_exit_code() {
    let scratch = Scratch::new("diff");
    fake_run(&scratch.0);
    let target = [("CARGO_TARGET_DIR", scratch.0.to_str().unwrap())];
    let written = cofferdam(&scratch.0, &["report", "golden", "--out", "."], &target);
    assert!(written.status.success(), "{}", seen(&written));
    let text = fs::read_to_string(scratch.0.join("report.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["run"]["instructions"] = serde_json::json!(value["run"]["instructions"].as_u64().unwrap() * 101 / 100);
    value["provenance"] = serde_json::Value::Null;
    fs::write(scratch.0.join("later.json"), value.to_string()).unwrap();
    let diff = |args: &[&str]| {
        let output = cofferdam(&scratch.0, &[&["diff", "--json", "."], args].concat(), &target);
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), value["comparison"]["changes"].as_array().unwrap().clone())
    };
    assert_eq!(diff(&["report.json"]), (Some(0), Vec::new()));
    let (code, changes) = diff(&["later.json"]);
    assert_eq!((code, changes.len()), (Some(1), 1));
    assert_eq!((&changes[0]["figure"], &changes[0]["percent"]), (&"instructions".into(), &1.0.into()));
    assert_eq!(diff(&["later.json", "--above", "2%"]), (Some(0), Vec::new()));
}

/// In a mount name space of its own, where the directory `full` is a file system of one page, and then one in which the report has room and the page has not.
#[test]
fn a_full_disk_reads_as_reviewed_and_leaves_the_old_report() {
    let scratch = Scratch::new("full");
    fake_run(&scratch.0);
    fs::create_dir(scratch.0.join("full")).unwrap();
    let tool = env!("CARGO_BIN_EXE_cofferdam");
    let script = format!(
        "mount -t tmpfs -o size=4k none full && echo old > full/report.json && {{ {tool} report golden --out full; }}; \
         cat full/report.json >&2; ls full >&2; umount full; \
         mount -t tmpfs -o size=40k none full && echo old > full/report.json && echo old > full/report.html && \
         {{ {tool} report golden --out full; code=$?; }}; cat full/report.json full/report.html >&2; ls full >&2; exit $code"
    );
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .current_dir(&scratch.0)
        .env("CARGO_TARGET_DIR", &scratch.0)
        .env_remove("COFFERDAM_ROOT")
        .output()
        .unwrap();
    report(compare("disk-full", &seen(&output)).into_iter().collect());
}

/// A system of the same name in another directory left the results, or this one before it was changed.
#[test]
fn a_report_of_another_manifest_reads_as_reviewed() {
    let scratch = Scratch::new("another");
    fake_run(&scratch.0);
    copy_all(&scratch.0);
    let results = scratch.0.join("cofferdam/golden");
    let target = scratch.0.to_str().unwrap();
    let origin = r#"{ "manifest": "/elsewhere/system.toml", "text": "" }"#;
    fs::write(results.join("origin.json"), origin).unwrap();
    let asked = |args: &[&str]| cofferdam(&scratch.0, args, &[("CARGO_TARGET_DIR", target)]);
    report(compare("another-run", &seen(&asked(&["report", "missing-source.toml"]))).into_iter().collect());
    for args in [&["trace", "--last", "missing-source.toml"][..], &["report", "missing-source.toml", "--json"]] {
        let output = asked(args);
        assert_eq!(output.status.code(), Some(3));
        assert!([output.stdout, output.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("CF0511")));
    }
    assert!(!results.join("report.json").exists() && !results.join("trace.json").exists());
}

#[test]
fn json_carries_the_same_refusal() {
    let scratch = Scratch::new("json");
    copy_all(&scratch.0);
    let output = cofferdam(&scratch.0, &["check", "--quick", "--json", "unknown-budget.toml"], &[]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["ok"], false);
    assert_eq!(value["exit"], 3);
    let refusal = &value["diagnostics"][0];
    assert_eq!((refusal["code"].as_str(), refusal["line"].as_u64()), (Some("CF0202"), Some(14)));
    assert_eq!(refusal["place"], "domain.app.thread[0].budget");
    assert!(output.stderr.is_empty());
}

#[test]
fn json_says_what_a_bound_consists_of() {
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/manager/hostile.toml");
    let output = cofferdam(Path::new("."), &["check", "--quick", "--json", system.to_str().unwrap()], &[]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let response = &value["responses"][0];
    assert_eq!(response["thread"], "victim.main");
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let terms = response["terms"].as_array().unwrap();
    let sum: f64 = terms.iter().map(|term| number(&term["us"])).sum();
    assert!((sum - number(&response["response_us"])).abs() < 0.01, "{response}");
    let slack = number(&response["deadline_us"]) - number(&response["response_us"]);
    assert!((slack - number(&response["slack_us"])).abs() < 0.01, "{response}");
    assert!(terms.iter().any(|term| term["term"] == "gate" && term["of"] == "console.write"), "{response}");
}

#[test]
fn json_says_what_is_wrong_with_the_use() {
    let scratch = Scratch::new("use");
    let output = cofferdam(&scratch.0, &["check", "--json", "--frobnicate"], &[]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), value["exit"].as_u64()), (Some(2), Some(2)));
    assert!(value["usage"].as_str().unwrap().contains("--frobnicate"), "{value}");
    assert!(output.stderr.is_empty());
}

/// An argument is bytes, not text, and what is wrong with it is told all the same.
#[test]
fn an_argument_that_is_no_text_is_wrong_use() {
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    for more in [&[][..], &["--json"]] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_cofferdam")).arg("check").arg(odd).arg("--nonsense").args(more).output();
        assert_eq!(output.unwrap().status.code(), Some(2), "{more:?}");
    }
}

#[test]
fn a_system_can_be_made_in_the_directory_where_one_is() {
    let scratch = Scratch::new("here");
    let directory = scratch.0.join("starter");
    fs::create_dir(&directory).unwrap();
    let output = cofferdam(&directory, &["new", "."], &[]);
    assert!(output.status.success(), "{}", seen(&output));
    assert!(fs::read_to_string(directory.join("system.toml")).unwrap().contains("name = \"starter\""));
}

/// The command that `new` prints is read by a shell, and then by `cofferdam`, as it is meant.
#[test]
fn what_new_says_can_be_typed() {
    let scratch = Scratch::new("typed");
    for directory in ["-x", "--json", "plain", "a b/c", "it's/here", "$HOME/y"] {
        let output = cofferdam(&scratch.0, &["new", "--", directory], &[]);
        let said = String::from_utf8(output.stdout.clone()).unwrap();
        let (_, command) =
            said.trim().split_once("run it: cofferdam run ").unwrap_or_else(|| panic!("{}", seen(&output)));
        let tool = env!("CARGO_BIN_EXE_cofferdam");
        let script = format!("'{tool}' check --quick {command}");
        let checked = Command::new("sh").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
        assert!(checked.status.success(), "{script}\n{}", seen(&checked));
    }
}

/// The refusal that README.md shows, of the gateway with a budget of 900 us for its attacker.
#[test]
fn the_readme_shows_what_check_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let scratch = Scratch::new("readme");
    let link = |from: PathBuf, to: PathBuf| {
        for entry in fs::read_dir(from).unwrap().flatten().filter(|entry| entry.file_name() != "system.toml") {
            std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).unwrap();
        }
    };
    let gateway = scratch.0.join("examples/gateway");
    fs::create_dir_all(&gateway).unwrap();
    link(root.join("examples/gateway"), gateway.clone());
    std::os::unix::fs::symlink(root.join("services"), scratch.0.join("services")).unwrap();
    let manifest = fs::read_to_string(root.join("examples/gateway/system.toml")).unwrap();
    fs::write(gateway.join("system.toml"), manifest.replacen("capacity = \"250 us\"", "capacity = \"900 us\"", 1))
        .unwrap();
    let said = seen(&cofferdam(&gateway, &["check", "--quick", "system.toml"], &[]));
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = plain(&said);
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = readme.lines().skip_while(|line| !line.contains("$ ./cofferdam check --quick")).skip(1);
    let shown: Vec<&str> = shown.take_while(|line| !line.is_empty()).collect();
    let wrong: Vec<&&str> = shown.iter().filter(|line| !said.contains(&plain(line))).collect();
    assert!(shown.len() > 10 && wrong.is_empty(), "README.md shows {wrong:#?}, but: {said}");
}
