//! Interrupts that reach a domain's handlers without the kernel: that they do, and what handlers cannot do to anybody else (docs/interrupts.md).

use serde_json::json;
use system_tests::Ran;
use system_tests::direct::{LIVES, MANIFEST, Mutants, ends, wrong};

const BOARD: &str = "mps2-an505";

#[test]
fn a_timer_reaches_a_handler_and_its_thread() {
    let ran = Ran::on(BOARD, "tests/direct/system.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let used = &ran.named("domains", "name", "commutes")["used"]["handlers"];
    assert_eq!(used["count"], 200, "{used:#}");
    let line = ran.named("exceptions", "name", "interrupt 4");
    assert_eq!(line["taken"], 200, "{line:#}");
}

/// In each life the handlers or their thread end, and nobody else does: the victim meets every deadline, and the neighbour computes what it must.
#[test]
fn hostile_handlers_end_alone() {
    let ran = Ran::new(MANIFEST, &[]);
    let found = ends(&ran.report);
    let wrong = wrong(&found).map(|at| format!("{at} {}: {}, not {:?}", LIVES[at].0, LIVES[at].1, found.get(at)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
    assert_eq!(found.len(), LIVES.len());
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let victim = ran.named("threads", "name", "victim");
    assert!(victim["releases"].as_u64() > Some(100) && victim["missed_deadlines"] == 0, "{victim:#}");
}

#[test]
fn every_mutant_applies() {
    for mutant in &Mutants::read().mutant {
        mutant.apply().unwrap_or_else(|how| panic!("{}: {how}", mutant.protection));
    }
}
