//! Tests of the boards' files: those that are there, and what is refused.

use build_tool::{Install, Instead, Loaded};
use manifest::Diagnostic;

use super::{Chip, all, find, path};
use crate::{CyclesLimit, Error, Promise, rows};

/// The checkout that the tests belong to.
pub(crate) fn install() -> Install {
    Install::find().expect("the tests run in a checkout")
}

/// The board with region registers.
pub(crate) fn m7() -> Chip {
    find(&install(), "mps2-an500").expect("the board is measured")
}

/// The board with page tables.
pub(crate) fn a9() -> Chip {
    find(&install(), "xilinx-zynq-a9").expect("the board is measured")
}

/// A board whose hardware is simulated.
pub(crate) fn soft_core() -> Chip {
    find(&install(), "ibex-rtmmu").expect("the board is measured")
}

const LEAST: &str = "prefix = \"t\"\noperation = []\n\
    [systems]\nbenchmark = \"eval/systems/bench/system.toml\"\n";
const OPERATION: &str = "{ id = \"a\", about = \"b\", start = \"c\", end = \"d\" }";

fn parsed(text: &str) -> Result<Chip, Diagnostic> {
    Chip::new(m7().board, text)
}

/// Why the least file is refused with one change.
fn refused(from: &str, to: &str) -> String {
    assert!(LEAST.contains(from), "{from}");
    let diagnostic = parsed(&LEAST.replacen(from, to, 1)).expect_err("the change is wrong");
    assert_eq!(diagnostic.refusal().code, "CF0605");
    diagnostic
        .to_string()
        .strip_prefix("boards/mps2-an500/bench.toml is wrong: ")
        .expect("it names the file")
        .to_owned()
}

fn refused_with(operations: &str) -> String {
    refused("operation = []", &format!("operation = [{operations}]"))
}

#[test]
fn every_file_is_read_and_names_systems_that_exist() {
    let install = install();
    let chips = all(&install).expect("the files follow their schema");
    assert!(chips.iter().any(|chip| chip.has_tables()) && chips.iter().any(|chip| !chip.has_tables()));
    for chip in &chips {
        let systems = chip.systems();
        let some = [&systems.heap, &systems.manager, &systems.micro].into_iter().flatten();
        for system in some.chain([&systems.benchmark]).chain(&systems.paths).chain(&systems.costs) {
            assert!(install.root.join(system).is_file(), "{}: {system}", chip.board.name);
        }
        for peer in chip.peers() {
            assert!(!chip.operations(Some(peer)).is_empty(), "{}: nothing of {}", chip.board.name, peer.suffix);
        }
    }
}

/// A new rule of admission can refuse a system that `make bench` runs: this says so before somebody measures.
#[test]
fn every_system_whose_figures_are_rows_is_admitted_on_its_board() {
    let install = install();
    for chip in all(&install).expect("the files follow their schema") {
        let systems = chip.systems();
        let some = [&systems.heap, &systems.manager, &systems.direct, &systems.occupy, &systems.veneer];
        for system in some.into_iter().flatten().chain([&systems.benchmark]).chain(&systems.paths) {
            let on = Instead::board(&chip.board.name);
            let loaded = Loaded::load_for(&install, &install.root.join(system), on).expect("the system is read");
            let refused = loaded.admit(true).err().unwrap_or_default();
            assert!(refused.is_empty(), "{system} on {}: {}", chip.board.name, refused[0]);
        }
    }
}

#[test]
fn no_two_boards_share_an_id_and_each_id_begins_with_its_boards_prefix() {
    let chips = all(&install()).expect("the files follow their schema");
    let mut ids = Vec::new();
    for chip in &chips {
        assert!(chip.ids().iter().all(|id| id.split('.').next() == Some(chip.prefix())), "{:?}", chip.ids());
        ids.extend(chip.ids());
    }
    let listed = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), listed);
    assert_eq!(rows::kind(&chips[0].rows("heap")), Some("heap"));
}

#[test]
fn every_target_names_rows_that_are_measured() {
    for chip in all(&install()).expect("the files follow their schema") {
        let ids = chip.ids();
        for (id, target) in chip.targets() {
            assert!(ids.contains(&id) && target.below.is_none_or(|other| ids.contains(&other)), "{id}");
        }
    }
}

#[test]
fn a_target_is_a_number_or_what_the_board_promises() {
    let limit = |limit: &str| format!("operation = [{}, target = {{ {limit} }} }}]", OPERATION.trim_end_matches(" }"));
    let of = |text: &str| parsed(&LEAST.replacen("operation = []", &limit(text), 1));
    let chip = of("cycles = \"l2_cycles\", instructions = 7, below = \"a.peer\"").expect("a good file");
    let (id, target) = chip.targets().remove(0);
    assert_eq!((id.as_str(), target.instructions, target.below.as_deref()), ("t.a", Some(7), Some("t.a.peer")));
    assert_eq!(target.cycles, chip.board.protection.miss_cycles().map(|[_, far]| far.into()));
    assert_eq!(of("cycles = 9").expect("a good file").targets()[0].1.cycles, Some(9));
    let text = LEAST.replacen("operation = []", &limit("cycles = \"l1_cycles\""), 1);
    let why = Chip::new(a9().board, &text).expect_err("page tables promise something else").to_string();
    assert!(why.contains("a bound that the board's `protection` does not have"), "{why}");
}

/// The benchmark judges misses by the bounds that admission promises.
#[test]
fn every_promise_of_a_board_is_the_target_of_a_row() {
    for chip in all(&install()).expect("the files follow their schema").iter().filter(|chip| !chip.has_tables()) {
        let limits = chip.operations(None).into_iter().filter_map(|operation| operation.target?.cycles);
        let limits: Vec<CyclesLimit> = limits.collect();
        // Without tightly coupled memory there is one promise.
        for promise in [Promise::L1Cycles, Promise::L2Cycles].into_iter().skip(usize::from(!chip.has_tcm())) {
            assert!(limits.contains(&CyclesLimit::Promised(promise)), "{}: {promise:?}", chip.board.name);
        }
    }
}

#[test]
fn what_is_not_in_the_schema_is_refused() {
    assert!(parsed(LEAST).is_ok());
    assert!(refused("prefix", "tables = true\nprefix").starts_with("unknown field `tables`"));
    assert!(refused("[systems]", "[systems]\nfast = \"x\"").starts_with("unknown field `fast`"));
    assert!(refused("operation = []\n", "").starts_with("missing field `operation`"));
    assert!(refused_with("{ id = \"a\", titel = \"b\" }").starts_with("unknown field `titel`"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    assert!(refused("\"t\"", "\"speed\"").contains("cannot begin ids"));
    assert!(refused("\"t\"", "\"t.u\"").contains("cannot begin ids"));
    assert!(refused("\"t\"", "\"\"").contains("cannot begin ids"));
    assert_eq!(refused_with(&format!("{OPERATION}, {OPERATION}")), "two rows have the id `t.a`");
    let piece = "[[micro]]\nname = \"a\"\nabout = \"b\"\noperations = 1\npublic = 1.0\nsource = \"c\"\n[systems]";
    assert!(refused("[systems]", piece).contains("`systems.micro` names no system"));
    let of_nobody = OPERATION.replacen('{', "{ peers = [\"x\"],", 1);
    assert_eq!(refused_with(&of_nobody), "an operation belongs to `x`, which is no peer");
}

#[test]
fn an_experiment_needs_its_scheme_of_protection() {
    let places = "[figures.places]\nsystem = \"x\"\ntable_ways = 1\n[systems]";
    let scheme = "`figures` holds an experiment that needs another scheme of protection";
    assert_eq!(refused("[systems]", places), scheme);
    let synthetic = LEAST.replacen("[systems]", "[figures.synthetic]\nsystem = \"x\"\n[systems]", 1);
    assert!(parsed(&synthetic).is_ok());
    assert!(Chip::new(a9().board, &synthetic).expect_err("it has no regions").to_string().ends_with(scheme));
    let app = "{ name = \"x\", about = \"x\", system = \"x\", only = [\"2us\"] }";
    let text = format!("[figures.interference]\ntable_ways = 1\napp = [{app}]\n[systems]");
    let refusal = Chip::new(a9().board, &LEAST.replacen("[systems]", &text, 1)).expect_err("no such time");
    assert!(refusal.to_string().ends_with("`2us` is no time of `figures.interference`"), "{refusal}");
}

/// Every value of a key `system`, at any depth.
fn systems_in(value: &toml::Value, found: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            found.extend(table.get("system").and_then(toml::Value::as_str).map(str::to_owned));
            table.values().for_each(|value| systems_in(value, found));
        }
        toml::Value::Array(items) => items.iter().for_each(|value| systems_in(value, found)),
        _ => {}
    }
}

#[test]
fn the_systems_of_experiments_exist() {
    let install = install();
    for chip in all(&install).expect("the files follow their schema") {
        let text = std::fs::read_to_string(path(&install, &chip.board.name)).expect("it was read already");
        let mut systems = Vec::new();
        systems_in(&toml::from_str(&text).expect("it was read already"), &mut systems);
        for system in systems {
            assert!(install.root.join(format!("eval/systems/mxu/{system}.toml")).is_file(), "{system}");
        }
    }
}

/// An installation of copies of one board, each with this text as its `bench.toml`, or none.
fn installed(boards: &[(&str, Option<&str>)]) -> (tempfile::TempDir, Install) {
    let root = tempfile::tempdir().expect("a writable directory");
    let board = install().root.join("boards/mps2-an500/board.toml");
    let board = std::fs::read_to_string(board).expect("the board comes with Cofferdam");
    for parts in ["chips", "cores", "arch", "images", "user"] {
        std::os::unix::fs::symlink(install().root.join(parts), root.path().join(parts)).expect("a writable directory");
    }
    for (name, text) in boards {
        let directory = root.path().join("boards").join(name);
        std::fs::create_dir_all(&directory).expect("a writable directory");
        let own = board.replacen("name = \"mps2-an500\"", &format!("name = \"{name}\""), 1);
        std::fs::write(directory.join("board.toml"), own).expect("a writable directory");
        if let Some(text) = text {
            std::fs::write(directory.join("bench.toml"), text).expect("a writable directory");
        }
    }
    let install = Install::new(root.path().to_owned(), root.path().join("target"));
    (root, install)
}

/// The code of a refusal, and its limit.
fn code<T>(refused: Result<T, Error>) -> (&'static str, String) {
    match refused {
        Err(Error::Data(refusal)) => (refusal.refusal().code, refusal.refusal().limit.clone()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is not refused"),
    }
}

#[test]
fn a_board_without_the_file_is_left_out_and_refused_when_it_is_named() {
    let (_root, install) = installed(&[("bare", None), ("mps2-an500", Some(LEAST))]);
    assert_eq!(all(&install).expect("one good file").len(), 1);
    assert_eq!(code(find(&install, "bare")), ("CF0202", "known: mps2-an500".to_owned()));
}

#[test]
fn two_boards_cannot_have_one_prefix() {
    let (_root, install) = installed(&[("first", Some(LEAST)), ("second", Some(LEAST))]);
    assert_eq!(code(all(&install)).0, "CF0605");
    let (_root, install) = installed(&[("mps2-an500", Some("prefix = 3"))]);
    assert_eq!(code(all(&install)).0, "CF0605");
}
