//! Each check of the attack suite, taken away: its attack must succeed then, or nobody would know that the check is needed.

use std::time::Instant;

use system_tests::attacks::{Bench, Catalogue, Mutant, Mutants};
use system_tests::{cofferdam, direct};

/// Tries mutants one after the other; returns a line for each, and what is wrong.
fn try_all(bench: &Bench, catalogue: &Catalogue, mutants: &[&Mutant]) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for mutant in mutants {
        let begin = Instant::now();
        let line = match bench.try_mutant(catalogue, mutant) {
            Ok(breach) => {
                if breach.seen.is_none() {
                    wrong.push(format!(
                        "without `{}`, `{}` shows {:?}, not {:?}",
                        mutant.check, mutant.attack, breach.signs, mutant.sign
                    ));
                }
                let sign = breach.seen.unwrap_or_else(|| "NOTHING".into());
                format!("without {}: `{}` succeeds ({sign})", mutant.check, mutant.attack)
            }
            Err(how) => {
                wrong.push(how.clone());
                format!("without {}: {how}", mutant.check)
            }
        };
        println!("{line}, {:.1} s", begin.elapsed().as_secs_f64());
        lines.push(line);
    }
    if std::env::var_os("COFFERDAM_MUTANT").is_none() {
        bench.forget_the_rest();
    }
    (lines, wrong)
}

/// Tries those that are `long`, or the others, and keeps what is built in the stores of that name.
fn try_those(long: bool, store: &str) {
    assert!(cofferdam(&["--version"]).status.success(), "the tool does not build");
    let (catalogue, mutants) = (Catalogue::read(), Mutants::read());
    let only = std::env::var("COFFERDAM_MUTANT").unwrap_or_default();
    let called = |mutant: &Mutant| format!("{} on {:?}", mutant.check, mutant.on).to_lowercase();
    let named = |mutant: &&Mutant| only.split(',').any(|name| called(mutant).contains(name));
    let chosen = mutants.mutant.iter().filter(|mutant| mutant.long == long).filter(named);
    let (host, chip): (Vec<&Mutant>, Vec<&Mutant>) =
        chosen.partition(|mutant| catalogue.attack(&mutant.attack).host.is_some());
    let count = host.len() + chip.len();
    let try_there = |place, mutants: &[&Mutant]| try_all(&Bench::keeping(place, store), &catalogue, mutants);
    let (one, other) = std::thread::scope(|scope| {
        let host = scope.spawn(|| try_there("host", &host));
        let chip = try_there("chip", &chip);
        (host.join().expect("the other thread reports what is wrong"), chip)
    });
    let wrong = [one.1, other.1].concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(one.0.len() + other.0.len(), count);
}

#[test]
fn without_its_check_each_attack_succeeds() {
    try_those(false, "store");
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh mutants_long"]
fn nor_does_a_check_hold_that_is_taken_away_in_another_way() {
    try_those(true, "store-long");
}

/// Tries those of handlers, as `try_those`.
fn try_handlers(long: bool, store: &str) {
    assert!(cofferdam(&["--version"]).status.success(), "the tool does not build");
    let only = std::env::var("COFFERDAM_MUTANT").unwrap_or_default();
    let named = |name: &str| only.split(',').any(|part| format!("handlers: {name}").to_lowercase().contains(part));
    let bench = Bench::keeping("chip", store);
    let mut wrong = Vec::new();
    for mutant in direct::Mutants::read().mutant.iter().filter(|one| one.long == long && named(&one.protection)) {
        let begin = Instant::now();
        let line = mutant.judge(&bench).unwrap_or_else(|line| {
            wrong.push(line.clone());
            format!("NOT SEEN: {line}")
        });
        println!("{line}, {:.1} s", begin.elapsed().as_secs_f64());
    }
    if only.is_empty() {
        bench.forget_the_rest();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_its_protection_an_attack_of_handlers_succeeds() {
    try_handlers(false, "store-handlers");
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh mutants_long"]
fn nor_do_further_protections_hold_from_handlers_that_are_taken_away() {
    try_handlers(true, "store-handlers-long");
}
