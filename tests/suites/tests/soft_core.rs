//! Systems on the soft core: the kernel on the hardware's own description, domains behind RTMMU. `make -C rtl models MODELS=rtmmu` makes the model that this needs, as scripts/test.sh does.

use std::fmt::Write;

use system_tests::conformance::{Column, on_slow};
use system_tests::{Ran, cofferdam, root, target_dir};

const BOARD: &str = "ibex-rtmmu";
/// With a page table of one level, and with Sv32.
const DIRECT: &str = "ibex-direct";
const SV32: &str = "ibex-sv32";
/// With TLBs, too.
const TLB: &str = "ibex-sv32tlb";

/// Kinds of faults in reports.
const DATA: &str = "data access";
const EXECUTION: &str = "execution";
const STACK: &str = "stack";
const USAGE: &str = "usage";

/// The fault of each argument of `tests/soft-core/prober`, with the address that the report names, if it does not depend on how the program is laid out.
const PROBES: [(&str, Option<u32>); 23] = [
    (DATA, Some(0)),
    (DATA, Some(0x0003_0000)),
    (DATA, Some(0x1001_4000)),
    (DATA, Some(0x1000_1008)),
    (DATA, Some(0x1002_0004)),
    (DATA, Some(0x2000_0000)),
    (DATA, Some(0x0004_8000)),
    (DATA, Some(0x1000_0000)),
    (DATA, Some(0x8000_1000)),
    (EXECUTION, None),
    (DATA, None),
    (DATA, None),
    (DATA, Some(0xffff_f000)),
    (STACK, None),
    (USAGE, None),
    (USAGE, None),
    (USAGE, None),
    (USAGE, None),
    (DATA, Some(0x0003_0000)),
    (DATA, Some(0x1001_4000)),
    (DATA, None),
    (DATA, None),
    (DATA, Some(0xc000_0000)),
];

#[test]
fn hello_runs_unchanged_and_its_cycles_are_exact() {
    runs_hello(BOARD);
}

#[test]
fn so_it_does_on_a_page_table_of_one_level() {
    runs_hello(DIRECT);
}

fn runs_hello(board: &str) {
    let run = || Ran::on(board, "examples/hello/system.toml", &[]);
    let ran = run();
    assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
    assert!(ran.console().contains("hello: hello from domain 1 (hello)"), "{}", ran.console());
    let state = &ran.report["run"];
    assert_eq!((state["exact"].as_bool(), state["mode"].as_str()), (Some(true), Some("exact")));
    assert_eq!(ran.report["violations_total"], 0);
    assert_eq!(ran.repeatable(), run().repeatable(), "the hardware does the same each time");
}

#[test]
fn a_domain_has_a_timer_and_its_line() {
    let ran = Ran::on(BOARD, "examples/device/system.toml", &[]);
    assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
    assert_eq!(ran.report["violations_total"], 0);
    let console = ran.console();
    for fired in 2..=10 {
        let line = format!("ticker: fired {fired}: 10000 us since the last time");
        assert!(console.contains(&line), "no `{line}`\n{console}");
    }
}

/// Memories hold anything when power comes: the bench makes it so, and a domain reads all of its own.
#[test]
fn memory_that_domains_begin_with_is_clear() {
    let ran = Ran::on(BOARD, "tests/soft-core/fresh.toml", &[]);
    assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
    for (name, words) in [("stack", 1536), ("heap", 4096), ("arena0", 2048), ("near", 1024), ("far", 2048)] {
        let line = format!("fresh: {name}: 0 of {words} words\n");
        assert!(ran.console().contains(&line), "no `{line}`\n{}", ran.console());
    }
}

/// A run in which the core sleeps most of the time, once with counters that leap meanwhile and once with each cycle simulated.
#[test]
fn sleep_in_a_step_leaves_the_same_record() {
    let ran = Ran::on(BOARD, "examples/device/system.toml", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let system = target_dir().join("cofferdam/device.ibex-rtmmu");
    let watch = std::fs::read_to_string(system.join("run/watch.json")).unwrap();
    let watch: serde_json::Value = serde_json::from_str(&watch).unwrap();
    let directory = tempfile::TempDir::new().unwrap();
    let record = |more: &[&str]| {
        let file = directory.path().join("record");
        let mut bench = std::process::Command::new(target_dir().join("rtl/rtmmu/soc_sim"));
        bench.arg(system.join("image.elf")).arg("--record").arg(&file).args(more);
        bench.arg("--port").arg(watch["trace_port"].to_string());
        bench.arg("--clock").arg(watch["clock"]["register"].to_string());
        bench.arg("--console").arg(directory.path().join("console"));
        assert_eq!(bench.output().unwrap().status.code(), Some(0));
        std::fs::read(&file).unwrap()
    };
    let leapt = record(&[]);
    assert!(leapt.len() > 10_000 && leapt == record(&["--every-cycle"]));
}

/// A system with a domain for each of these probes, and one that prints when they have ended.
fn system(probes: std::ops::Range<usize>) -> String {
    let (prober, hello) = (root().join("tests/soft-core/prober"), root().join("examples/hello/hello"));
    let mut text = format!(
        "[system]\nname = \"probes{}\"\nboard = \"{BOARD}\"\n\n[run]\nawait = [\"bystander\"]\nlimit = \"1 s\"\n\n\
         [console]\ncapacity = \"2 ms\"\n\n[budget.bystander]\nperiod = \"20 ms\"\ncapacity = \"4 ms\"\n\n\
         [domain.bystander]\ncrate = \"{}\"\n\n[[domain.bystander.thread]]\npriority = 20\nbudget = \"bystander\"\n\n\
         [domain.bystander.uses]\nconsole = {{ gate = \"console.write\" }}\n",
        probes.start,
        hello.display()
    );
    for probe in probes {
        let _ = write!(
            text,
            "\n[budget.probe{probe}]\nperiod = \"20 ms\"\ncapacity = \"1 ms\"\n\n[domain.probe{probe}]\ncrate = \"{}\"\nhostile = true\n\
             stack = {{ memory = \"sram\", size = \"2 KiB\" }}\n\n[[domain.probe{probe}.thread]]\npriority = 10\n\
             budget = \"probe{probe}\"\nargument = {probe}\n",
            prober.display()
        );
    }
    text
}

#[test]
fn a_domain_that_reaches_for_more_is_stopped_and_nobody_else_notices() {
    stops_probes(BOARD);
}

#[test]
fn so_it_is_on_a_page_table_of_one_level() {
    stops_probes(DIRECT);
}

fn stops_probes(board: &str) {
    for probes in [0..8, 8..16, 16..23] {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("system.toml");
        std::fs::write(&path, system(probes.clone())).unwrap();
        let ran = Ran::on(board, &path.to_string_lossy(), &[]);
        assert!(ran.console().contains("ticks since boot"), "{}\n{}", ran.stderr, ran.console());
        assert_eq!(ran.report["violations_total"], 0);
        let witness = |what: &str| ran.report["witness"][what].as_u64().unwrap();
        assert!(witness("checked_slices") >= probes.len() as u64 && witness("stores") > 0, "{}", ran.report["witness"]);
        assert_eq!((witness("changed_slices"), witness("stores_outside")), (0, 0));
        for probe in probes {
            let faults = ran.report["faults"].as_array().unwrap();
            let thread = format!("probe{probe}");
            let fault = faults.iter().find(|fault| fault["thread"] == *thread);
            let fault = fault.unwrap_or_else(|| panic!("{thread} got away with it\n{}", ran.stderr));
            assert_eq!(fault["kind"], PROBES[probe].0, "{fault:#}");
            let symbol = fault["symbol"].as_str().unwrap_or_default();
            assert!(PROBES[probe].0 == EXECUTION || symbol.contains("prober::"), "{fault:#}");
            if let Some(address) = PROBES[probe].1 {
                assert_eq!(fault["address"], address, "{fault:#}");
            }
        }
    }
}

/// Times of the conformance rows are so many times as long here as on other boards: the core has 50 MHz, and most code of the cast is in DRAM.
const STRETCH: u32 = 12;
/// Rows that are performed on other MMUs: about memory, what a domain of the cast can reach.
const SOME_ROWS: std::ops::Range<u32> = 65..85;
/// Rows that do not hold here, with the reason. docs/soft-core.md repeats them.
const NOT_HERE: &[(&str, &str)] = &[
    ("map pinned", "nothing can be pinned: the hardware keeps nothing of the tables"),
    ("nodes", "tables have their size from the start: there are no nodes to give"),
];

/// Rows of a column that were performed and do not hold, but for those in [`NOT_HERE`].
fn wrong(column: &Column) -> Vec<String> {
    let rows = conformance::rows().enumerate().filter(|(number, _)| column.cells.contains_key(&(*number as u32)));
    let wrong = rows.filter(|(number, row)| {
        column.cells[&(*number as u32)].is_some() && NOT_HERE.iter().all(|(name, _)| *name != row.name)
    });
    wrong.map(|(number, row)| format!("`{}`: {}", row.name, column.cell(number as u32))).collect()
}

#[test]
#[ignore = "four minutes of a processor: scripts/test.sh soft_core_long"]
fn all_rows_of_the_conformance_suite_hold() {
    let column = on_slow(BOARD, STRETCH, 0..0).unwrap_or_else(|how| panic!("{how}"));
    assert_eq!(column.cells.len(), conformance::rows().count());
    assert_eq!(wrong(&column), [""; 0]);
}

#[test]
fn rows_about_memory_hold() {
    holds_rows(BOARD);
}

#[test]
#[ignore = "a minute of a processor: scripts/test.sh soft_core_long"]
fn so_they_do_on_a_page_table_of_one_level() {
    holds_rows(DIRECT);
}

fn holds_rows(board: &str) {
    let column = on_slow(board, STRETCH, SOME_ROWS).unwrap_or_else(|how| panic!("{how}"));
    assert_eq!(column.cells.len(), SOME_ROWS.len());
    assert_eq!(wrong(&column), [""; 0]);
}

#[test]
#[ignore = "further models: `make test-long` runs it"]
fn sv32_holds_the_same_with_tlbs_and_without() {
    for board in [SV32, TLB] {
        runs_hello(board);
        stops_probes(board);
        holds_rows(board);
        requested_on_demand(board);
    }
}

#[test]
fn memory_comes_at_its_first_touch_and_goes_in_constant_time() {
    let run = || Ran::new("tests/soft-core/touch.toml", &[]);
    let ran = run();
    let said = ran.console();
    assert_eq!(ran.report["violations_total"], 0, "{}", ran.stderr);
    for line in [
        "refusals: None",
        "made: Ok(()), again: Err(BadState)",
        "clear: true",
        "split: 0",
        "kept: true",
        "made again: Ok(())",
        "ends: [Ok(()), Ok(())]",
        "all: Ok(())",
        "atomic: true, in ",
        "pages: 1, 16, 1, 0; sum 60006, kept true",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let line = said.lines().find(|line| line.contains("ticks: ")).unwrap();
    let ticks: Vec<u32> = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let [cleared, again, mapped, pages, many, _, one] = ticks[..] else { panic!("{line}") };
    assert!(cleared > again && again > mapped, "{line}");
    assert!(pages == 64 && 10 * many <= 11 * one, "{line}");
    for thread in ["stranger", "late", "beyond", "greedy"] {
        let faults = ran.report["faults"].as_array().unwrap();
        let fault = faults.iter().find(|fault| fault["thread"] == *thread);
        assert_eq!(fault.unwrap_or_else(|| panic!("{thread} got away with it\n{said}"))["kind"], DATA);
    }
    assert_eq!(ran.repeatable(), run().repeatable(), "the hardware does the same each time");
}

/// A domain in Rust and one in C that ask for all of each of their envelopes at once, give it back, and, as far as it is in constant time, ask for more.
const REQUESTED: &[&str] = &[
    "requester: `best-effort constant-time`: 4 of 4 hold, method 0",
    "requester: `best-effort independent constant-time`: 1 of 1 hold, method 0",
    "requester: `best-effort independent data-off-chip`: 2 of 2 hold, method 0",
    "requester: `best-effort constant-time`: after 6: refused by rule 12: a constant time is promised for a bounded number of descriptors; asked 4 \
     descriptors, left 0 descriptors; would be admitted: ask for `best-effort`",
    "requester: `best-effort constant-time`: freed twice: -5",
    "requester: `best-effort independent data-off-chip`: freed twice: -5",
    "plain: first: 3 blocks, 0 wrong, query 0: 16, method 0; the memory manager cannot be asked: BadHandle",
    "plain: second: 4 blocks, 0 wrong, query 0: 24, method 0; the memory manager cannot be asked: BadHandle",
    "plain: first: freed 0, twice -5",
    "plain: again: the same",
];

/// The system ran, said all of this, and what the domain in Rust read at last was no memory any more.
fn requested(ran: &Ran, said: &[&str]) {
    let failures = ran.report["verdict"]["failures"].as_array().unwrap();
    assert!(failures.is_empty() && ran.report["violations_total"] == 0, "{failures:#?}\n{}", ran.console());
    // Both share a console, which may end a long line of the one for a line of the other.
    let said_by = |domain: &str| -> String {
        ran.console().lines().filter_map(|line| line.strip_prefix(domain)?.strip_prefix(": ")).collect()
    };
    for line in said {
        let (domain, text) = line.split_once(": ").unwrap();
        assert!(said_by(domain).contains(text), "{line}\n{}", ran.console());
    }
    let faults = ran.report["faults"].as_array().unwrap();
    assert!(faults.len() == 1 && faults[0]["thread"] == "requester" && faults[0]["kind"] == DATA, "{faults:#?}");
    assert_eq!(faults[0]["nearest"]["area"], "arena3");
}

#[test]
fn rt_malloc_serves_each_envelope_whose_pages_come_at_their_first_touch() {
    requested(&Ran::new("tests/soft-core/request.toml", &[]), REQUESTED);
}

/// Nothing takes constant time there: the same envelopes, on demand.
#[test]
fn rt_malloc_does_on_a_page_table_of_one_level() {
    requested_on_demand(DIRECT);
}

fn requested_on_demand(board: &str) {
    let read = |name: &str| std::fs::read_to_string(root().join("tests/soft-core").join(name)).unwrap();
    let mut manifest = read("request.toml").replace("../..", &root().to_string_lossy());
    manifest = manifest
        .replace("\"requester\"\nhostile", &format!("\"{}/tests/soft-core/requester\"\nhostile", root().display()));
    for (from, to) in [("constant-time independent", "independent"), ("constant-time", "best-effort")] {
        manifest = manifest.replace(&format!("spec = \"{from}\""), &format!("spec = \"{to}\"\non_demand = true"));
    }
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("request.toml");
    std::fs::write(&path, manifest).unwrap();
    std::fs::write(directory.path().join("request.c"), read("request.c").replace("RT_CONSTANT_TIME", "RT_BEST_EFFORT"))
        .unwrap();
    let said = [
        "requester: `best-effort`: 4 of 4 hold, method 0",
        "requester: `best-effort independent`: 1 of 1 hold, method 0",
        "requester: `best-effort independent data-off-chip`: 2 of 2 hold, method 0",
        "plain: first: 3 blocks, 0 wrong, query 0: 0, method 0; the memory manager cannot be asked: BadHandle",
        "plain: second: 4 blocks, 0 wrong, query 0: 8, method 0; the memory manager cannot be asked: BadHandle",
        "plain: again: the same",
    ];
    requested(&Ran::on(board, &path.to_string_lossy(), &[]), &said);
}

#[test]
fn what_the_soft_core_does_not_have_is_refused() {
    let said = |args: &[&str]| {
        let output = cofferdam(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        (output.status.code(), text)
    };
    for (args, code, what) in [
        (&["debug", "examples/hello/system.toml", "--board", BOARD][..], 5, "no debugger can be attached"),
        (&["run", "examples/hello/system.toml", "--board", BOARD, "--fallback"], 5, "has no fall-back"),
        (&["run", "examples/hello/system.toml", "--board", BOARD, "--adverse"], 5, "a run cannot be adverse here"),
        (&["run", "examples/hello/system.toml", "--waves", "1000..2000"], 5, "there is no waveform"),
        (&["run", "examples/commutation/system.toml", "--board", BOARD], 3, "CF0"),
        (&["check", "tests/soft-core/touch.toml", "--board", DIRECT], 3, "too large for a constant time"),
    ] {
        let (found, text) = said(args);
        assert!(found == Some(code) && text.contains(what), "{args:?}: {found:?}\n{text}");
    }
}
