use manifest::Document;

use crate::{Pace, Plan, Random, Record, arm, generate, hash};

/// A system as it is drawn when everything is admitted.
fn drawn(seed: u64, number: u64) -> Plan {
    let mut random = Random::of(seed, number);
    let mut plan = generate(&mut random, true);
    arm(&mut random, &mut plan);
    plan
}

#[test]
fn a_seed_gives_the_same_system_every_time() {
    for number in 0..50 {
        let [first, again] = [0, 1].map(|_| drawn(7, number));
        assert_eq!(first, again);
        assert_ne!(first, drawn(8, number));
    }
}

#[test]
fn manifests_can_be_read() {
    for number in 0..200 {
        let plan = drawn(1, number);
        let text = plan.manifest("hunt", "mps2-an500", ["player", "endless"], Pace::USUAL);
        let document = Document::parse("system.toml".as_ref(), &text);
        assert!(document.is_ok(), "{}\n{text}", document.unwrap_err());
        let players = plan.domains.iter().filter(|domain| domain.handlers.is_none());
        let threads: usize = players.map(|domain| domain.threads.len()).sum();
        assert_eq!(plan.rows(Pace::USUAL).lines().count(), threads);
    }
}

#[test]
fn a_quarter_of_the_systems_share_a_budget_or_have_a_gate_or_a_line() {
    let features = (0..300).map(|number| Record::features(&drawn(1, number)));
    let counts = features.fold([0; 5], |counts, has| [0, 1, 2, 3, 4].map(|at| counts[at] + u32::from(has[at])));
    assert!(counts[..3].iter().all(|count| *count > 75), "{counts:?}");
}

/// Most acts of a row: `MOST` of the player's `act.rs`.
const ROW: usize = 12;

#[test]
fn rows_are_no_longer_than_the_player_reads() {
    let acts = |row: &str| row.split([';', '|']).filter(|act| !act.trim().is_empty()).count();
    let longest =
        (0..2000).flat_map(|number| drawn(5, number).rows(Pace::USUAL).lines().map(acts).collect::<Vec<_>>()).max();
    assert!(longest <= Some(ROW), "{longest:?}");
}

#[test]
fn some_victims_share_their_budget_with_threads_that_pay_many_prices_before_their_release() {
    let burst = |row: &str| {
        ["ack; ack; ack; ack", "yield; yield; yield; yield", "signal 1; signal 1; signal 1; signal 1"]
            .map(|prices| row.contains("until") && row.contains(prices))
    };
    let mut seen = [0; 3];
    for plan in (0..400).map(|number| drawn(1, number)) {
        let rows = plan.rows(Pace::USUAL);
        let mut rows = rows.lines();
        for domain in &plan.domains {
            let bursts: Vec<_> = rows.by_ref().take(domain.threads.len()).map(burst).collect();
            if !domain.hostile {
                seen = [0, 1, 2].map(|at| seen[at] + u32::from(bursts.iter().any(|burst| burst[at])));
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn hashes_know_where_a_part_ends() {
    assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
}

#[test]
fn on_a_slow_board_all_times_are_longer_and_runs_have_fewer_jobs() {
    let plan = (0..)
        .map(|number| drawn(1, number))
        .find(|plan| Record::features(plan)[3..] == [false; 2] && !plan.has_long_window());
    let plan = plan.unwrap();
    let numbers = |text: &str, unit: &str| -> Vec<i64> {
        let words = text.split([' ', ';', '"', '\n']);
        words.filter_map(|word| word.strip_suffix(unit)?.parse().ok()).collect()
    };
    let stretched = |of: &[i64]| of.iter().map(|us| us * Pace::SLOW.stretch as i64).collect::<Vec<_>>();
    let [usual, slow] = [Pace::USUAL, Pace::SLOW].map(|pace| plan.rows(pace));
    assert!(numbers(&usual, "us").len() > 3);
    assert_eq!(numbers(&slow, "us"), stretched(&numbers(&usual, "us")));
    let times = |pace: Pace| {
        let text = plan.manifest("hunt", "board", ["player", "endless"], pace);
        let lines = text.lines().filter(|line| line.ends_with(" us\"") && !line.starts_with("limit"));
        lines.filter_map(|line| line.split('"').nth(1)?.strip_suffix(" us")?.parse().ok()).collect::<Vec<i64>>()
    };
    assert_eq!(times(Pace::SLOW), stretched(&times(Pace::USUAL)));
    let limit = |pace: Pace| {
        let text = plan.manifest("hunt", "board", ["player", "endless"], pace);
        text.lines().find_map(|line| line.strip_prefix("limit = \"")?.strip_suffix(" us\"")?.parse::<u64>().ok())
    };
    assert!(limit(Pace::SLOW) < limit(Pace::USUAL));
}

#[test]
fn some_systems_have_herds_that_press_long_windows_small_budgets_and_handlers() {
    let mut seen = [0; 6];
    for plan in (0..400).map(|number| drawn(1, number)) {
        let threads: usize = plan.domains.iter().map(|domain| domain.threads.len()).sum();
        assert!(threads <= 32, "{threads} threads");
        let herd = plan.domains.iter().find(|domain| domain.is_herd());
        let has = [
            herd.is_some(),
            herd.is_some_and(|herd| herd.warden.is_some()),
            plan.has_long_window(),
            plan.budgets.iter().any(|budget| budget.least_us < 38 && budget.period_us < 500),
            plan.domains.iter().any(|domain| domain.handlers.is_some()),
            herd.is_some() && plan.has_long_window() && plan.domains.len() <= 3,
        ];
        seen = [0, 1, 2, 3, 4, 5].map(|at| seen[at] + u32::from(has[at]));
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}
