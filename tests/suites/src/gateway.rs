//! Promises of `examples/gateway`, real software isolated and timed, on every board: the suite of each board checks all of them.

use std::fs::File;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use record::{EventsReader, RunEvent};
use serde_json::Value;

use crate::{Ran, root, target_dir};

/// The manifest of most boards.
pub const MANIFEST: &str = "examples/gateway/system.toml";

/// The manifest of the board with a Cortex-M33, and its system's name.
pub const M33: [&str; 2] = ["examples/gateway/m33.toml", "gateway-m33"];

/// The system on one board.
pub struct Gateway {
    manifest: &'static str,
    /// Name in the manifest.
    name: &'static str,
    board: Option<&'static str>,
    /// Modelled time that repeats enough of the whole run.
    again: &'static str,
    /// One run at a time: each leaves its events in the same place.
    running: Mutex<()>,
    whole: OnceLock<(Ran, Vec<RunEvent>)>,
}

fn list<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    of[key].as_array().into_iter().flatten()
}

impl Gateway {
    /// On the manifest's board or another one; modelled time of the run that is compared with the whole one.
    pub const fn new(board: Option<&'static str>, again: &'static str) -> Gateway {
        Gateway::made([MANIFEST, "gateway"], board, again)
    }

    /// A manifest with its system's name, on its board.
    pub const fn of(system: [&'static str; 2], again: &'static str) -> Gateway {
        Gateway::made(system, None, again)
    }

    const fn made([manifest, name]: [&'static str; 2], board: Option<&'static str>, again: &'static str) -> Gateway {
        Gateway { manifest, name, board, again, running: Mutex::new(()), whole: OnceLock::new() }
    }

    fn run(&self, more: &[&str]) -> (Ran, Vec<RunEvent>) {
        let _alone = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let board = self.board.map(|board| ["--board", board]);
        let arguments: Vec<&str> = board.iter().flatten().chain(more).copied().collect();
        let ran = Ran::new(self.manifest, &arguments);
        let name = self.board.map_or(self.name.into(), |board| format!("{}.{board}", self.name));
        let path = target_dir().join("cofferdam").join(name).join("run/events.bin");
        let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let events = EventsReader::new(file).and_then(Iterator::collect);
        (ran, events.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    fn whole(&self) -> &(Ran, Vec<RunEvent>) {
        self.whole.get_or_init(|| self.run(&[]))
    }

    /// The run to the system's end, which serves all that only look.
    pub fn ran(&self) -> &Ran {
        &self.whole().0
    }

    /// It ends by itself, with a verdict that finds nothing.
    pub fn it_ends_as_promised(&self) {
        let ran = self.ran();
        assert_eq!(ran.code, 0, "{}\n{:#}\n{}", ran.stderr, ran.report["verdict"], ran.console());
        assert_eq!(ran.report["verdict"]["ok"], true);
    }

    /// The motor's loop, beside all the others.
    pub fn control_meets_every_deadline_and_the_bound_that_was_admitted(&self) {
        let control = self.ran().named("threads", "name", "control");
        assert!(control["completions"].as_u64() > Some(1000), "{control:#}");
        assert_eq!(control["missed_deadlines"], 0, "{control:#}");
        assert!(control["response"]["max"].as_u64() <= control["response_bound"].as_u64(), "{control:#}");
    }

    /// As faults, hashes of memory and the model of the processor see it, not as the attacker says.
    pub fn every_attack_is_contained_as_the_victims_see_it(&self) {
        let ran = self.ran();
        let witness = &ran.report["witness"];
        assert!(witness["checked_slices"].as_u64() > Some(10), "{witness:#}");
        assert_eq!(witness["changed_slices"], 0, "{witness:#}");
        assert_eq!(witness["stores_outside"], 0, "{witness:#}");
        assert_eq!(ran.report["violations_total"], 0);
        let rogue = ran.named("domains", "name", "rogue");
        assert!(rogue["faults"].as_u64() > Some(10), "{rogue:#}");
        assert_eq!(rogue["faults"], rogue["restarts"], "each fault is contained and counted: {rogue:#}");
        assert!(rogue["refused"].as_array().is_some_and(|calls| calls.len() > 3), "{rogue:#}");
        let told = format!("RESULT rogue.lethal {}", rogue["faults"]);
        assert!(ran.console().contains(&told), "not every attack took a life: {}", ran.console());
        for domain in list(&ran.report, "domains").filter(|domain| domain["name"] != "rogue") {
            assert_eq!(domain["faults"], 0, "{domain:#}");
        }
    }

    /// Beyond the envelopes memory comes from the manager: the series is shared to be read, taken away and given back.
    pub fn memory_comes_from_the_manager_and_goes_back(&self) {
        let ran = self.ran();
        let gate = ran.named("gates", "name", "memory.request");
        assert!(gate["calls"].as_u64() > Some(100), "{gate:#}");
        assert_eq!(gate["failed"], 0, "{gate:#}");
        assert!(gate["max_cycles"].as_u64() <= gate["bound_cycles"].as_u64(), "{gate:#}");
        let manager = ran.named("domains", "name", "memory");
        assert_eq!(
            manager["refused"].as_array().map(Vec::len),
            Some(0),
            "the kernel and the account agree: {manager:#}"
        );
        let console = ran.console();
        let at = |line: &str| console.find(line).unwrap_or_else(|| panic!("nobody said: {line}\n{console}"));
        let said = [
            "store: SQLite has 2027520 bytes, checked at l2 within ",
            "script: reads the series, checked at l2 within ",
            "RESULT script.covariance ",
            "store: took the series away from script and gave its memory back",
            "script: the series is no longer this domain's",
        ];
        assert!(said.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{console}");
        // Within the envelopes nothing is refused, and nobody but the attacker asked for what was not its own.
        let refused = console.lines().find(|line| line.contains("refused") && !line.starts_with("rogue: "));
        assert_eq!(refused, None);
    }

    /// The arena of SQLite, as the manifest's envelope has it.
    pub fn an_envelope_has_the_arena_that_it_needs(&self) {
        let store = self.ran().named("domains", "name", "store");
        let arena = list(store, "areas").find(|area| area["name"] == "arena0");
        assert!(arena.is_some_and(|arena| arena["bytes"].as_u64() >= Some(1980 << 10)), "{store:#}");
    }

    /// The attacker asks for memory that was granted to others, that others share, and for more than there is.
    pub fn the_manager_refuses_the_attacker(&self) {
        let console = self.ran().console();
        for attack in [
            "memory that was granted to somebody else",
            "shared memory that was not permitted",
            "more memory than there is",
        ] {
            let refused =
                |line: &str| line.starts_with("rogue: attack ") && line.ends_with(&format!("{attack}: refused"));
            assert!(console.lines().any(refused), "{attack}\n{console}");
        }
        assert!(console.contains("RESULT rogue.manager 4"), "{console}");
    }

    /// SQLite's answers and jStat's are those of Python's `sqlite3` and of numpy, from the same files.
    pub fn results_equal_those_of_other_tools(&self) {
        let console = self.ran().console_file();
        let python = root().join("target/venv/bin/python3");
        let python = if python.exists() { python } else { "python3".into() };
        let output = Command::new(python).arg("tests/gateway_reference.py").arg(console).current_dir(root()).output();
        let output = output.unwrap_or_else(|error| panic!("python3 cannot be started: {error}"));
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    /// Each event of a second run, to the cycle, as far as that goes.
    pub fn a_second_run_has_the_same_events(&self) {
        let (_, again) = self.run(&["--limit", self.again]);
        let (_, first) = self.whole();
        assert!(again.len() > 3000, "{} events say little", again.len());
        // With the limit the observer ends what is under way, which goes on in the whole run.
        let again = &again[..again.len() - 1];
        let differs = again.iter().zip(first).position(|(again, first)| again != first);
        assert_eq!(differs, None, "of {} events", again.len());
        assert!(again.len() <= first.len());
    }

    /// So that it is the budgets that keep the deadlines.
    pub fn without_budgets_control_misses_deadlines(&self, limit: &str) {
        // Long enough: without its budget `rogue` never lets go of the processor again.
        let (ran, _) = self.run(&["--no-budgets", "--limit", limit]);
        let control = ran.named("threads", "name", "control");
        assert!(control["missed_deadlines"].as_u64() > Some(0), "{control:#}");
        assert_eq!(ran.code, 1, "such a run does not end as promised");
    }

    /// With region registers: every area has the bound that admission promised, and what is pinned never misses.
    pub fn what_is_pinned_never_misses(&self) {
        let domains = || list(&self.ran().report, "domains");
        assert!(domains().any(|domain| domain["region_misses"].as_u64() > Some(1000)), "nobody misses");
        for domain in domains() {
            let (pinned, paged): (Vec<_>, Vec<_>) = list(domain, "areas").partition(|area| area["pinned"] == true);
            assert!(
                pinned.iter().all(|area| area["bound_cycles"] == 0 && area["level"] == "deterministic"),
                "{pinned:#?}"
            );
            assert!(paged.iter().all(|area| area["bound_cycles"].as_u64() > Some(0)), "{paged:#?}");
            if paged.is_empty() {
                assert_eq!(domain["region_misses"], 0, "{domain:#}");
            }
        }
    }

    /// With page tables: for a domain of which everything is locked, the hardware never walks; where everything has a bound, no walk leaves
    /// the chip; who has best-effort memory is seen to be walked for beyond it.
    pub fn walks_end_where_was_promised(&self) {
        let (mut locked, mut near, mut beyond) = (0, 0, 0);
        for domain in list(&self.ran().report, "domains") {
            let translation = &domain["counters"]["translation"];
            let walks = |ends: &[&str]| {
                let of = |kind: &str| {
                    ends.iter().map(|end| translation[kind][*end].as_u64().unwrap_or(u64::MAX)).sum::<u64>()
                };
                of("data_walks").saturating_add(of("fetch_walks"))
            };
            let out = walks(&["level2", "memory"]);
            if list(domain, "areas").all(|area| area["level"] == "deterministic") {
                assert_eq!((walks(&["level1", "locked_way", "on_chip"]), out), (0, 0), "{domain:#}");
                locked += u64::from(translation["locked_hits"].as_u64() > Some(1000));
            } else if list(domain, "areas").all(|area| area["bound_cycles"].as_u64() > Some(0)) {
                assert_eq!(out, 0, "{domain:#}");
                near += u64::from(walks(&["on_chip"]) > 0);
            } else {
                beyond += out;
            }
        }
        assert!(locked > 0 && near > 2 && beyond > 100, "{locked} {near} {beyond}");
    }
}

/// A test for each thing that holds of a [`Gateway`], whatever the board, and of one more, which says how checks are kept there.
#[macro_export]
macro_rules! gateway_holds {
    (@ $gateway:ident: $($thing:ident)+) => { $(
        #[test]
        fn $thing() {
            $gateway.$thing();
        }
    )+ };
    ($gateway:ident: $checks:ident) => {
        $crate::gateway_holds! { @ $gateway:
            it_ends_as_promised
            control_meets_every_deadline_and_the_bound_that_was_admitted
            every_attack_is_contained_as_the_victims_see_it
            memory_comes_from_the_manager_and_goes_back
            an_envelope_has_the_arena_that_it_needs
            the_manager_refuses_the_attacker
            results_equal_those_of_other_tools
            a_second_run_has_the_same_events
            $checks
        }
    };
}
