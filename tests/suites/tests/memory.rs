//! Memory beyond what the manifest places: the manager, its clients, a client that wants it to take long, and a manager that has
//! gone mad.

use system_tests::{BOARDS, Ran, root};

/// Every line of the worked example, as docs/memory.md quotes it: addresses and cycles replaced, for they follow the chip and the
/// kernel's worst path.
const WORKED: &[&str] = &[
    "sampler: arena at #: asked for `deterministic`, checked at deterministic within 0 cycles",
    "sampler: arena at #: asked for `l1 independent`, checked at l1 within # cycles",
    "sampler: arena at #: asked for `best-effort`, checked at best-effort within # cycles",
    "sampler: extent at #: asked for `l2`, checked at l1 within # cycles",
    "sampler: 1024 bytes refused by rule 17: there is no third level of on-chip storage in which the table could be kept; \
     asked `l3`, left nothing; would be admitted: ask for `l2`",
    "sampler: 524288 bytes refused by rule 9: memory is granted in one piece that one region register covers; asked 524288 \
     bytes, left 131072 bytes; would be admitted: ask for 131072 bytes",
    "sampler: while it is dirty: refused",
    "sampler: after 8 steps of scrubbing: 0 words are not zero",
    "filter: window: checked at l2 within # cycles",
    "filter: malloc: checked at best-effort within # cycles",
    "filter: samples of its own refused by rule 75: a domain shares what the manifest declares as its own, under that name; \
     asked 1 pieces, left 0 pieces; would be admitted: declare it under the owner's `shares` in the manifest",
    "filter: samples refused by rule 66: memory is shared only where the specifications agree; asked `deterministic`, left \
     `l2`; would be admitted: ask for `l2`",
    "filter: samples to write refused by rule 68: manifest and owner say who maps shared memory, and how; asked \
     writing, left reading; would be admitted: ask for reading",
    "filter: samples: checked at l2 within # cycles",
    "filter: the sum of 1000 samples is 499500",
    "sampler: refused by rule 70: an owner gives shared memory back after everybody else; asked 0 domains, left 1 domains; \
     would be admitted: revoke the access of 1 domains first",
    "sampler: revoked",
    "filter: samples after they were revoked: not this domain's",
];

/// Lines of [`WORKED`] that the chip with page tables answers otherwise, and how.
const ON_PAGES: &[(usize, &str)] = &[
    (0, "sampler: arena at #: asked for `deterministic`, checked at deterministic within # cycles"),
    (2, "sampler: arena at #: asked for `best-effort`, checked at best-effort without a bound"),
    (3, "sampler: extent at #: asked for `l2`, checked at l2 within # cycles"),
    (
        5,
        "sampler: 524288 bytes refused by rule 13: memory is granted from one pool that has so much of it clean; asked \
         524288 bytes, left 221184 bytes; would be admitted: ask for 221184 bytes",
    ),
    (7, "sampler: after 32 steps of scrubbing: 0 words are not zero"),
    (9, "filter: malloc: checked at best-effort without a bound"),
];

/// The example's output on each board.
fn worked() -> [Vec<&'static str>; 2] {
    let mut pages = WORKED.to_vec();
    for (index, line) in ON_PAGES {
        pages[*index] = line;
    }
    [WORKED.to_vec(), pages]
}

/// A line without addresses and cycles, except none.
fn general(line: &str) -> String {
    let words = line.split(' ').collect::<Vec<_>>();
    let word = |index: usize| {
        let word = words[index];
        let next = words.get(index + 1).copied().unwrap_or_default();
        if word.starts_with("0x") && word.ends_with(':') {
            "#:".to_owned()
        } else if next == "cycles" && word != "0" {
            "#".to_owned()
        } else {
            word.to_owned()
        }
    };
    (0..words.len()).map(word).collect::<Vec<_>>().join(" ")
}

fn ended_as_promised(ran: &Ran) {
    let failures = ran.report["verdict"]["failures"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(failures.is_empty(), "{failures:#?}\n{}\n{}", ran.stderr, ran.console());
    assert_eq!(ran.report["violations_total"], 0);
}

#[test]
fn the_worked_example_prints_what_the_document_says() {
    let document = std::fs::read_to_string(root().join("docs/memory.md")).unwrap();
    for (board, worked) in BOARDS.into_iter().zip(worked()) {
        let ran = Ran::on(board, "examples/memory/system.toml", &[]);
        let seen: Vec<String> = ran.console().lines().map(general).collect();
        for of in ["sampler: ", "filter: "] {
            let expected: Vec<&str> = worked.iter().filter(|line| line.starts_with(of)).copied().collect();
            let printed: Vec<&str> = seen.iter().filter(|line| line.starts_with(of)).map(String::as_str).collect();
            assert_eq!(printed, expected, "{board}\n{}", ran.stderr);
        }
        for line in worked {
            assert!(document.lines().any(|quoted| quoted == line), "docs/memory.md does not quote: {line}");
        }
        ended_as_promised(&ran);
        // The report knows each extent, where its tables lie, and its bound.
        assert_eq!(ran.report["grants_total"], 5);
        for grant in ran.report["grants"].as_array().into_iter().flatten() {
            let near = ["pinned", "tcm", "on-chip"].iter().any(|kept| grant["kept"] == *kept);
            assert!(near && grant["bound_cycles"].as_u64() > Some(0), "{board}: {grant:#}");
        }
        let gate = ran.named("gates", "name", "memory.request");
        assert_eq!(gate["failed"], 0, "{gate:#}");
        assert!(gate["max_cycles"].as_u64() <= gate["bound_cycles"].as_u64(), "{gate:#}");
    }
}

/// The longest request that anybody can make: with nothing of the manager's in the caches, and all of a client's records in use. A
/// manager that looks for remedies before it refuses is stopped here.
#[test]
fn no_request_takes_the_manager_longer_than_its_bound() {
    for board in BOARDS {
        let ran = Ran::on(board, "tests/manager/refusals.toml", &[]);
        ended_as_promised(&ran);
        let console = ran.console();
        let line = console.lines().find_map(|line| line.strip_prefix("greedy: "));
        let numbers = line.unwrap_or_default().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        let seen: Vec<u32> = numbers.collect();
        let [refusals, remedies, steps, held] = seen[..] else { panic!("{board}: {console}\n{}", ran.stderr) };
        // Both searches that end soon and searches that go to the end; every refusal has a remedy, or is known to have none.
        assert!(refusals > 100 && refusals == remedies && steps > 2 * refusals && held == 31, "{board}: {seen:?}");
        let gate = ran.named("gates", "name", "memory.request");
        assert_eq!(gate["failed"], 0, "{board}: {gate:#}");
        assert!(gate["max_cycles"].as_u64() <= gate["bound_cycles"].as_u64(), "{board}: {gate:#}");
    }
}

#[test]
fn a_hostile_manager_maps_no_kernel_memory_and_breaks_nothing() {
    BOARDS.into_iter().for_each(hostile_manager);
}

/// Lets a manager call whatever it can, and looks at everybody else.
fn hostile_manager(board: &str) {
    let ran = Ran::on(board, "tests/manager/hostile.toml", &[]);
    ended_as_promised(&ran);
    let witness = &ran.report["witness"];
    assert!(witness["checked_slices"].as_u64() > Some(10), "{witness:#}");
    assert_eq!(witness["changed_slices"], 0, "{witness:#}");
    assert_eq!(witness["stores_outside"], 0, "{witness:#}");
    // It was let loose with what a manager may do, and did it.
    let console = ran.console();
    let done = |call: u32| {
        let line = console.lines().find_map(|line| line.strip_prefix(&format!("manager: call {call}: ")));
        let numbers = line.unwrap_or_default().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        numbers.collect::<Vec<u32>>()
    };
    for call in 22..=26 {
        let seen = done(call);
        assert!(seen.len() == 2 && seen[1] > 0 && seen[1] < seen[0], "call {call}: {seen:?}\n{console}");
    }
    // Each life after the first ends with a read of kernel memory that is not survived.
    assert!(console.contains("none survived") && !console.contains("manager: read 0x"), "{console}");
    let manager = ran.named("domains", "name", "manager");
    assert_eq!(manager["faults"], 8, "{manager:#}");
    assert_eq!(manager["faults"], manager["restarts"], "{manager:#}");
    // Nobody noticed.
    let victim = ran.named("threads", "name", "victim");
    assert_eq!(victim["missed_deadlines"], 0, "{victim:#}");
    assert!(console.contains("every word as it was left"), "{console}");
}

/// One domain uses up the marks of its own frames, a client all that the manager's pool leaves; the client with a quota gets what it is promised.
#[test]
fn marks_that_others_use_up_are_not_missed() {
    for (board, [greedy, first, second]) in BOARDS.into_iter().zip([
        ["16 granules, then FULL", "2560 bytes in 10 pieces", "8192 bytes in 32 pieces"],
        ["16 granules, then FULL", "65536 bytes in 16 pieces", "16384 bytes in 4 pieces"],
    ]) {
        let ran = Ran::on(board, "tests/scarce/system.toml", &[]);
        ended_as_promised(&ran);
        let console = ran.console();
        let lines = [format!("greedy: {greedy}"), format!("first: {first}"), format!("second: {second}")];
        assert!(lines.iter().all(|line| console.lines().any(|seen| seen == line)), "{board}\n{console}");
        let why = console.lines().find_map(|line| line.strip_prefix("first: refused by rule ")).unwrap_or_default();
        assert!(why.starts_with(if board == BOARDS[0] { "76: " } else { "15: " }), "{board}\n{console}");
    }
}

/// Pages that follow one another need not do so physically: an access over their border is judged where each part of it lands.
#[test]
fn an_access_over_two_own_pages_is_no_breach() {
    let ran = Ran::new("tests/verdict/straddle.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], serde_json::json!([]), "{}", ran.stderr);
    assert!(ran.console().contains("whole"), "{}", ran.console());
    assert_eq!(ran.report["witness"]["stores_outside"], 0);
}

/// A callee's answer in its caller's memory, and a restart of a domain, are what whoever calls for them may ask for, hostile or not.
#[test]
fn what_a_hostile_domain_asks_for_by_right_is_no_breach() {
    for board in ["mps2-an500", "mps2-an505", "xilinx-zynq-a9", "ibex-rtmmu"] {
        let ran = Ran::on(board, "tests/verdict/answers.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], serde_json::json!([]), "{board}\n{}", ran.stderr);
        assert_eq!(ran.named("domains", "name", "fallen")["restarts"], 3, "{board}");
        assert!(ran.report["witness"]["checked_slices"].as_u64() > Some(3), "{board}: {:#}", ran.report["witness"]);
    }
}
