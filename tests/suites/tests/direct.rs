//! Interrupts that reach a domain's handlers without the kernel: that they do, and what handlers cannot do to anybody else (docs/interrupts.md).

use serde_json::{Value, json};
use system_tests::direct::random;
use system_tests::direct::returns::{self, SAMPLE_STEP};
use system_tests::direct::{
    LIVES, MANIFEST, Mutants, OWNERS, REWINDS, SAMPLED, contended, ends, hides_more, is_overdrawn, slipped, wrong,
};
use system_tests::{Ran, cofferdam, root, target_dir};

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

/// The report of a handler's fault names function and line, by the program of which the handler's code is a copy.
#[test]
fn a_fault_of_a_handler_is_told_with_its_place() {
    let ran = Ran::on(BOARD, "tests/direct/points.toml", &[]);
    let text = ran.report["faults"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("app, in a handler: ") && text.contains(" in follow() points.c:8: "), "{}", ran.stderr);
}

/// Handlers that have used up their capacity in the way into the kernel are ended there, and leave nothing on the kernel's stack.
#[test]
fn handlers_end_in_the_way_into_the_kernel() {
    const MOST_CYCLES: u64 = 30_000 + 3_300;
    let ran = Ran::on(BOARD, "tests/direct/inside.toml", &["--exact"]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let budget = &ran.named("domains", "name", "inside")["used"]["handlers_budget"];
    let [used, given] = ["max_used_cycles", "capacity_cycles"].map(|key| budget[key].as_u64().unwrap_or(0));
    assert!(given > 0 && used > given && used <= given + MOST_CYCLES, "{budget:#}");
    let marks = ran.report["marks"].as_array().into_iter().flatten();
    let entered: Vec<_> = marks.filter(|mark| mark["id"] == 2).collect();
    assert_eq!(entered.len(), 1, "{}", ran.stderr);
}

/// Each stack has room for the deepest chain of calls, and the kernel's for all handlers that can be active above it.
#[test]
fn the_stacks_of_the_kernel_are_deep_enough() {
    const CALLEE: u64 = 40;
    const FRAME: u64 = 32;
    const HANDLERS: u64 = 8;
    // EXC_RETURN and the stack pointer, which the entry code keeps.
    const KEPT: u64 = 8;
    assert_eq!(cofferdam(&["build", "--quiet", "tests/direct/skips.toml"]).status.code(), Some(0));
    let elf = target_dir().join("cofferdam/direct-skips/kernel.elf");
    let script =
        std::process::Command::new(root().join("scripts/stack-depth.py")).arg("--json").arg(elf).output().unwrap();
    let depth: serde_json::Value = serde_json::from_slice(&script.stdout).unwrap();
    let [kernel, stack, above, upper] = ["kernel", "stack", "above", "upper"].map(|key| depth[key].as_u64().unwrap());
    let entered = (CALLEE + FRAME) * HANDLERS + FRAME;
    let ended = (CALLEE + FRAME) + (CALLEE + FRAME) * (HANDLERS - 1) + FRAME;
    assert!(kernel > 0 && kernel + entered.max(ended) <= stack, "{depth}");
    assert!(above > 0 && above + KEPT <= upper, "{depth}");
}

/// Nothing fails but a domain's handlers, in this way, time and again.
fn handlers_end_alone(manifest: &str, kinds: &[&str]) {
    const LEAST: usize = 5;
    let ran = Ran::new(manifest, &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let faults: Vec<_> = ran.report["faults"].as_array().into_iter().flatten().collect();
    let is_theirs =
        |fault: &&serde_json::Value| kinds.iter().any(|kind| fault["kind"] == *kind) && fault["in_handler"] == true;
    assert!(faults.len() > LEAST && faults.iter().all(is_theirs), "{}", ran.stderr);
    let usual = faults.iter().filter(|fault| fault["kind"] == kinds[0]).count();
    assert!(usual >= LEAST, "{}", ran.stderr);
}

/// Handlers return past the way into the kernel until its stack is full, over threads and over the kernel.
#[test]
fn handlers_fill_the_kernels_stack_and_end_alone() {
    // If the budget is empty first, their vectors lead nowhere.
    handlers_end_alone("tests/direct/skips.toml", &["exception return", "execution"]);
}

/// Handlers move the count of their time to and fro, so that their thread's own is taken for theirs.
#[test]
fn a_count_that_goes_back_pays_for_no_thread() {
    handlers_end_alone("tests/direct/steals.toml", &["data access"]);
}

/// A look that meets a handler between the kernel's request and its interrupt does not perform it: neither domain goes on with what is the other's.
#[test]
fn a_change_waits_for_the_end_of_a_handler() {
    let ran = Ran::on(BOARD, "tests/direct/comes.toml", &["--exact"]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]), "{}", ran.stderr);
}

/// In each life the handlers or their thread end, and nobody else does: the victim meets every deadline, and the neighbour computes what it must.
fn end_alone(manifest: &str) {
    let ran = Ran::new(manifest, &[]);
    let found = ends(&ran.report);
    let wrong = wrong(&found, manifest == SAMPLED);
    let wrong = wrong.map(|at| format!("{at} {}: {}, not {:?}", LIVES[at].0, LIVES[at].1, found.get(at)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
    assert_eq!(found.len(), LIVES.len());
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let victim = ran.named("threads", "name", "victim");
    assert!(victim["releases"].as_u64() > Some(100) && victim["missed_deadlines"] == 0, "{victim:#}");
    assert!(manifest == SAMPLED || !is_overdrawn(&ran.report), "{:#}", ran.named("domains", "name", "attacker"));
}

/// An exception of the kernel that waits follows a handler's return at once: what that says is believed no more than elsewhere.
#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn handlers_return_in_every_way_while_the_kernel_waits_and_harm_nobody() {
    waits("tails");
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn so_they_do_over_threads_that_use_floating_point() {
    waits("tails-over");
}

fn waits(system: &str) {
    let ran = Ran::on(BOARD, &format!("tests/direct/{system}.toml"), &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{system}\n{}", ran.stderr);
    assert_eq!(ran.report["marks"], json!([]), "{system}: registers of others");
    let attacker = ran.named("domains", "name", "attacker");
    assert!(attacker["restarts"].as_u64() > Some(2 * 128), "{system}: {attacker:#}");
    let victim = ran.named("threads", "name", "victim");
    assert_eq!(victim["missed_deadlines"].as_u64(), Some(0), "{system}: {victim:#}");
}

/// With an exception of its own that waits, too, a handler returned into a thread's place in front of the kernel for ever.
#[test]
fn handlers_that_return_into_a_threads_place_hold_no_exception_of_the_kernel_off() {
    let ran = Ran::on(BOARD, "tests/direct/starves.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert!(ran.named("domains", "name", "attacker")["restarts"].as_u64() > Some(5));
}

/// Each 97th way in which an exception of Non-secure state can return: nobody beside its domain is harmed.
#[test]
fn exceptions_return_in_sampled_ways_and_harm_nobody() {
    let ran = Ran::on(BOARD, returns::MANIFEST, &[]);
    let wrong = returns::deviations(&ran.report, 0, SAMPLE_STEP);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn exceptions_return_in_every_way_and_harm_nobody() {
    let ran = returns::run(0, 1);
    let wrong = returns::deviations(&ran.report, 0, 1);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
}

/// Handlers write whatever they like into registers of their state: nobody beside their domain is harmed, and nothing is held against the kernel.
#[test]
fn random_writes_to_registers_harm_nobody_and_accuse_nobody() {
    let ran = Ran::on(BOARD, random::MANIFEST, &[]);
    let wrong = random::deviations(&ran.report, 1);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn random_writes_with_more_seeds_harm_nobody_and_accuse_nobody() {
    const SECONDS: u32 = 3;
    for seed in [2, 3, 5, 8] {
        let ran = random::run(seed, SECONDS);
        let wrong = random::deviations(&ran.report, SECONDS.into());
        assert!(wrong.is_empty(), "seed {seed}: {}\n{}", wrong.join("\n"), ran.stderr);
    }
}

/// Table II of SBI: each load that must be denied ends a life of its domain, and each that must not succeeds. docs/interrupts.md has the table.
#[test]
fn each_state_of_the_processor_loads_what_is_its_own() {
    let ran = Ran::on(BOARD, "tests/direct/matrix.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let marks = ran.report["marks"].as_array().into_iter().flatten();
    let marks: Vec<_> =
        marks.map(|mark| (mark["domain"].as_u64(), mark["id"].as_u64(), mark["count"].as_u64())).collect();
    // Nine lives and the last one, in which three loads are permitted.
    assert_eq!(marks, [(Some(0), Some(1), Some(10)), (Some(0), Some(3), Some(3))], "{}", ran.stderr);
    let of = |domain: u64| {
        let faults = ran.report["faults"].as_array().into_iter().flatten();
        faults.filter(move |fault| fault["domain"] == domain).map(|fault| fault["kind"].as_str().unwrap_or_default())
    };
    // The fifth is a fault of Non-secure region registers, of whose status the kernel looks at nothing.
    let kinds = (0..9).map(|life| if life == 4 { "usage" } else { "data access" });
    assert!(of(0).eq(kinds), "{:?}", of(0).collect::<Vec<_>>());
    assert!(of(1).eq(["data access"; 2]), "{:?}", of(1).collect::<Vec<_>>());
}

#[test]
fn hostile_handlers_end_alone() {
    end_alone(MANIFEST);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn hostile_handlers_that_are_sampled_end_alone() {
    let [counted, sampled] = [MANIFEST, SAMPLED].map(|path| std::fs::read_to_string(root().join(path)).unwrap());
    let same = sampled.replace("direct-hostile-sampled", "direct-hostile").replace("meter = \"sampler\"\n", "");
    assert_eq!(counted, same, "the systems differ in more than the meter");
    end_alone(SAMPLED);
}

/// Handlers that never return end within 200 cycles of their capacity, 3 ms of each 9 ms, and neither the budget nor the gate that they interrupt is charged for them:
/// a callee that computes for 440 us has a bound of 560 us. (450 000 cycles are 3 ms.)
#[test]
fn counted_handlers_are_cut_off_to_the_cycle_and_charge_nobody() {
    let ran = Ran::new("tests/direct/accounts.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]));
    let client = ran.named("threads", "name", "client");
    assert_eq!((&client["completions"], &client["missed_deadlines"]), (&json!(24), &json!(0)), "{client:#}");
    let counter = &ran.report["run"]["counter"];
    let [cycles, matches, beyond] =
        ["cycles", "matches", "beyond_cycles"].map(|key| counter[key].as_u64().unwrap_or(0));
    let excess = cycles.abs_diff(matches * 450_000);
    assert!(matches > 95 && beyond <= 200 && excess <= 200 * matches, "{counter:#}");
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn handlers_that_are_cut_off_do_the_same_in_every_run() {
    let [ran, again] = [(); 2].map(|()| Ran::new("tests/direct/accounts.toml", &[]));
    assert_eq!(ran.repeatable(), again.repeatable());
}

/// Of two domains with handlers one at a time occupies Non-secure state, and each attacks the other, also across the change. Each life ends as it must, in both;
/// the kernel takes the interrupts of the one that does not occupy; and the victim and the arbiter notice nothing.
#[test]
fn two_hostile_owners_harm_nobody() {
    let ran = Ran::on(BOARD, OWNERS, &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let wrong = contended(&ran.report);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
    let victim = ran.named("threads", "name", "victim");
    assert!(victim["releases"].as_u64() > Some(70) && victim["missed_deadlines"] == 0, "{victim:#}");
}

/// A domain reads the servers of two others while the handlers of one use theirs up in each period. Its readings add up to what was counted, and each right permits
/// what it must (`tests/direct/servers/src/bin/watches.rs` has the rules).
#[test]
fn the_time_of_handlers_is_read_as_it_is_used_and_filled() {
    let ran = Ran::on(BOARD, "tests/direct/servers.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]));
    let mark = &ran.report["marks"][0];
    assert_eq!((&mark["id"], &mark["count"]), (&json!(1), &json!(1)), "{mark:#}");
    let (read, counter) = (mark["last_value"].as_u64().unwrap_or(0), &ran.report["run"]["counter"]);
    // In each of 148 periods 10 000 ticks of 7.5 cycles are used, and in one before them more than half; the last match is at most 200 cycles late.
    let part = read.checked_sub(1_480_000);
    assert!(
        part.is_some_and(|part| (5_000..6_000).contains(&part)) && counter["matches"] == 148,
        "{read}, {counter:#}"
    );
    let cycles = counter["cycles"].as_u64().unwrap_or(0);
    assert!(cycles.abs_diff(read * 15 / 2) <= 200, "{read}, {counter:#}");
}

/// A thread that goes to Non-secure code by itself uses no time of another domain's handlers, as a sampler sees it.
#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn no_time_of_handlers_is_charged_for_threads_that_go_there() {
    let ran = Ran::on(BOARD, "tests/direct/strays.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]));
}

/// What handlers write into Non-secure state is gone when another domain occupies it, and in the domain's own next life: all that can be read is as it was when the
/// system had just started.
#[test]
fn what_handlers_leave_is_put_back() {
    let ran = Ran::on(BOARD, "tests/direct/left.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let [reads, writes] = ["reads", "writes"].map(|name| ran.named("domains", "name", name)["index"].clone());
    let mark = |domain: &Value, id: u64| {
        let marks = ran.report["marks"].as_array().into_iter().flatten();
        marks.filter(|mark| mark["domain"] == *domain && mark["id"] == id).map(|mark| mark["last_value"].clone()).next()
    };
    let read: Vec<u64> = (0..100).take_while(|id| mark(&reads, *id).is_some()).collect();
    // All words, and those that both domains find alike (`tests/direct/leaves/src/lib.rs`).
    const WORDS: usize = 89;
    const COMMON: u64 = 68;
    assert_eq!(read.len(), WORDS);
    for id in read {
        assert_eq!(mark(&reads, id), mark(&reads, 100 + id), "word {id}, another domain");
        assert!(
            id >= COMMON || mark(&reads, id) == mark(&writes, id),
            "word {id}, another life: {:?}",
            mark(&writes, id)
        );
    }
}

/// Whose handlers have done what a look finds is blamed for it, and the domain that occupies Non-secure state before the look comes is not.
#[test]
fn nobody_is_blamed_for_what_another_has_done() {
    let ran = Ran::on(BOARD, "tests/direct/framed.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let does = &ran.named("domains", "name", "does")["index"];
    let faults = ran.report["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["domain"] == *does), "{}", ran.stderr);
    let kinds: Vec<&str> = faults.iter().filter_map(|fault| fault["kind"].as_str()).collect();
    let [data, back] = ["data access", "exception return"];
    assert_eq!(kinds, [data, data, data, data, data, back, back, back, back, data]);
    let next = &ran.named("domains", "name", "next")["used"]["handlers"];
    assert!(next["count"].as_u64() > Some(0), "{next:#}");
}

/// Two domains are blamed before the kernel comes, one for what it has left and the other for what its handler then does: the kernel is told of both, each time.
#[test]
fn of_two_that_are_blamed_at_once_none_goes_free() {
    let ran = Ran::on(BOARD, "tests/direct/blamed.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let index = |name: &str| ran.named("domains", "name", name)["index"].clone();
    let (does, fails) = (index("does"), index("fails"));
    let faults = ran.report["faults"].as_array().unwrap();
    // Where the other's thread had acknowledged its line, its handler comes at once, before the kernel goes on with the first one's.
    let at = |fault: &Value| fault["at"].as_u64().unwrap_or(0);
    let is_pair = |first: &Value, second: &Value| {
        first["domain"] == does && second["domain"] == fails && at(second) - at(first) < 5_000
    };
    let pairs = faults.windows(2).filter(|pair| is_pair(&pair[0], &pair[1])).count();
    let deeds = faults.iter().filter(|fault| fault["domain"] == does).count();
    assert!(deeds == 10 && pairs >= 3, "{deeds}, {pairs}\n{}", ran.stderr);
}

/// Handlers that set their counter back slowly, so that it never goes back from one look to the next, are charged by looks, and stopped by them.
#[test]
fn a_counter_that_is_wound_back_hides_little() {
    let ran = Ran::on(BOARD, REWINDS, &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ends(&ran.report), ["data access"; 5], "{}", ran.stderr);
    assert!(!hides_more(&ran.report), "{:#}", ran.named("domains", "name", "rewinds")["used"]);
    let victim = ran.named("threads", "name", "victim");
    assert!(victim["releases"].as_u64() > Some(5) && victim["missed_deadlines"] == 0, "{victim:#}");
}

/// Handlers that have others take faults of which nothing tells who is to blame: each is short, and costs the handlers some of their capacity.
#[test]
fn what_handlers_slip_to_others_is_short() {
    let ran = Ran::on(BOARD, "tests/direct/slips.toml", &[]);
    let wrong = slipped(&ran.report);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
}

/// Lines of Secure state cannot be pended by handlers, but for STIR in QEMU: a run in which that has happened fails, and says so.
#[test]
fn a_line_of_secure_state_that_stir_pends_is_a_violation() {
    let ran = Ran::on(BOARD, "tests/direct/triggers.toml", &[]);
    let failures = ran.report["verdict"]["failures"].as_array().unwrap();
    let codes: Vec<_> = failures.iter().map(|failure| failure["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["violation"], "{}", ran.stderr);
    let violations = ran.report["violations"].as_array().unwrap();
    let named = |violation: &Value| violation["kind"].as_str().is_some_and(|kind| kind.contains("STIR"));
    assert!(violations.len() == 3 && violations.iter().all(named), "{violations:#?}");
}

/// Nor does it move the stack of handlers that run, or have them blamed for what it does.
#[test]
fn handlers_run_on_beside_threads_that_go_there() {
    let ran = Ran::on(BOARD, "tests/direct/goes.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]));
    let used = &ran.named("domains", "name", "commutes")["used"]["handlers"];
    assert_eq!(used["count"], 200, "{used:#}");
    let gone = ran.named("exceptions", "name", "HardFault");
    assert!(gone["taken"].as_u64() > Some(500), "{gone:#}");
}

/// A forged return behind which the fault of the handler's own thread comes: each life ends, and the victim loses nothing.
#[test]
#[ignore = "for `make test-long`: scripts/test.sh direct_long"]
fn a_return_that_a_threads_own_fault_follows_is_not_believed() {
    let ran = Ran::on(BOARD, "tests/direct/forged.toml", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.named("domains", "name", "forged")["faults"].as_u64() > Some(20), "{}", ran.stderr);
}

/// A thread whose stack has no room for a handler's frame is stopped for that alone: the handlers are not blamed, and the kernel goes on.
#[test]
fn a_stack_without_room_for_a_handlers_frame_ends_its_own_thread() {
    let ran = Ran::on(BOARD, "tests/direct/low.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let low = &ran.named("domains", "name", "low")["index"];
    let faults: Vec<_> = ran.report["faults"].as_array().into_iter().flatten().collect();
    assert!(faults.iter().all(|fault| fault["domain"] == *low), "{}", ran.stderr);
    assert!(faults.iter().filter(|fault| fault["kind"] == "stack").count() > 5, "{}", ran.stderr);
}

/// Handlers interrupt a thread that uses its whole stack, as declared: the 40 bytes that are added to each stack are there.
#[test]
fn a_full_stack_has_room_for_a_handlers_frame() {
    let ran = Ran::on(BOARD, "tests/direct/full.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    assert_eq!(ran.report["faults"], json!([]));
    let used = &ran.named("domains", "name", "spends")["used"]["handlers"];
    assert!(used["count"].as_u64() > Some(1_000), "{used:#}");
}

/// Handlers leave masks set when they return to another domain's thread. Its next call becomes a HardFault, and is performed all the same.
#[test]
fn a_call_under_masks_of_handlers_is_performed() {
    let ran = Ran::on(BOARD, "tests/direct/masks.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let masks = &ran.named("domains", "name", "masks")["index"];
    let faults = ran.report["faults"].as_array().unwrap();
    assert!(
        faults.iter().all(|fault| fault["domain"] == *masks && fault["kind"] == "exception return"),
        "{}",
        ran.stderr
    );
    let calls = ran.named("exceptions", "name", "HardFault");
    assert!(calls["taken"].as_u64() > Some(10), "{calls:#}");
}

/// The names in backticks of a cell.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The table of docs/interrupts.md: whatever handlers control has an attack, and a mutant that lets this attack through.
#[test]
fn whatever_handlers_control_has_an_attack_and_a_mutant() {
    const ROWS: usize = 19;
    let text = std::fs::read_to_string(root().join("docs/interrupts.md")).unwrap();
    let part = text.split("### In the hands of handlers\n").nth(1).and_then(|rest| rest.split("\n#").next()).unwrap();
    let rows: Vec<_> = part.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert_eq!(rows.len(), ROWS);
    let mutants = Mutants::read().mutant;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').collect();
        let [_, attacks, protections] = cells[..] else { panic!("{row}") };
        let (attacks, protections) = (names(attacks), names(protections));
        assert!(!attacks.is_empty() && !protections.is_empty(), "{row}");
        for attack in &attacks {
            let is_life = LIVES.iter().any(|(life, _)| life == attack);
            assert!(is_life || root().join("tests/direct").join(attack).exists(), "no attack `{attack}`");
        }
        for protection in protections {
            let mutant = mutants.iter().find(|mutant| mutant.protection == protection);
            let mutant = mutant.unwrap_or_else(|| panic!("no mutant `{protection}`"));
            let system = mutant.system.as_ref().map(|name| format!("{name}.toml"));
            let shown_by = mutant.life.as_ref().or(system.as_ref()).map(String::as_str);
            assert!(
                shown_by.is_some_and(|name| attacks.contains(&name)),
                "{row}: `{protection}` is shown by {shown_by:?}"
            );
        }
    }
}

#[test]
fn every_mutant_applies() {
    for mutant in &Mutants::read().mutant {
        mutant.apply().unwrap_or_else(|how| panic!("{}: {how}", mutant.protection));
    }
}
