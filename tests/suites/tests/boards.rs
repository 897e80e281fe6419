//! Boards of one's own, and files that are not what the machine is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use system_tests::{Ran, cofferdam, root, target_dir};
use tempfile::TempDir;

const HELLO: &str = "examples/hello/system.toml";
/// It runs for a tenth of a second: long enough to tell a clock's rate.
const DEVICE: &str = "examples/device/system.toml";

/// A board's file with changes, in a directory of one's own.
fn board(directory: &TempDir, like: &str, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = fs::read_to_string(root().join(format!("boards/{like}/board.toml"))).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let path = directory.path().join("board.toml");
    fs::write(&path, text).unwrap();
    path
}

/// The message of `check` about a manifest on that board, and its exit code.
fn check(board: &Path) -> (String, Option<i32>) {
    told(&cofferdam(&["check", "--quick", HELLO, "--board", &board.to_string_lossy()]))
}

/// The message of a command in one line, and its exit code.
fn told(output: &Output) -> (String, Option<i32>) {
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    (said, output.status.code())
}

/// A checkout like this one with a change in a core's file: the command and the build scripts of images find that, and the rest by links.
fn checkout(directory: &TempDir, core: &str, (from, to): (&str, &str)) -> PathBuf {
    let other = directory.path().join("checkout");
    let _ = fs::remove_dir_all(&other);
    fs::create_dir(&other).unwrap();
    for entry in fs::read_dir(root()).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        match name.to_string_lossy().as_ref() {
            "target" | ".git" => {}
            "cores" | "images" => {
                let copied = Command::new("cp").arg("-r").arg(entry.path()).arg(&other).status();
                assert!(copied.unwrap().success());
            }
            _ => std::os::unix::fs::symlink(entry.path(), other.join(name)).unwrap(),
        }
    }
    let path = other.join(format!("cores/{core}.toml"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    other
}

/// Runs the command of another checkout.
fn cofferdam_in(checkout: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(target_dir().join("release/cofferdam"));
    command.args(args).current_dir(checkout).env("COFFERDAM_ROOT", checkout).env("CARGO_TARGET_DIR", target_dir());
    command.output().unwrap()
}

/// The kernel of a board of one's own is another, but its core library is not: begin with that of a board that was built.
fn begin_with_the_library_of(like: &str, name: &str) {
    let kernels = target_dir().join("kernel");
    let _ = fs::remove_dir_all(kernels.join(name));
    let copied = Command::new("cp").arg("-a").arg(kernels.join(like)).arg(kernels.join(name)).status();
    assert!(copied.unwrap().success());
}

/// The kernel is built with the constants of the file, so that kernel and tools agree; the machine does not.
#[test]
fn a_board_of_ones_own_runs_and_a_clock_that_goes_otherwise_is_seen() {
    let directory = TempDir::new().unwrap();
    let same = Ran::on("mps2-an500", DEVICE, &[]);
    begin_with_the_library_of("mps2-an500", "bench-3");
    for (rate, fails) in [("25_000_000", false), ("20_000_000", true)] {
        let changes = [
            ("name = \"mps2-an500\"", "name = \"bench-3\""),
            ("ticks_per_second = 25_000_000", &format!("ticks_per_second = {rate}")),
        ];
        let own = board(&directory, "mps2-an500", &changes);
        let ran = Ran::on(&own.to_string_lossy(), DEVICE, &[]);
        let failures = ran.report["verdict"]["failures"].to_string();
        assert_eq!(failures.contains("clock-rate"), fails, "{rate}: {failures}");
        assert_eq!(ran.code != 0, fails, "{}", ran.stderr);
        if !fails {
            assert_eq!(ran.console(), same.console());
        }
    }
}

/// A system of two domains with periods of 4 and 10 ms, each of which works for 0.3 ms in each.
fn two_periods(directory: &TempDir) -> String {
    let tests = root().join("tests/time");
    let mut text = "[system]\nname = \"periods\"\nboard = \"mps2-an500\"\n[run]\nlimit = \"100 ms\"\n".to_owned();
    text += &format!("[file.acts]\npath = {:?}\n", tests.join("liar.txt"));
    for (name, ms, priority) in [("often", 4, 0), ("seldom", 10, 1)] {
        text += &format!("[budget.{name}]\nperiod = \"{ms} ms\"\ncapacity = \"1 ms\"\n");
        text += &format!("[domain.{name}]\ncrate = {:?}\nfiles = [\"acts\"]\n", tests.join("player"));
        // The second line of the file is theirs.
        text += &format!("[[domain.{name}.thread]]\nargument = 1\npriority = {priority}\nbudget = \"{name}\"\n");
        text += &format!("period = \"{ms} ms\"\ndeadline = \"{ms} ms\"\nwcet = \"500 us\"\n");
    }
    let path = directory.path().join("system.toml");
    fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// Kernels arm their timers by the two times of `[clock]`: the timer comes later where the file says that it does.
#[test]
#[ignore = "three kernels: `make test-long` runs it"]
fn the_times_of_a_boards_timer_reach_its_kernel() {
    const TICK_CYCLES: f64 = 767.0 / 25.0;
    let directory = TempDir::new().unwrap();
    let manifest = two_periods(&directory);
    Ran::on("xilinx-zynq-a9", &manifest, &[]);
    begin_with_the_library_of("xilinx-zynq-a9", "bench-5");
    // A timer that begins 1 ms late is late by that, less what was left when it was armed. One that is armed for 1.9 ms at least is late by 0.2 ms where a job ended 1.7 ms before the next
    // release, and by more where it came in between. None is later than both times together.
    for (from, to, late_ticks) in [
        ("\nstart_ticks = 1\n", "\nstart_ticks = 1\n", 0.0..2.0),
        ("\nstart_ticks = 1\n", "\nstart_ticks = 25_000\n", 20_000.0..25_001.0),
        ("\nshortest_ticks = 1\n", "\nshortest_ticks = 47_500\n", 5000.0..47_501.0),
    ] {
        let own =
            board(&directory, "xilinx-zynq-a9", &[("name = \"xilinx-zynq-a9\"", "name = \"bench-5\""), (from, to)]);
        let ran = Ran::on(&own.to_string_lossy(), &manifest, &[]);
        assert_eq!(ran.code, 0, "{to}: {}", ran.stderr);
        let late = ran.report["threads"].as_array().unwrap().iter().map(|thread| &thread["release_late_cycles"]);
        let latest = late.filter_map(serde_json::Value::as_f64).fold(0.0, f64::max) / TICK_CYCLES;
        assert!(late_ticks.contains(&latest), "{to}: {latest} ticks");
    }
}

#[test]
fn a_file_that_states_what_is_not_its_own_is_refused() {
    let directory = TempDir::new().unwrap();
    let named = ("name = \"xilinx-zynq-a9\"", "name = \"other\"");
    let with = |change: (&str, &str)| check(&board(&directory, "xilinx-zynq-a9", &[named, change]));
    for (change, code, words) in [
        (("kernel_offset", "locked_entries = 6\nkernel_offset"), "CF0605", "unknown field `locked_entries`"),
        (("kernel_offset", "regions = 16\nkernel_offset"), "CF0605", "unknown field `regions`"),
        (("machine = ", "cpu_hz = 767_000_000\nmachine = "), "CF0605", "unknown field `cpu_hz`"),
        (("tables = \"ocm\"", "tables = \"ddr3\""), "CF0605", "protection.tables: `ddr3` is no memory"),
        (("device = \"private\"", "device = \"timer\""), "CF0605", "clock.device: no device `timer`"),
        (("kind = \"pl310\"", "kind = \"l2c\""), "CF0605", "drives `l2` as a `pl310`, its kind is"),
        (
            (
                "[memory.cold]\nbase = 0x0008_0000\nbytes = 0x0008_0000\nkind = \"kernel\"",
                "[memory.cold]\nbase = 0x0008_0000\nbytes = 0x0008_0000\nkind = \"ram\"",
            ),
            "CF0605",
            "needs `cold`",
        ),
        (("base = 0xe000_0000", "base = 0xf8f0_0000"), "CF0605", "`private` and `uart0` overlap"),
        (("rx = 59, tx = 59", "rx = 29, tx = 59"), "CF0605", "device.uart0.lines.rx = 29"),
        (("rx = 59, tx = 59", "rx = 82, tx = 59"), "CF0605", "device.uart1.lines.event = 82: it is `uart0`'s"),
        (("ticks_per_second = 25_000_000", "ticks_per_second = 0"), "CF0605", "ticks_per_second = 0"),
        (("divider = 4", "divider = 260"), "CF0605", "clock.divider = 260"),
        (("kernel_offset = 0x8000_0000", "kernel_offset = 0xc000_0000"), "CF0605", "protection.kernel_offset"),
        (("windows = 0x4000_0000", "windows = 0x2000_0000"), "CF0605", "`ddr` lies in them"),
        (("bytes = 0x3ff0_0000", "bytes = 0x7ff0_0000"), "CF0605", "`ddr` of the board `other` is not where its chip"),
        (("masked_frames_cycles = ", "masked_frames_cycles = 737869"), "CF0605", "kernel: a path of more than"),
        (("[device.ttc1]", "[device.ttc-1]"), "CF0605", "`ttc-1` is no name"),
        (("stands_in_for = [\"timer1\"]", "stands_in_for = [\"ttc1\"]"), "CF0605", "`ttc1` stands for two"),
        (("simulator = \"qemu\"", "simulator = \"renode\""), "CF0605", "there is no simulator `renode`"),
        (("machine_memory = \"1G\"", "machine_memory = \"1G -foo\""), "CF0605", "machine_memory"),
        (
            ("machine_memory = \"1G\"", "machine_memory = \"512M\""),
            "CF0605",
            "left machine_memory: 0x20000000 bytes from 0x00000000",
        ),
        (("machine_memory = \"1G\"\n", ""), "CF0605", "the machine lacks a part of the memory `ddr`"),
        (("[memory.cold]", "[memory.boot]"), "CF0605", "needs a memory `cold`"),
        (("base = 0xfffe_4000", "base = 0xe000_4000"), "CF0605", "`ocm` of the board `other` is not where its chip"),
        (("base = 0xf800_2000", "base = 0x1000_2000"), "CF0605", "`ttc1` of the board `other` is not where its chip"),
        (("chip = \"xc7z020\"", "chip = \"stm32f767\""), "CF0202", "for the board `mps2-an500`"),
    ] {
        let (said, exit) = with(change);
        assert!(said.contains(code) && said.contains(words) && exit != Some(0), "{change:?}: {said}");
    }
    let (said, _) = check(&board(&directory, "xilinx-zynq-a9", &[]));
    assert!(said.contains("CF0202") && said.contains("cannot be called"), "{said}");
}

/// A memory that not every chip of a board has: without it another one takes its place, and what the kernel needs is never optional.
#[test]
fn a_memory_that_the_chip_may_lack_is_said_to_be_so() {
    let directory = TempDir::new().unwrap();
    let named = ("name = \"mps2-an505\"", "name = \"other\"");
    let with = |change: (&str, &str)| check(&board(&directory, "mps2-an505", &[named, change]));
    assert_eq!(with(("optional = true", "optional = true")).1, Some(0));
    for (change, words) in [
        (("optional = true\n", ""), "`psram` of the board `other` is not where its chip has one"),
        (("reserved = 0x1_0000", "reserved = 0x1_0000\noptional = true"), "`sram` is optional and reserves bytes"),
        (("[\"sdram\", \"ddr\"]", "[\"sdram\", \"sram\"]"), "`sram` stands for two"),
    ] {
        let (said, exit) = with(change);
        assert!(said.contains("CF0605") && said.contains(words) && exit != Some(0), "{change:?}: {said}");
    }
    let moved = [named, ("chip = \"lpc55s69\"", "chip = \"an505-8m\""), ("base = 0x8000_0000", "base = 0x9000_0000")];
    let (said, _) = check(&board(&directory, "mps2-an505", &moved));
    assert!(said.contains("CF0605") && said.contains("`psram` of the board `other` is not where"), "{said}");
}

/// A chip of one's own beside the board's file: what the kernel cannot divide is refused, and so is a fact of the core.
#[test]
fn a_chip_that_is_not_the_kernels_is_refused() {
    let directory = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("chips/xc7z020.toml")).unwrap();
    let changes = [("name = \"xilinx-zynq-a9\"", "name = \"other\""), ("chip = \"xc7z020\"", "chip = \"chip.toml\"")];
    let own = board(&directory, "xilinx-zynq-a9", &changes);
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fs::write(directory.path().join("chip.toml"), text.replacen(from, to, 1)).unwrap();
        check(&own)
    };
    assert_eq!(with("name = ", "name = ").1, Some(0));
    let lock = "lock_entries = { value = 6, unit = \"count\", source = \"assumption: a test\" }";
    let (said, _) = with("[application.l2.cache]", &format!("[application.mmu]\n{lock}\n\n[application.l2.cache]"));
    assert!(said.contains("CF0605") && said.contains("`application.mmu.lock_entries` is a fact of the core"), "{said}");
    let (said, _) = with("value = 524_288", "value = 1_048_576");
    assert!(said.contains("CF0202") && said.contains("131072") && said.contains("65536"), "{said}");
    for (from, to, words) in [
        ("0x4230_0000", "0x4236_0000", "bits 16 to 19 are 0x6 left 0; `application.l2.cache` says 8 ways of 64 KiB"),
        ("0x4230_0000", "0x4231_0000", "bits 16 to 19 are 0x1"),
        ("0x4230_0000", "0x4030_0000", "bit 25 says pseudo-random"),
        ("[0xf800_0008,", "[0x0010_0000,", "asked 0x00100000 left the memory `ddr`"),
        ("[0xf800_0008,", "[0xe000_0000,", "left the device `uart0` of the board"),
        ("[0xf800_0008,", "[0xf8f0_2104,", "the device `l2` of the board"),
        ("[0xf800_0008,", "[0xf700_0000,", "asked 0xf7000000 left nothing"),
        ("[0xf800_0008,", "[0xf800_000a,", "no register begins there"),
    ] {
        let (said, _) = with(from, to);
        assert!(said.contains("CF0605") && said.contains(words), "{to}: {said}");
    }
    let (said, _) = with("core = \"cortex-a9\"", "core = \"cortex-a5\"");
    assert!(said.contains("CF0605") && said.contains("there is no core `cortex-a5`"), "{said}");
}

/// Directories are looked for at once, what only the compilers know before anything is built.
#[test]
fn a_core_file_that_names_nothing_is_refused() {
    let directory = TempDir::new().unwrap();
    let same = checkout(&directory, "cortex-m7", ("about = ", "about = "));
    assert_eq!(told(&cofferdam_in(&same, &["check", "--quick", HELLO])).1, Some(0));
    for (from, to, quick, words) in [
        ("\"arch/arm-user\"", "\"arch/arm-users\"", true, "wrong: entry"),
        ("\"arch/arm-user\"", "\"arch/armv7m\"", true, "there is no `arch/armv7m/include/cofferdam/arch.h`"),
        ("\"images/armv-m\"", "\"images/armv8m\"", true, "wrong: image.package"),
        ("name = \"newlib\"", "name = \"newlibs\"", true, "there is no `user/c/newlibs/compile.txt`"),
        ("kernel = \"thumbv7em-none-eabi\"", "kernel = \"thumbv7en-none\"", false, "targets.kernel"),
        ("\"thumbv7em-none-eabihf\"", "\"thumbv7em-none-eabihard\"", false, "targets.domain"),
        ("cpu = \"cortex-m7\"", "cpu = \"cortex-m6\"", false, "targets.cpu"),
        ("[\"-mcpu=cortex-m7\",", "[\"-mcpu=cortex-m6\",", false, "targets.c_flags"),
        ("[\"-march=armv7e-m+fp.dp\",", "[\"-march=armv7e-q\",", false, "targets.cc_flags"),
        ("regions = 8", "regions = 16", true, "the core `cortex-m7` has another number of region registers"),
    ] {
        let other = checkout(&directory, "cortex-m7", (from, to));
        let args: &[&str] = if quick { &["check", "--quick", HELLO] } else { &["check", HELLO] };
        let (said, exit) = told(&cofferdam_in(&other, args));
        let code = if to.contains("regions") { "CF0202" } else { "CF0605" };
        let known = said.contains(code) && said.contains(words) && said.contains("correct the core's file");
        assert!(known && exit != Some(0), "{to}: {said}");
    }
}

#[test]
fn a_library_of_c_that_is_not_installed_is_missed() {
    let directory = TempDir::new().unwrap();
    let other = checkout(&directory, "cortex-m7", ("file = \"libc.a\"", "file = \"nothing.a\""));
    for args in [&["check", "examples/plain-c/system.toml"][..], &["sdk", "--board", "mps2-an500", "--cflags"]] {
        let (said, exit) = told(&cofferdam_in(&other, args));
        let known = said.contains("CF0601") && said.contains("the library of C for the chip (newlib) is not installed");
        assert!(known && exit == Some(5), "{exit:?}: {said}");
    }
}

/// A board like the one with a Cortex-A9, with another name, whose kernel is built from a checkout of its own.
fn own_board(directory: &TempDir, name: &str) -> String {
    assert!(cofferdam(&["build", HELLO, "--board", "xilinx-zynq-a9"]).status.success());
    begin_with_the_library_of("xilinx-zynq-a9", name);
    let renamed = format!("name = \"{name}\"");
    board(directory, "xilinx-zynq-a9", &[("name = \"xilinx-zynq-a9\"", &renamed)]).to_string_lossy().into_owned()
}

/// The port reads the low word of the counter. The high word is read at the start alone, the register of the comparator never.
#[test]
#[ignore = "three kernels: `make test-long` runs it"]
fn a_clock_that_is_read_elsewhere_than_the_core_file_says_fails_the_run() {
    let directory = TempDir::new().unwrap();
    let own = own_board(&directory, "bench-6");
    let out = directory.path().join("out").to_string_lossy().into_owned();
    for (offset, reads) in [("0x200", 10..u64::MAX), ("0x204", 1..10), ("0x210", 0..1)] {
        let other = checkout(&directory, "cortex-a9", ("offset = 0x200", &format!("offset = {offset}")));
        let (said, exit) = told(&cofferdam_in(&other, &["run", DEVICE, "--board", &own, "--out", &out]));
        let report = fs::read_to_string(Path::new(&out).join("report.json")).expect(&said);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let is_right = offset == "0x200";
        let failures = report["verdict"]["failures"].to_string();
        assert_eq!((exit == Some(0), !failures.contains("clock-unseen")), (is_right, is_right), "{offset}: {failures}");
        assert!(reads.contains(&report["run"]["clock_reads"].as_u64().unwrap()), "{}", report["run"]["clock_reads"]);
    }
}

/// `costs` tells timer interrupts apart by that label.
#[test]
fn a_label_that_the_kernel_does_not_have_is_refused() {
    let directory = TempDir::new().unwrap();
    let own = own_board(&directory, "bench-7");
    let other = checkout(&directory, "cortex-a9", ("\"cofferdam_interrupt_entry\"", "\"cofferdam_timer_entry\""));
    let (said, exit) = told(&cofferdam_in(&other, &["build", HELLO, "--board", &own]));
    let known = said.contains("CF0605") && said.contains("exceptions.timer_entry") && said.contains("no such label");
    assert!(known && exit != Some(0), "{said}");
}
