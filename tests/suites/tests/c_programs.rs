//! Programs in C and C++ that know nothing of Cofferdam: all of the C library links, and does what docs/your-program.md says.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use system_tests::sdk::{Sdk, printed, run};
use system_tests::{BOARDS, Ran, WITH_M33, cofferdam, root, target_dir};
use tempfile::TempDir;

/// The headers whose functions programs may use.
const HEADERS: &str = "assert complex ctype errno fcntl fenv fnmatch getopt glob grp inttypes langinfo libgen locale malloc math pwd regex sched search setjmp signal stdio stdlib string strings sys/resource sys/select sys/stat sys/time sys/times sys/wait time unistd utime wchar wctype";

/// Names of the functions that the headers of a library declare.
fn declared(sdk: &Sdk, library: &str, scratch: &Path) -> BTreeSet<String> {
    let (source, list) = (scratch.join("all.c"), scratch.join("all.txt"));
    let includes = HEADERS.split(' ').map(|header| format!("#include <{header}.h>\n"));
    std::fs::write(&source, includes.collect::<String>()).unwrap();
    let mut command = Command::new(&sdk.cc);
    command.args(&sdk.cflags).args(["-D_GNU_SOURCE", "-fsyntax-only", "-aux-info"]).arg(&list).arg(&source);
    assert!(command.status().unwrap().success());
    let text = std::fs::read_to_string(list).unwrap();
    let is_inline = |line: &str| line.contains("*/ static") || line.contains("*/ extern inline");
    let declarations = text.lines().filter(|line| line.contains(library) && !is_inline(line));
    declarations.filter_map(function).map(str::to_owned).collect()
}

/// The function that a line of `-aux-info` declares: the first name before a parenthesis that is no type.
fn function(line: &str) -> Option<&str> {
    let declaration = line.split_once("*/")?.1;
    let ends = declaration.match_indices(" (").map(|(at, _)| &declaration[..at]);
    let mut names = ends.filter_map(|before| before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    names.find(|name| !name.is_empty() && !["int", "void", "char", "long", "double"].contains(name))
}

fn undefined(output: &Output) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let name = |line: &str| Some(line.split_once("undefined reference to `")?.1.trim_end_matches('\'').to_owned());
    text.lines().filter_map(name).collect()
}

/// Boards with their libraries of C.
const LIBRARIES: [(&str, &str); 4] =
    [(BOARDS[0], "newlib"), (BOARDS[1], "newlib"), ("mps2-an505", "newlib"), ("ibex-rtmmu", "picolibc")];

#[test]
fn whatever_a_library_declares_links_or_is_listed_with_a_reason() {
    for (board, library) in LIBRARIES {
        let listed = std::fs::read_to_string(root().join("user/c").join(library).join("unlinked.txt")).unwrap();
        let lines = listed.lines().filter(|line| !line.starts_with('#'));
        let listed: BTreeSet<String> = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
        let (scratch, sdk) = (TempDir::new().unwrap(), Sdk::of(board));
        let declared = declared(&sdk, library, scratch.path());
        assert!(declared.len() > 1000, "{board}: only {} functions are declared", declared.len());
        let (references, main) = (scratch.path().join("references.s"), scratch.path().join("main.c"));
        let words = declared.iter().map(|name| format!(".word {name}\n")).collect::<String>();
        std::fs::write(&references, format!(".data\n.global references\nreferences:\n{words}")).unwrap();
        std::fs::write(&main, "extern char references[]; int main(void) { return references[0]; }\n").unwrap();
        let program = scratch.path().join("all.elf");
        let linked = sdk.build(&[main, references], &["-Wl,--unresolved-symbols=report-all"], &program);
        assert_eq!(undefined(&linked), listed, "{board}: left is what does not link, right the list of {library}");
    }
}

#[test]
fn the_c_library_does_what_the_page_says() {
    for board in WITH_M33 {
        let ran = run(
            board,
            &["library.c", "newlib.c"],
            &["--stack", "32 KiB", "--heap", "128 KiB", "--", "first", "", "two words"],
        );
        let lines = printed(&ran);
        let wrong: Vec<&String> = lines.iter().filter(|line| line.starts_with("WRONG")).collect();
        assert!(wrong.is_empty(), "{board}: {wrong:#?}");
        assert_eq!(lines.last().map(String::as_str), Some("all was tried"), "{board}: {lines:#?}");
        assert_eq!(ran.named("domains", "name", "program")["exit_code"], 3, "{board}");
    }
}

/// Words that depend on where a program lies show by its two links only if code and data both lie elsewhere in the second.
#[test]
fn the_second_link_moves_code_and_data() {
    assert!(cofferdam(&["build", "examples/plain-c/system.toml"]).status.success());
    let sections = |file: &str| {
        let program = target_dir().join("cofferdam/plain-c/c/program").join(file);
        let output = Command::new("arm-none-eabi-objdump").arg("-h").arg(&program).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let address = |name: &str| {
            let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            lines.find(|words| words.get(1) == Some(&name)).and_then(|words| words.get(3).map(|&at| at.to_owned()))
        };
        [".text", ".data"].map(|name| address(name).unwrap_or_else(|| panic!("{text}")))
    };
    let (first, second) = (sections("program.elf"), sections("program.elsewhere.elf"));
    assert!(first[0] != second[0] && first[1] != second[1], "{first:?} {second:?}");
}

/// A source runs without a manifest, and nothing of what it prints is lost or cut, not even when it faults amid a line; but for the board with a
/// Cortex-M33, where the console's budget does not last for so much, and a program that faults waits for nobody.
#[test]
fn lines_arrive_whole_and_one_without_an_end_arrives_too() {
    // The console passes controls on; the report makes them visible.
    const A: &str = r"\u{9b}1Gother: a";
    const B: &str = r"\xe0\x82\x9b1Gother: b";
    const C: &str = r"\x9b1Gother: c";
    const D: &str = r"\x1b[1G\x0dother: d";
    let source = root().join("tests/programs/lines.c");
    let expected = [
        "x".repeat(1025),
        "y".repeat(256),
        "grün – 🐢".into(),
        A.into(),
        B.into(),
        C.into(),
        D.into(),
        "in pieces".into(),
        "an end, that never comes".into(),
    ];
    for board in WITH_M33 {
        for (more, faults) in [(&[][..], 0), (&["--", "fault"][..], 1)] {
            if faults > 0 && !BOARDS.contains(&board) {
                continue;
            }
            let ran = Ran::new(&source.to_string_lossy(), &[&["--board", board], more].concat());
            assert_eq!(printed(&ran), expected, "{board} {more:?}");
            assert_eq!(ran.named("domains", "name", "program")["faults"], faults, "{board} {more:?}");
        }
    }
}

#[test]
fn a_program_in_cpp_runs_with_exceptions_and_destructors() {
    for board in WITH_M33 {
        let ran = run(board, &["objects.cc"], &[]);
        let expected = std::fs::read_to_string(root().join("tests/programs/objects.txt")).unwrap();
        assert_eq!(printed(&ran), expected.lines().collect::<Vec<_>>(), "{board}");
        assert_eq!(ran.named("domains", "name", "program")["exit_code"], 0, "{board}");
    }
}

/// On every board, with its library of C.
fn on_each_board(system: &str, judge: impl Fn(&str, &Ran)) {
    for (board, _) in LIBRARIES {
        judge(board, &Ran::on(board, system, &[]));
    }
}

fn sorted(ran: &Ran) -> Vec<String> {
    let mut lines: Vec<String> = ran.console().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Two threads and a gate of a domain format and read numbers at once; the gate's caller and one thread come before the first thread.
#[test]
fn threads_and_gates_of_a_domain_get_their_own_numbers_whoever_comes_first() {
    on_each_board("tests/programs/activations.toml", |board, ran| {
        let expected = ["client: 0 calls failed, 0 wrong", "service: first 0 wrong, second 0 wrong, interleaved"];
        assert_eq!(sorted(ran), expected, "{board}: {}", ran.stderr);
    });
    on_each_board("tests/programs/early.toml", |board, ran| {
        let expected = ["client: status 0, value 46", "early: control has 7", "early: main comes after 11"];
        assert_eq!(sorted(ran), expected, "{board}: {}", ran.stderr);
    });
}

/// A thread that is in the heap whenever another one looks hands its turn on.
#[test]
fn a_thread_that_waits_for_the_heap_gets_its_turn() {
    let ran = Ran::on(BOARDS[0], "tests/programs/turns.toml", &[]);
    assert_eq!(ran.named("domains", "name", "own")["exit_code"], 0, "{}", ran.stderr);
}

/// Exceptions, `errno` and `strtok` in two threads and a gate of a domain at once, with newlib, which has one of each.
#[test]
fn threads_and_gates_of_a_domain_have_errors_and_exceptions_of_their_own() {
    for board in ["mps2-an500", "mps2-an505", "xilinx-zynq-a9"] {
        let ran = Ran::on(board, "tests/programs/each.toml", &[]);
        let lines = sorted(&ran);
        assert!(
            lines.iter().any(|line| line.starts_with("client: ") && line.ends_with(" calls failed, 0 wrong")),
            "{board}: {lines:?}"
        );
        assert!(
            lines.contains(&"service: first 0 wrong, second 0 wrong, interleaved".to_owned()),
            "{board}: {lines:?}"
        );
    }
}

/// The first thread to come runs the constructors, and a gate is refused until they have run.
#[test]
fn constructors_run_once_and_before_everything_else() {
    on_each_board("tests/programs/constructed.toml", |board, ran| {
        let expected = [
            "client: early -8, late 0: 71",
            "service: first: 7, 1 times",
            "service: second 3: 7, 1 times, block found",
        ];
        assert_eq!(sorted(ran), expected, "{board}: {}", ran.stderr);
    });
}

#[test]
fn a_program_without_a_heap_prints_numbers_and_ends_as_it_says() {
    on_each_board("tests/programs/heapless.toml", |board, ran| {
        let line = |name: &str| format!("{name}: 18 1.500 1e+10 0x1p-1 1");
        let lines = sorted(ran);
        for (name, code) in [("returns", 0), ("aborts", 134), ("asserts", 134), ("raises", 143)] {
            assert!(lines.contains(&line(name)), "{board}: {lines:#?}");
            assert_eq!(ran.named("domains", "name", name)["exit_code"], code, "{board} {name}");
        }
    });
}

#[test]
fn a_program_that_nobody_would_hear_is_warned_of() {
    let scratch = TempDir::new().unwrap();
    let manifest = scratch.path().join("system.toml");
    let thread = |name: &str| format!("[[domain.{name}.thread]]\npriority = 8\nbudget = \"{name}\"\n");
    let budget = |name: &str| format!("[budget.{name}]\nperiod = \"10 ms\"\ncapacity = \"1 ms\"\n");
    let mut text = "[system]\nname = \"silent\"\nboard = \"mps2-an500\"\n".to_owned();
    for (name, body) in [("loud", "puts(\"a\");"), ("hungry", "return malloc(9) != 0;"), ("quiet", "return 0;")] {
        let source = format!("#include <stdio.h>\n#include <stdlib.h>\nint main(void) {{ {body} }}\n");
        std::fs::write(scratch.path().join(format!("{name}.c")), source).unwrap();
        let domain = format!("[domain.{name}]\nc = {{ sources = [\"{name}.c\"], flags = [\"-fno-builtin\"] }}\n");
        text += &[budget(name), domain, thread(name)].concat();
    }
    std::fs::write(&manifest, text).unwrap();
    let checked = cofferdam(&["check", &manifest.to_string_lossy()]);
    let stderr = String::from_utf8_lossy(&checked.stderr).into_owned();
    let warned: Vec<&str> = stderr.lines().filter(|line| line.trim_start().starts_with('⚠')).collect();
    assert_eq!(warned.len(), 2, "{stderr}");
    assert!(warned[0].contains("`loud` prints") && warned[1].contains("`hungry` allocates"), "{stderr}");
    assert!(stderr.contains("CF0520") && stderr.contains("CF0521"), "{stderr}");
    assert!(checked.status.success(), "{stderr}");
}

/// Functions of `<math.h>` whose results are exact agree with arithmetic of integers, and the others with a table.
#[test]
fn mathematics_is_exact_where_it_can_be() {
    for board in WITH_M33 {
        let ran = run(board, &["exact.c", "inexact.c"], &["--", "100"]);
        assert_eq!(printed(&ran), ["0 wrong"], "{board}");
        assert_eq!(ran.named("domains", "name", "program")["exit_code"], 0, "{board}");
    }
}
