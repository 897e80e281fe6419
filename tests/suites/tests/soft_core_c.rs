//! Programs in C on the soft core, and the memory manager, which one of them asks. `make -C rtl models MODELS=rtmmu` makes the model that this needs, as
//! scripts/test.sh does.

use system_tests::Ran;
use system_tests::sdk::{printed, run};

const BOARD: &str = "ibex-rtmmu";

fn ended_as_promised(ran: &Ran) {
    let failures = ran.report["verdict"]["failures"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(failures.is_empty(), "{failures:#?}\n{}\n{}", ran.stderr, ran.console());
    assert_eq!(ran.report["violations_total"], 0);
}

#[test]
fn a_plain_c_program_runs_unchanged() {
    let ran = Ran::on(BOARD, "examples/plain-c/system.toml", &[]);
    ended_as_promised(&ran);
    let lines = printed(&ran);
    // The same number as on every board.
    assert_eq!(lines.first().map(String::as_str), Some("program: median of 2000 numbers is 30990.800693"));
    assert!(lines.len() == 2 && lines[1].starts_with("it took "), "{lines:#?}");
}

#[test]
fn the_c_library_does_what_the_page_says() {
    let more = ["--stack", "32 KiB", "--heap", "128 KiB", "--", "first", "", "two words"];
    let ran = run(BOARD, &["library.c", "picolibc.c"], &more);
    assert_eq!(printed(&ran), ["all was tried"], "{}", ran.stderr);
    assert_eq!(ran.named("domains", "name", "program")["exit_code"], 3);
}

/// As on the other boards, with fewer numbers: every edge would take minutes.
#[test]
fn mathematics_is_exact_where_it_can_be() {
    let ran = run(BOARD, &["exact.c", "inexact.c"], &["--", "3", "14"]);
    assert_eq!(printed(&ran), ["0 wrong"], "{}", ran.stderr);
    assert_eq!(ran.named("domains", "name", "program")["exit_code"], 0);
}

#[test]
fn each_thread_has_variables_of_its_own_and_so_has_each_call_of_a_gate() {
    let ran = Ran::new("tests/soft-core/threads.toml", &[]);
    ended_as_promised(&ran);
    let mut lines = printed(&ran);
    lines.sort();
    assert_eq!(lines, ["calls: 0, 207 407 607", "first: own kept", "second: own kept"]);
}

#[test]
fn a_service_does_not_pay_for_pages_that_its_clients_never_touched() {
    let ran = Ran::new("tests/soft-core/untouched.toml", &[]);
    ended_as_promised(&ran);
    let printed = printed(&ran);
    assert!(printed.iter().any(|line| line.ends_with("honest: 0 wrong")), "{printed:#?}");
    for client in ["honest", "rude"] {
        assert_eq!(ran.named("domains", "name", client)["exit_code"], 0, "{client}");
    }
}

#[test]
fn malloc_takes_from_memory_in_constant_time() {
    let ran = Ran::new("tests/soft-core/allocate.toml", &[]);
    ended_as_promised(&ran);
    assert_eq!(printed(&ran), ["0 wrong, calloc clear, too large refused"]);
}

/// Lines of the worked example (docs/memory.md), of two domains that print at the same time: `#` stands for addresses. All memory is checked at once here, so
/// that the third level is no refusal.
const MEMORY: &[&str] = &[
    "sampler: arena at #: asked for `deterministic`, checked at deterministic within 2 cycles",
    "sampler: arena at #: asked for `l1 independent`, checked at l1 within 2 cycles",
    "sampler: arena at #: asked for `best-effort`, checked at best-effort within 2 cycles",
    "sampler: extent at #: asked for `l2`, checked at deterministic within 2 cycles",
    "sampler: 1024 bytes at #",
    "sampler: 524288 bytes refused by rule 13: memory is granted from one pool that has so much of it clean; asked 524288 bytes, left 217088 bytes; would be admitted: ask for 217088 bytes",
    "sampler: while it is dirty: refused",
    "sampler: after 8 steps of scrubbing: 0 words are not zero",
    "sampler: refused by rule 70: an owner gives shared memory back after everybody else; asked 0 domains, left 1 domains; would be admitted: revoke the access of 1 domains first",
    "sampler: revoked",
    "filter: window: checked at l2 within 2 cycles",
    "filter: malloc: checked at best-effort within 2 cycles",
    "filter: samples of its own refused by rule 75: a domain shares what the manifest declares as its own, under that name; asked 1 pieces, left 0 pieces; would be admitted: declare it under the owner's `shares` in the manifest",
    "filter: samples refused by rule 66: memory is shared only where the specifications agree; asked `deterministic`, left `l2`; would be admitted: ask for `l2`",
    "filter: samples to write refused by rule 68: manifest and owner say who maps shared memory, and how; asked writing, left reading; would be admitted: ask for reading",
    "filter: samples: checked at deterministic within 2 cycles",
    "filter: the sum of 1000 samples is 499500",
    "filter: samples after they were revoked: not this domain's",
];

#[test]
fn the_memory_manager_serves_a_program_in_rust_and_one_in_c() {
    let ran = Ran::on(BOARD, "examples/memory/system.toml", &[]);
    ended_as_promised(&ran);
    let general = |line: &str| {
        let words = line.split(' ').map(|word| match word.strip_prefix("0x") {
            Some(number) if number.ends_with(':') => "#:",
            Some(_) => "#",
            None => word,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = ran.console().lines().map(general).collect();
    for of in ["sampler: ", "filter: "] {
        let own = |line: &&str| line.starts_with(of);
        let printed: Vec<&str> = lines.iter().map(String::as_str).filter(own).collect();
        assert_eq!(printed, MEMORY.iter().copied().filter(own).collect::<Vec<_>>());
    }
    // The report knows each extent and its bound, and no call of the manager's gate was unwound.
    assert!(ran.report["grants_total"].as_u64() > Some(4), "{:#}", ran.report["grants"]);
    assert_eq!(ran.named("gates", "name", "memory.request")["failed"], 0);
}
