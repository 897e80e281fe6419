//! The memory crates without the kernel: FreeRTOS-MPU with more ranges than regions.

use std::process::Command;

use system_tests::root;

/// Runs a target of the example's Makefile; what it printed.
fn make(target: &str) -> String {
    let output =
        Command::new("make").args(["-s", "-C", "eval/peers/freertos-regions", target]).current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("make cannot be started: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "make {target}: {}\n{out}{err}", output.status);
    out.into_owned()
}

/// The number in front of `unit` in the line that begins with `line`.
fn number(printed: &str, line: &str, unit: &str) -> u64 {
    let found = printed.lines().find_map(|text| text.strip_prefix(line));
    let found = found.unwrap_or_else(|| panic!("no line `{line}` in\n{printed}"));
    let before = found.split(unit).next().unwrap_or_default();
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty()).unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("no number before `{unit}` in `{found}`"))
}

#[test]
fn freertos_tasks_use_more_ranges_than_there_are_regions() {
    let printed = make("run");
    for task in ["alice alone:", "alice beside bob:", "bob:"] {
        assert_eq!(number(&printed, task, " ranges"), 24);
        assert!(number(&printed, task, " misses") > 1000, "{printed}");
    }
    // Of three region registers two must stay for paging, so one can be pinned. A second request to
    // pin is refused; paged memory would be admitted instead.
    assert!(printed.contains("account 0: admitted as level 4, 0 cycles at most, method 1"), "{printed}");
    assert!(printed.contains("account 0: denied by rule 5, asked 1, left 0; change 1 to 3"), "{printed}");
    assert!(printed.contains("account 2: denied by rule 7, asked 1, left 0; change 3 to 0"), "{printed}");
    let alone = number(&printed, "alice alone:", " misses");
    assert_eq!(number(&printed, "alice beside bob:", " misses"), alone, "nobody's misses change anybody else's");
    assert!(printed.contains("errors of alice and bob: 0, 0"), "{printed}");
    assert_eq!(number(&printed, "urgent:", " misses"), 0, "pinned memory never misses");
    assert_eq!(number(&printed, "heap:", " errors"), 0);
    for (intruder, status) in [40, 41, 40, 1000, 1000].into_iter().enumerate() {
        assert_eq!(number(&printed, &format!("intruder {intruder}:"), " at "), status, "{printed}");
    }
    assert!(printed.trim_end().ends_with("every violation stopped its own task only"), "{printed}");
}

#[test]
fn a_miss_on_freertos_takes_few_instructions() {
    let printed = make("measure");
    assert!(number(&printed, "miss:", ", instructions") > 10_000, "{printed}");
    // docs/stand-alone.md says what was counted.
    let most = printed.lines().find(|line| line.starts_with("miss:")).and_then(|line| line.rsplit("most ").next());
    let most: u64 = most.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no maximum in\n{printed}"));
    assert!(most <= 180, "{printed}");
}

/// The ledger of the example promises no more than this: `MISS_CYCLES` of its main.c.
const PROMISED_CYCLES: u64 = 300;

#[test]
fn a_miss_on_freertos_takes_no_longer_than_its_ledger_promises() {
    let main = std::fs::read_to_string(root().join("eval/peers/freertos-regions/main.c")).unwrap();
    assert!(main.contains(&format!("#define MISS_CYCLES {PROMISED_CYCLES}u")), "one figure in two places");
    // `./cofferdam` builds the observer, which is found beside the program.
    assert!(system_tests::cofferdam(&["--version"]).status.success());
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_path_buf();
    let mut measure = Command::new(env!("CARGO"));
    measure.args(["run", "--quiet", "--release", "-p", "cofferdam-stand-alone", "--target-dir"]).arg(target);
    let output = measure.current_dir(root()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let most = printed.lines().find_map(|line| line.rsplit_once("most ")?.1.parse::<u64>().ok());
    assert!(most.is_some_and(|most| (100..PROMISED_CYCLES).contains(&most)), "{printed}");
}
