//! The text of every refusal is a reviewed file: `tests/golden/NAME.txt` is what `cofferdam check NAME.toml` prints.
//! `UPDATE_GOLDEN=1` rewrites the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Manifests whose refusal comes only after the programs were built and placed.
const NEED_BUILD: &[&str] = &[
    "fixed-elf",
    "missing-symbol",
    "memory-full",
    "objects",
    "does-not-build",
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
        assert_ne!(output.status.code(), Some(0), "{name} was admitted");
        wrong.extend(compare(name, &seen(&output)));
    }
    report(wrong);
}

/// A program that is linked for addresses in the middle of the kernel's memory, without relocations.
fn link_fixed(directory: &Path) {
    fs::write(directory.join("fixed.c"), "void _start(void) { for (;;) {} }\n").unwrap();
    let status = Command::new("arm-none-eabi-gcc")
        .args(["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-nostdlib"])
        .args(["-Wl,-Ttext=0x00200000", "fixed.c", "-o", "fixed.elf"])
        .current_dir(directory)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn every_refusal_of_a_program_reads_as_reviewed() {
    let scratch = Scratch::new("programs");
    copy_all(&scratch.0);
    link_fixed(&scratch.0);
    let mut wrong = Vec::new();
    for name in NEED_BUILD {
        let output = cofferdam(&scratch.0, &["check", &format!("{name}.toml")], &[]);
        assert_ne!(output.status.code(), Some(0), "{name} was admitted");
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
    let cases: [(&str, &[&str]); 6] = [
        ("manifest-missing", &["check", "absent.toml"]),
        ("code-unknown", &["explain", "CF9999"]),
        ("elf-without-board", &["run", "program.elf"]),
        ("report-board", &["report", "golden", "--board", "absent"]),
        ("bench-only", &["bench", "--only", "absent"]),
        ("new-name", &["new", "a golden system"]),
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

/// In a mount name space of its own, where the directory `full` is a file system of one page.
#[test]
fn a_full_disk_reads_as_reviewed_and_leaves_the_old_report() {
    let scratch = Scratch::new("full");
    fake_run(&scratch.0);
    fs::create_dir(scratch.0.join("full")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=4k none full && echo old > full/report.json && {{ {} report golden --out full; code=$?; }}; \
         cat full/report.json >&2; ls full >&2; exit $code",
        env!("CARGO_BIN_EXE_cofferdam")
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

#[test]
fn a_system_can_be_made_in_the_directory_where_one_is() {
    let scratch = Scratch::new("here");
    let directory = scratch.0.join("starter");
    fs::create_dir(&directory).unwrap();
    let output = cofferdam(&directory, &["new", "."], &[]);
    assert!(output.status.success(), "{}", seen(&output));
    assert!(fs::read_to_string(directory.join("system.toml")).unwrap().contains("name = \"starter\""));
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
