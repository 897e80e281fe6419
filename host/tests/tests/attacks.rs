//! The attack suite of docs/attacks.md.

use std::collections::BTreeSet;

use system_tests::attacks::{Catalogue, Evidence, Mutants, render};
use system_tests::{cofferdam, root, target_dir};

fn order() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("tests/attacks/order.txt")).expect("the order file");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_class_has_an_attack_or_a_reason_and_every_check_a_mutant() {
    let (catalogue, mutants) = (Catalogue::read(), Mutants::read());
    assert_eq!(catalogue.gaps(&mutants), Vec::<String>::new());
    let known: BTreeSet<String> = catalogue.attacks().filter(|a| a.in_suite()).map(|a| a.name.clone()).collect();
    let ordered: BTreeSet<String> = order().into_iter().collect();
    assert_eq!(known, ordered, "tests/attacks/order.txt and attacks.toml name the same attacks");
    assert_eq!(ordered.len(), order().len(), "an attack is ordered twice");
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

#[test]
fn every_attack_ends_as_it_must_and_no_victim_notices() {
    let catalogue = Catalogue::read();
    let output = cofferdam(&["run", "tests/attacks/system.toml", "--quiet"]);
    let evidence = Evidence::read(&target_dir().join("cofferdam/attacks"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(evidence.failures, Vec::<String>::new(), "{said}\n{:#}", evidence.report["verdict"]);
    assert!(evidence.report["witness"]["checked_slices"].as_u64() > Some(500), "{:#}", evidence.report["witness"]);
    let mut wrong = Vec::new();
    for (line, name) in order().iter().enumerate() {
        let attack = catalogue.attack(name);
        let shortfalls = evidence.shortfalls(line as u32, attack);
        println!("{:10} {name}", if shortfalls.is_empty() { "contained" } else { "DIFFERS" });
        if !shortfalls.is_empty() {
            wrong.push(format!("{name}: {shortfalls:?}: {:?}", evidence.segments.get(&(line as u32))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} attacks in {:.2} s of modelled time", order().len(), evidence.seconds);
}
