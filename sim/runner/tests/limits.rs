//! Every run ends, with a reason, and nothing of it stays behind.

mod support;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use record::EndReason;
use runner::{Go, ImageFacts, Progress, Qemu, Run, RunError, Version, Watch};
use support::{Guest, directory, example, plugin, tools};

#[test]
fn limits_end_a_run() {
    let guest = Guest::build("spin", "limits");
    let summary = guest.run(Watch { cycle_limit: 1_000_000, ..guest.watch() }).summary;
    assert_eq!(summary.end.reason, EndReason::CycleLimit);
    assert!((1_000_000..1_002_000).contains(&summary.cycles), "{}", summary.cycles);
    let summary = guest.run(Watch { instruction_limit: 500_000, ..guest.watch() }).summary;
    assert_eq!(summary.end.reason, EndReason::InstructionLimit);
    assert!((500_000..502_000).contains(&summary.instructions), "{}", summary.instructions);
}

#[test]
fn sleeping_for_ever_ends_a_run() {
    let guest = Guest::build("doze", "doze");
    let summary = guest.run(guest.watch()).summary;
    assert_eq!((summary.end.reason, summary.end.status), (EndReason::IdleForever, None));
}

#[test]
fn a_stopped_run_leaves_no_process() {
    let guest = Guest::build("spin", "stopped");
    let run = Run::new(support::machine(), &guest.image, guest.directory.join("run"), guest.watch());
    let mut progressed = 0;
    let outcome = run.start(&tools(), &mut |at| {
        progressed = at.cycles;
        if progressed > 0 { Go::Stop } else { Go::On }
    });
    let summary = outcome.expect("how far it got").summary;
    assert!(progressed > 0);
    assert_eq!(summary.end.reason, EndReason::Killed);
    assert!(summary.cycles >= progressed);
    let left = Command::new("pgrep").arg("-f").arg(&guest.image).output().expect("pgrep starts");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn ctrl_c_leaves_no_process() {
    let guest = Guest::build("spin", "interrupt");
    let mut tool = Command::new(example("observe"))
        .arg(&support::machine().name)
        .args([&guest.image, &guest.directory.join("run")])
        .env("COFFERDAM_PLUGIN", plugin())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the example starts");
    let progress = guest.directory.join("run/progress.bin");
    let started = Instant::now();
    let is_running =
        || fs::read(&progress).ok().and_then(|bytes| Progress::from_bytes(&bytes)).is_some_and(|at| at.cycles > 0);
    while !is_running() {
        assert!(started.elapsed() < Duration::from_secs(60), "the run does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: a signal to a child that has not been waited for.
    unsafe { libc::kill(tool.id() as libc::pid_t, libc::SIGINT) };
    let mut said = String::new();
    tool.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    assert!(tool.wait().expect("own child").success());
    let summary = runner::Summary::from_json(&said).expect("a summary on standard output");
    assert_eq!(summary.end.reason, EndReason::Killed);
    let left = Command::new("pgrep").arg("-f").arg(&guest.image).output().expect("pgrep starts");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn a_time_limit_stops_a_run() {
    let guest = Guest::build("spin", "late");
    let mut run = Run::new(support::machine(), &guest.image, guest.directory.join("run"), guest.watch());
    run.time_limit = Some(Duration::from_millis(300));
    let started = Instant::now();
    let summary = run.start(&tools(), &mut |_| Go::On).expect("how far it got").summary;
    assert_eq!(summary.end.reason, EndReason::Killed);
    assert!(started.elapsed() < Duration::from_secs(20));
}

/// An executable that prints `text`, as another QEMU would.
fn pretender(test: &str, text: &str) -> PathBuf {
    let path = directory(test).join("qemu-system-arm");
    fs::write(&path, format!("#!/bin/sh\necho '{text}'\n")).expect("the target directory can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("own file");
    path
}

#[test]
fn a_missing_qemu_is_named() {
    let error = Qemu::at(Path::new("no-such-qemu"), vec![plugin().to_path_buf()]).expect_err("there is none");
    assert!(matches!(&error, RunError::ProgramMissing(path) if path == Path::new("no-such-qemu")));
    assert_eq!(error.to_string(), "QEMU is missing: no `no-such-qemu`. Install QEMU 10.0 (`scripts/setup.sh` does)");
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    let path = pretender("other-version", "QEMU emulator version 9.2.1 (Debian)");
    let error = Qemu::at(&path, vec![plugin().to_path_buf()]).expect_err("another version");
    let expected = Version { major: 9, minor: 2, patch: 1 };
    assert!(matches!(&error, RunError::ProgramVersion { found, .. } if *found == expected));
    let text = error.to_string();
    assert!(text.contains("is QEMU 9.2.1; modelled time needs 10.0") && text.contains("--fallback"), "{text}");
}

#[test]
fn something_that_is_no_qemu_is_refused() {
    let path = pretender("no-qemu", "hello");
    let error = Qemu::at(&path, vec![plugin().to_path_buf()]).expect_err("no QEMU");
    assert!(matches!(&error, RunError::ProgramUnknown(_, said) if said == "hello"), "{error}");
}

#[test]
fn a_missing_plugin_is_named_with_the_remedy() {
    let error = Qemu::at(Path::new("qemu-system-arm"), vec![PathBuf::from("nowhere/plugin.so")]);
    let text = error.expect_err("there is none").to_string();
    assert!(text.contains("`nowhere/plugin.so`") && text.contains("cargo build"), "{text}");
}

#[test]
fn the_fallback_runs_and_says_that_nothing_was_modelled() {
    let guest = Guest::build("tick", "fallback");
    let fallback = Qemu { plugin: None, ..tools() };
    let run = Run::new(support::machine(), &guest.image, guest.directory.join("run"), guest.watch());
    let summary = run.start(&fallback, &mut |_| Go::On).expect("it runs").summary;
    assert!(!summary.modelled);
    assert_eq!((summary.profile.as_str(), summary.cycles), ("none", 0));
    assert_eq!((summary.end.reason, summary.end.status), (EndReason::Exit, Some(7)));
}

#[test]
fn an_image_that_is_none_is_refused() {
    let path = directory("no-image").join("image.elf");
    fs::write(&path, "not an ELF file").expect("the target directory can be written");
    assert!(matches!(ImageFacts::read(&path), Err(RunError::Image(..))));
    assert!(matches!(ImageFacts::read(Path::new("missing.elf")), Err(RunError::Image(..))));
}

#[test]
fn a_profile_that_is_wrong_is_reported_with_its_text() {
    let guest = Guest::build("spin", "profile");
    let watch = Watch { profile: runner::ProfileSource::Text("name = 3".into()), ..guest.watch() };
    let run = Run::new(support::machine(), &guest.image, guest.directory.join("run"), watch);
    let error = run.start(&tools(), &mut |_| Go::On).expect_err("no such profile");
    let RunError::NoSummary { output, .. } = &error else { panic!("{error}") };
    assert!(output.contains("cofferdam: profile:"), "{output}");
}

#[test]
fn a_full_disk_ends_the_run_and_says_so() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let guest = Guest::build("mixed", "full");
    let summary = guest.directory.join("summary.json");
    let watch = Watch { events: "/dev/full".into(), summary: summary.clone(), ..guest.watch() };
    let config = guest.directory.join("watch.json");
    fs::write(&config, serde_json::to_string(&watch).expect("plain values")).expect("the directory can be written");
    let output = Command::new("qemu-system-arm")
        .args(["-M", "mps2-an500", "-display", "none", "-nodefaults", "-accel", "tcg,thread=single", "-plugin"])
        .arg(format!("{},config={}", plugin().display(), config.display()))
        .arg("-kernel")
        .arg(&guest.image)
        .env("LD_PRELOAD", plugin())
        .output()
        .expect("QEMU starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("No space left"), "{said}");
    assert!(!summary.exists(), "a run without its events has no summary");
}
