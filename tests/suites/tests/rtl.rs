//! The soft core's hardware by itself: proofs, and in `make test-long` all of them with their mutants and the tests of its modules and of its models. `make -C rtl help` lists the commands.

use std::process::Command;

use system_tests::{root, target_dir};

/// Runs a command to its end; what it printed last says how many passed.
fn passes(mut command: Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn prove(options: &[&str]) {
    let mut prove = Command::new(target_dir().join("venv/bin/python"));
    prove.arg(root().join("rtl/formal/prove.py")).args(options);
    passes(prove);
}

/// Those that take seconds.
#[test]
fn short_proofs_hold() {
    prove(&["--no-mutants", "equals-double", "boundary", "boundary-direct", "sv32", "memory"]);
}

/// `equals` and `boundary-double`, too.
#[test]
#[ignore = "a search for each mutant: `make test-long` runs it"]
fn every_proof_holds_and_refutes_its_mutants() {
    prove(&[]);
}

#[test]
#[ignore = "six models: `make test-long` runs it"]
fn modules_and_models_do_what_is_said_of_them() {
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("rtl")).arg("test");
    passes(make);
}
