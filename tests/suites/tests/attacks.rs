//! The attack suite of docs/attacks.md.

use std::collections::BTreeSet;

use system_tests::attacks::{Catalogue, Evidence, Mutants, SUITES, Scheme, Suite, render};
use system_tests::{cofferdam, root, target_dir};

#[test]
fn every_class_has_an_attack_or_a_reason_and_every_check_a_mutant() {
    let (catalogue, mutants) = (Catalogue::read(), Mutants::read());
    assert_eq!(catalogue.gaps(&mutants), Vec::<String>::new());
    for suite in &SUITES {
        let tried: Vec<_> = catalogue.attacks().filter(|attack| attack.is_tried(suite.scheme)).collect();
        let known: BTreeSet<String> = tried.iter().map(|attack| attack.name.clone()).collect();
        let order = suite.attacks();
        let ordered: BTreeSet<String> = order.iter().cloned().collect();
        assert_eq!(known, ordered, "{} and attacks.toml name the same attacks", suite.order);
        assert_eq!(ordered.len(), order.len(), "an attack is ordered twice");
        for (attack, needs) in tried.iter().filter_map(|attack| Some((&attack.name, attack.needs.as_ref()?))) {
            let follows = order.windows(2).any(|two| two[0] == *needs && two[1] == *attack);
            assert!(follows, "`{attack}` does not follow `{needs}` in {}", suite.order);
        }
    }
}

#[test]
fn every_mutant_applies() {
    for mutant in &Mutants::read().mutant {
        let text = std::fs::read_to_string(root().join(&mutant.file)).expect(&mutant.file);
        mutant.apply(&text).unwrap_or_else(|how| panic!("{how}"));
    }
}

#[test]
fn the_table_in_the_documents_is_this_one() {
    let path = root().join("docs/attacks.md");
    let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->");
    let text = std::fs::read_to_string(&path).expect("docs/attacks.md");
    let (before, rest) = text.split_once(begin).expect("a place for the table");
    let (_, after) = rest.split_once(end).expect("its end");
    let fresh = format!("{before}{begin}{}{end}{after}", render(&Catalogue::read(), &Mutants::read()));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &fresh).expect("docs/attacks.md can be written");
    } else {
        assert!(text == fresh, "UPDATE_GOLDEN=1 rewrites docs/attacks.md");
    }
}

/// A million cycles of the soft core take a second of the host's.
const SOFT_CORE_CYCLES: u64 = 2_000_000;

/// Performs a suite's attacks on the board of its manifest or another one, and compares what came of each. None takes more cycles than `limit`.
fn perform(scheme: Scheme, board: Option<&str>, limit: Option<u64>) {
    let (catalogue, suite) = (Catalogue::read(), Suite::of(scheme));
    let (mut arguments, mut directory) = (vec!["run", suite.manifest, "--quiet"], suite.system.to_owned());
    if let Some(board) = board {
        arguments.extend(["--board", board]);
        directory = format!("{directory}.{board}");
    }
    let output = cofferdam(&arguments);
    let evidence = Evidence::read(&target_dir().join("cofferdam").join(directory));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // A system that is refused now has left the results of an earlier run.
    assert!(output.status.success(), "{said}");
    assert_eq!(evidence.failures, Vec::<String>::new(), "{said}\n{:#}", evidence.report["verdict"]);
    let (order, mut wrong) = (suite.attacks(), Vec::new());
    let slices = evidence.report["witness"]["checked_slices"].as_u64();
    assert!(slices > Some(3 * order.len() as u64), "{:#}", evidence.report["witness"]);
    for (line, name) in order.iter().enumerate() {
        let attack = catalogue.attack(name);
        let shortfalls = evidence.shortfalls(line as u32, attack, scheme);
        println!("{:10} {name}", if shortfalls.is_empty() { "contained" } else { "DIFFERS" });
        if !shortfalls.is_empty() {
            wrong.push(format!("{name}: {shortfalls:?}: {:?}", evidence.segments.get(&(line as u32))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} attacks in {:.2} s of modelled time", order.len(), evidence.seconds);
    let longest = evidence.segments.values().map(|segment| segment.cycles).max().unwrap_or(0);
    println!("the longest: {longest} cycles");
    assert!(limit.is_none_or(|limit| longest <= limit), "an attack takes {longest} cycles");
}

#[test]
fn every_attack_ends_as_it_must_and_no_victim_notices() {
    perform(Scheme::Regions, None, None);
}

#[test]
fn every_attack_ends_as_it_must_where_there_are_page_tables() {
    perform(Scheme::Pages, None, None);
}

#[test]
fn every_attack_ends_as_it_must_on_armv8_m() {
    perform(Scheme::Pmsav8, None, None);
}

#[test]
fn every_attack_ends_as_it_must_on_the_soft_core() {
    perform(Scheme::Rtmmu, None, Some(SOFT_CORE_CYCLES));
}

#[test]
#[ignore = "further models: `make test-long` runs it"]
fn every_attack_ends_as_it_must_with_other_mmus_of_the_soft_core() {
    for board in ["ibex-direct", "ibex-sv32", "ibex-sv32tlb"] {
        println!("{board}");
        perform(Scheme::Rtmmu, Some(board), None);
    }
}
