//! Each check of the attack suite, taken away: its attack must succeed then, or nobody would know that the check is needed.

use system_tests::attacks::{Bench, Catalogue, Mutant, Mutants};
use system_tests::cofferdam;

/// Tries mutants one after the other; returns a line for each, and what is wrong.
fn try_all(name: &str, catalogue: &Catalogue, mutants: &[&Mutant]) -> (Vec<String>, Vec<String>) {
    let bench = Bench::new(name);
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for mutant in mutants {
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
        println!("{line}");
        lines.push(line);
    }
    if std::env::var_os("COFFERDAM_MUTANT").is_none() {
        bench.forget_the_rest();
    }
    (lines, wrong)
}

#[test]
fn without_its_check_each_attack_succeeds() {
    assert!(cofferdam(&["--version"]).status.success(), "the tool does not build");
    let (catalogue, mutants) = (Catalogue::read(), Mutants::read());
    let only = std::env::var("COFFERDAM_MUTANT").unwrap_or_default();
    let called = |mutant: &Mutant| format!("{} on {:?}", mutant.check, mutant.on).to_lowercase();
    let named = |mutant: &&Mutant| only.split(',').any(|name| called(mutant).contains(name));
    let chosen = mutants.mutant.iter().filter(named);
    let (host, chip): (Vec<&Mutant>, Vec<&Mutant>) =
        chosen.partition(|mutant| catalogue.attack(&mutant.attack).host.is_some());
    let count = host.len() + chip.len();
    let (one, other) = std::thread::scope(|scope| {
        let host = scope.spawn(|| try_all("host", &catalogue, &host));
        let chip = try_all("chip", &catalogue, &chip);
        (host.join().expect("the other thread reports what is wrong"), chip)
    });
    let wrong = [one.1, other.1].concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(one.0.len() + other.0.len(), count);
}
