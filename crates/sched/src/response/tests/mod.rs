//! Cases worked out by hand, every term against budgets that do everything they can, and what must not lower a bound.

use self::reference::{Machine, Rules, worst};
use super::*;
use crate::switching::Switching;
use crate::testing::Rng;
use std::vec::Vec;

mod reference;
mod sharing;

const NOTHING: Job = Job { wcet: 0, misses: 0, calls: 0, bounds: 0, activations: 0, reload: 0 };

/// E 1, X 2, Y 4: paths of 3, activations of 14, and a slack of 100 + 1000 + 14.
const COSTS: Costs =
    Costs { switching: Switching { entry: 1, exit: 2, early: 4 }, masked: 1_000, late: 100, miss: 7, look: 5_000 };

fn free(look: u64) -> Costs {
    Costs { look, ..Costs::default() }
}

fn contender(level: u8, capacity: u64, period: u64) -> Contender {
    Contender { level, period, capacity, step: 1, threads: 1, arranges: 0 }
}

fn alone(costs: Costs) -> Set<'static> {
    Set { own: Grid::default(), budgets: &[], sharers: &[], gates: &[], lines: &[], costs }
}

fn thread(level: u8, wcet: u64, deadline: u64) -> Thread {
    Thread { level, deadline, job: Job { wcet, ..NOTHING } }
}

#[test]
fn a_thread_alone_by_hand() {
    let job = Job { wcet: 50, misses: 3, calls: 2, bounds: 30, activations: 5, reload: 9 };
    let found = response(&Thread { level: 3, deadline: 10_000, job }, &alone(COSTS)).unwrap();
    let own = Own { switch: 11, wcet: 50, misses: 21, gates: 30, slack: 2 * 1_114, activations: 70, reload: 9 };
    let terms = Terms { late: 100, own, masked: 1_000, kernel: 4, ..Terms::default() };
    assert_eq!(found, Response { window: 100 + 1_000 + 2_419 + 4, terms });
    // Its budget pays no switch to it, and one activation more.
    assert_eq!(job.price(&COSTS), 50 + 21 + 30 + 2 * 1_114 + 6 * 14 + 9);
}

#[test]
fn a_switch_that_is_under_way_at_the_release_counts_with_its_reload() {
    let switching = Switching { entry: 1, exit: 40, early: 0 };
    let masked =
        |masked| response(&thread(0, 1, 100), &alone(Costs { switching, masked, ..free(0) })).unwrap().terms.masked;
    assert_eq!([0, 40, 41, 42].map(masked), [41, 41, 41, 42]);
}

/// A tick every 10 that is at least 4 from the release.
#[test]
fn boundaries_of_the_own_budget_cost_timers_in_vain() {
    let switching = Switching { early: 1, ..Switching::default() };
    let set = |step| {
        let own = Grid { period: 10, step, timers: 1 };
        Set { own, ..alone(Costs { switching, ..free(0) }) }
    };
    let kernel = |step, wcet| response(&thread(0, wcet, 100), &set(step)).unwrap().terms.kernel;
    // Two are for early timers of the activation itself.
    assert_eq!([2, 3, 11, 12].map(|wcet| kernel(4, wcet)), [0, 1, 1, 2]);
    assert_eq!([8, 9].map(|wcet| kernel(10, wcet)), [0, 1]);
}

#[test]
fn the_kernel_looks_at_its_clock_each_half_second_begun() {
    for (wcet, looks) in [(90, 1), (94, 1), (95, 2), (192, 2), (193, 3)] {
        let switching = Switching { early: 2, ..Switching::default() };
        let found = response(&thread(0, wcet, 1_000), &alone(Costs { switching, ..free(100) })).unwrap();
        assert_eq!((wcet, found.terms.kernel), (wcet, 2 * looks));
    }
}

const FREE: Handlers = Handlers {
    period: 0,
    capacity: 0,
    beyond: 0,
    late: 0,
    uncounted: 0,
    end: 0,
    early: 0,
    met: 0,
    look: 0,
    counted: false,
    times: 1,
    restart: 0,
    slips: 0,
};

/// With a counter threads pay only for ending handlers, for looks, and for what is not counted.
#[test]
fn counted_handlers_charge_nobody_else() {
    let sampled = Handlers { period: 10_000, capacity: 3_000, end: 5, met: 1, look: 2, uncounted: 7, ..FREE };
    let counted = Handlers { counted: true, early: 3, ..sampled };
    let looks = 2 * crate::sampling::counted_looks_in(3_001);
    assert_eq!(sampled.charged_within(3_001), sampled.within(3_001));
    assert_eq!((counted.within(3_001), counted.charged_within(3_001)), (2 * 3_009 + looks + 7, 2 * 5 + looks + 7));
    // Those that are not believed to leave their counter alone charge whom they interrupt for what it does not count.
    let hostile = Handlers { times: 2, ..counted };
    assert_eq!(hostile.within(3_001), 2 * 6_009 + looks + 7);
    assert_eq!(hostile.charged_within(3_001), 2 * 3_005 + looks + 7);
    // A supervisor's activation is charged to their server alone.
    let restarted = Handlers { restart: 13, ..hostile };
    assert_eq!(restarted.within(3_001), 2 * 6_022 + looks + 7);
    assert_eq!(restarted.charged_within(3_001), hostile.charged_within(3_001));
    // Slips are paid by whom handlers interrupt, whatever measures the handlers.
    let slipping = Handlers { slips: 11, ..hostile };
    assert_eq!(slipping.within(3_001), 2 * 6_020 + looks + 7);
    assert_eq!(slipping.charged_within(3_001), 2 * 3_016 + looks + 7);
}

#[test]
fn handlers_by_hand() {
    // 3 every 10, noticed 1 late: R = 5 + ceil((R + 8) / 10) * 4: 9, 13, 17, and ceil(25 / 10) * 4 + 5 = 17.
    let handlers = Handlers { period: 10, capacity: 3, beyond: 1, late: 1, ..FREE };
    let found = response_beside(&thread(0, 5, 100), &alone(free(0)), &[handlers]).unwrap();
    assert_eq!((found.window, found.terms.handlers), (17, 12));
    // Two in a row, one at each side of a boundary, and what each is overdrawn by.
    assert_eq!([0, 2, 3, 12, 13].map(|window| handlers.within(window)), [4, 4, 8, 8, 12]);
    assert!(matches!(response_beside(&thread(0, 5, 16), &alone(free(0)), &[handlers]), Err(Refusal::Late(_))));
    let all = Handlers { period: 10, capacity: 10, ..FREE };
    assert!(response_beside(&thread(0, 1, 1_000), &alone(free(0)), &[all]).is_err());
}

/// Handlers that run whenever their capacity lets them, on a grid of any phase, never use more than the bound.
#[test]
fn handlers_that_do_all_they_can_keep_their_bound() {
    for (period, capacity, late) in [(10, 3, 1), (7, 2, 0), (9, 4, 2), (5, 1, 3)] {
        let handlers = Handlers { period, capacity, beyond: late, late, ..FREE };
        for phase in 0..period {
            // They wait until the end of a period, and then run as long as they can; each boundary can be late, and so is its end.
            for jitter in 0..=late {
                for before in 0..=(capacity + late).min(phase) {
                    let runs = |time: u64| {
                        let boundary = if time < phase { None } else { Some((time - phase) / period) };
                        match boundary {
                            None => time >= phase - before,
                            Some(0) => (time - phase).wrapping_sub(jitter) < capacity + late,
                            Some(number) => time - phase - number * period < capacity + late,
                        }
                    };
                    let mut used = 0;
                    for window in 1..4 * period {
                        used += u64::from(runs(window - 1));
                        assert!(used <= handlers.within(window), "{handlers:?} {phase} {jitter} {window}: {used}");
                    }
                }
            }
        }
    }
}

#[test]
fn one_budget_by_hand() {
    // 3 and a budget of 2 every 5: R = 3 + ceil((R + 3) / 5) * 2: 5, 7, 7.
    let set = Set { budgets: &[contender(1, 2, 5)], ..alone(free(0)) };
    let found = response(&thread(1, 3, 12), &set).unwrap();
    assert_eq!((found.window, found.terms.budgets), (7, 4));
    assert_eq!(set.budgets[0].within(7, &set.costs), Interference { hits: 2, part: 0, capacity: 4, carried: 0 });
    assert_eq!(response(&thread(0, 3, 12), &set).unwrap().window, 3, "who is more urgent is not delayed");
}

/// 3 every 10, whose boundaries are multiples of 2 from a release: 2 of 3 before the first, or all 3 when it is 4 away.
#[test]
fn a_lattice_of_boundaries_by_hand() {
    let found = |step, window| {
        let Interference { hits, part, capacity, .. } =
            Contender { step, ..contender(0, 3, 10) }.within(window, &free(0));
        (hits, part, capacity)
    };
    // At 3, two of the first and all of the second would be 5; but no phase allows more than 3.
    assert_eq!([1, 2, 3, 4].map(|window| found(2, window)), [(1, 0, 3), (1, 0, 3), (1, 0, 3), (1, 2, 5)]);
    assert_eq!([5, 12, 13, 14, 15].map(|window| found(2, window).2), [6, 6, 6, 8, 9]);
    assert_eq!([3, 4, 13, 14].map(|window| found(1, window).2), [3, 6, 6, 9]);
    assert_eq!([1, 10, 11].map(|window| found(10, window).2), [3, 3, 6]);
}

#[test]
fn what_a_budget_carries_by_hand() {
    let mut other = Contender { threads: 3, ..contender(0, 10, 100) };
    assert_eq!(other.within(50, &COSTS).carried, 3 * 14 + 100 + 1_000);
    other.arranges = 2;
    assert_eq!(other.within(50, &COSTS).carried, 3 * 14 + 100 + 1_000 + 2 * 14);
}

/// A capacity and what was paid before are 3 activations and one begun. To that come a line, five
/// jobs of a sharer with two each, a call and two that the job arranges: 18 activations, and each
/// brings two timers. Then the way back from the call, two ticks of the own grid, a look, and two
/// timers of its own.
#[test]
fn how_often_a_job_is_interrupted_by_hand() {
    let costs = Costs { masked: 0, late: 0, ..COSTS };
    let budgets = [Contender { step: 100, ..contender(0, 28, 100) }, contender(2, 50, 100)];
    let sharer = Sharer { level: 1, period: 10, deadline: 10, price: 1, activations: 2, together: true };
    let set = Set {
        own: Grid { period: 20, step: 20, timers: 1 },
        budgets: &budgets,
        sharers: &[sharer, Sharer { level: 2, ..sharer }],
        lines: &[Line { wakes: None }],
        ..alone(costs)
    };
    let job = Job { calls: 1, activations: 2, ..NOTHING };
    assert_eq!(set.resumptions(1, &job, 50), 3 * (4 + 1 + 10 + 3) + 1 + 2 + 1 + 2);
    assert_eq!(alone(free(0)).resumptions(1, &NOTHING, 50), 2);
}

#[test]
fn the_gate_that_blocks_is_below_and_reaches_up() {
    let gates = [
        Gate { ceiling: 0, bound: 40, lowest_caller: 2 },
        Gate { ceiling: 2, bound: 900, lowest_caller: 2 },
        Gate { ceiling: 1, bound: 60, lowest_caller: 2 },
        Gate { ceiling: 0, bound: 800, lowest_caller: 1 },
    ];
    let set = Set { gates: &gates, ..alone(COSTS) };
    let blocked = |level| {
        let terms = response(&thread(level, 1, 10_000), &set).unwrap().terms;
        (terms.gate_at, terms.gate)
    };
    assert_eq!(blocked(0), (Some(3), 800 + 1_114));
    assert_eq!(blocked(1), (Some(2), 60 + 1_114));
    assert_eq!(blocked(2), (None, 0));
}

#[test]
fn a_line_costs_an_activation_if_somebody_urgent_waits_for_it() {
    let lines = [Some(0), Some(4), Some(5), None].map(|wakes| Line { wakes });
    let found = response(&thread(4, 1, 10_000), &Set { lines: &lines, ..alone(COSTS) }).unwrap();
    assert_eq!(found.terms.lines, 2 * 14 + 2 * 3);
}

#[test]
fn sharers_count_by_job() {
    let sharer = Sharer { level: 1, period: 10, deadline: 8, price: 3, activations: 1, together: true };
    assert_eq!([1, 10, 11].map(|window| sharer.within(window)), [3, 3, 6]);
    let apart = Sharer { together: false, ..sharer };
    assert_eq!([1, 2, 3, 12, 13].map(|window| apart.within(window)), [3, 3, 6, 6, 9]);
    let set = Set { sharers: &[sharer, Sharer { level: 2, ..sharer }], ..alone(free(0)) };
    assert_eq!(response(&thread(1, 8, 100), &set).unwrap().window, 8 + 6);
}

/// Every release of a sharer that can be, every window: how many of its jobs can run within it.
#[test]
fn no_window_has_more_jobs_of_a_sharer() {
    for (period, deadline) in (1..=8u64).flat_map(|period| (1..=period).map(move |deadline| (period, deadline))) {
        for window in 1..=30 {
            let jobs =
                |phase: u64| (0..80).filter(|k| overlap(phase + k * period, deadline, 40, window)).count() as u64;
            let apart = Sharer { level: 0, period, deadline, price: 1, activations: 1, together: false };
            // Releases are whole ticks, so that the last tick of the reach holds none.
            let most = (0..period).map(jobs).max().unwrap();
            assert!(most <= apart.within(window) && most == apart.within(window - 1), "{apart:?} {window}");
            let together = Sharer { together: true, ..apart };
            assert_eq!(jobs(40 % period), together.within(window), "{together:?} {window}");
        }
    }
}

#[test]
fn refusals_carry_their_terms() {
    // R = 5 + ceil((R + 3) / 5) * 2 = 7, 9, 11, 11, and a deadline of 10.
    let set = Set { budgets: &[contender(0, 2, 5)], ..alone(free(0)) };
    let Err(Refusal::Late(found)) = response(&thread(1, 5, 10), &set) else { panic!("admitted") };
    assert_eq!((found.window, found.terms.total(), found.terms.budgets), (9, 11, 6));
    assert_eq!(response(&thread(1, 5, 11), &set).map(|found| found.window), Ok(11));
    for (capacity, period) in [(0, 5), (6, 5), (0, 0)] {
        let set = Set { budgets: &[contender(0, 2, 5), contender(9, capacity, period)], ..set };
        assert_eq!(response(&thread(1, 5, 10), &set), Err(Refusal::Budget(1)));
    }
}

#[test]
fn nothing_wraps() {
    let huge = [contender(0, u64::MAX, u64::MAX), contender(0, 1, u64::MAX)];
    let job =
        Job { wcet: u64::MAX, misses: u64::MAX, calls: u64::MAX, bounds: u64::MAX, activations: u64::MAX, reload: 0 };
    let sharers =
        [Sharer { level: 0, period: 1, deadline: u64::MAX, price: u64::MAX, activations: 1, together: false }];
    let set = Set { budgets: &huge, sharers: &sharers, ..alone(COSTS) };
    for deadline in [10, u64::MAX] {
        let found = response(&Thread { level: 0, deadline, job }, &set);
        assert!(matches!(found, Ok(Response { window: u64::MAX, .. }) | Err(Refusal::Late(_))), "{found:?}");
    }
}

#[test]
fn jobs_within_a_period_of_the_budget() {
    assert_eq!([(10, 10), (10, 5), (10, 20), (10, 3), (10, 15)].map(|(b, p)| jobs_in(b, p)), [1, 2, 1, 5, 2]);
    // By trying every phase: releases at all points where they can be, each job anywhere between release and next release.
    for budget in 1..=12u64 {
        for period in 1..=12u64 {
            let harmonic = budget % period == 0 || period % budget == 0;
            let phases = if harmonic { 0..1 } else { 0..period };
            let reach =
                |phase: u64| (0..200).filter(|k| overlap(phase + k * period, period, 60 * budget, budget)).count();
            let most = phases.map(reach).max().unwrap() as u64;
            assert!(most <= jobs_in(budget, period), "{budget} {period}: {most}");
        }
    }
}

/// Returns true if a job released at `release` can run within the budget's period from `start`.
fn overlap(release: u64, period: u64, start: u64, length: u64) -> bool {
    release < start + length && release + period > start
}

fn steps(period: i64) -> impl Iterator<Item = i64> {
    (1..=period).filter(move |step| period % step == 0)
}

/// E + X + Y, G + M, and how many activations of others a call arranges.
const OVERHEADS: [(i64, i64, i64); 10] =
    [(0, 0, 0), (0, 1, 0), (0, 3, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (2, 1, 0), (1, 0, 1), (1, 1, 1), (1, 1, 2)];

/// Periods up to 8, every capacity and lattice, activations and overruns of every size: no window of any length holds more.
#[test]
fn no_budget_uses_more_than_its_interference() {
    let mut met = 0;
    for (period, capacity) in (1..=8).flat_map(|period| (1..=period).map(move |capacity| (period, capacity))) {
        for (half, overrun, arranges) in OVERHEADS {
            for threads in 1..=if period <= 4 { 2 } else { 1 } {
                let rules = Rules { period, capacity, half, overrun, arranges };
                let machine = Machine::new(&rules, threads);
                met += steps(period).map(|step| check_interference(rules, &machine, threads, step)).sum::<usize>();
            }
        }
    }
    assert!(met >= 500, "the bound was met in only {met} windows");
}

/// Returns in how many windows the bound is met.
fn check_interference(rules: Rules, machine: &Machine, threads: usize, step: i64) -> usize {
    let costs = Costs {
        switching: Switching { entry: rules.half as u32, ..Switching::default() },
        late: rules.overrun as u64 / 2,
        masked: rules.overrun as u64 - rules.overrun as u64 / 2,
        ..Costs::default()
    };
    let plain = contender(0, rules.capacity as u64, rules.period as u64);
    let budget = Contender { threads: threads as u32, step: step as u64, arranges: rules.arranges as u64, ..plain };
    let most = machine.most(3 * rules.period as usize + 6, step);
    let windows = most.iter().enumerate().map(|(window, &used)| (window as u64, used as u64));
    windows
        .filter(|&(window, used)| {
            let bound = window.min(budget.within(window, &costs).ticks());
            assert!(used <= bound, "{rules:?}, {threads} threads, step {step}, window {window}: {used}");
            used == bound && used < window
        })
        .count()
}

fn plain(period: i64, capacity: i64) -> Machine {
    Machine::new(&Rules { period, capacity, half: 0, overrun: 0, arranges: 0 }, 1)
}

/// Below one budget without overheads the bound is safe whatever the period up to 8, the lattice and the demand; and it is met if nothing or
/// everything is known of the phase.
#[test]
fn responses_below_one_budget_are_exact() {
    for (period, capacity) in (2..=8).flat_map(|period| (1..period).map(move |capacity| (period, capacity))) {
        for step in steps(period) {
            let budget = Contender { step: step as u64, ..contender(0, capacity as u64, period as u64) };
            let set = Set { budgets: &[budget], ..alone(free(0)) };
            for wcet in 1..=4 {
                let bound = response(&thread(2, wcet, 1_000), &set).unwrap().window as usize;
                let seen = worst([(&plain(period, capacity), step), (&Machine::idle(), 1)], wcet as usize, bound);
                assert!(seen.is_some(), "{capacity} of {period}, step {step}, {wcet}: above {bound}");
                if step == 1 || step == period {
                    assert_eq!(seen, Some(bound), "{capacity} of {period}, step {step}, {wcet}");
                }
            }
        }
    }
}

/// Below two budgets, every phase and every pattern: never above, and often met.
#[test]
fn no_response_below_two_budgets_is_above_the_bound() {
    let (mut sets, mut met) = (0, 0);
    for (a, b) in (1..=8).flat_map(|a| (1..=8).map(move |b| (a, b))) {
        for (c, d) in (1..=a).flat_map(|c| (1..=b).map(move |d| (c, d))) {
            // All of them would take minutes.
            if 5 * (c * b + d * a) > 4 * a * b || (a + 2 * b + 3 * c + 5 * d) % 4 != 0 {
                continue;
            }
            let (sure, at_bound) = below_two([(a, c, 1), (b, d, 1)]);
            let (sure_too, _) = below_two([(a, c, a), (b, d, if b % 2 == 0 { 2 } else { b })]);
            assert!(sure && sure_too, "{c} of {a}, {d} of {b}");
            sets += 1;
            met += usize::from(at_bound);
        }
    }
    assert!(sets >= 50 && 2 * met >= sets, "met in {met} of {sets}");
}

/// Returns whether the bound holds, and whether it is met, below budgets of these periods,
/// capacities and steps.
fn below_two(budgets: [(i64, i64, i64); 2]) -> (bool, bool) {
    let contenders = budgets.map(|(period, capacity, step)| Contender {
        step: step as u64,
        ..contender(0, capacity as u64, period as u64)
    });
    let set = Set { budgets: &contenders, ..alone(free(0)) };
    let bound = response(&thread(2, 1, 1_000), &set).unwrap().window as usize;
    let [high, low] = budgets.map(|(period, capacity, _)| plain(period, capacity));
    let seen = worst([(&high, budgets[0].2), (&low, budgets[1].2)], 1, bound);
    (seen.is_some(), seen == Some(bound))
}

/// With activations and overruns, below one budget: never above.
#[test]
fn no_response_with_overheads_is_above_the_bound() {
    for period in 3..=8 {
        for (half, overrun) in [(1, 0), (1, 1), (2, 1)] {
            let rules = Rules { period, capacity: period / 2, half, overrun, arranges: 0 };
            let costs = Costs {
                switching: Switching { entry: half as u32, ..Switching::default() },
                masked: overrun as u64,
                ..Costs::default()
            };
            let machine = Machine::new(&rules, 1);
            for step in steps(period) {
                let budget = Contender { step: step as u64, ..contender(0, period as u64 / 2, period as u64) };
                let set = Set { budgets: &[budget], ..alone(costs) };
                let found = response(&thread(1, 3, 1_000), &set).unwrap();
                // The machine's demand is all that is not the budget's.
                let demand = found.terms.total() - found.terms.budgets;
                let budgets = [(&machine, step), (&Machine::idle(), 1)];
                let seen = worst(budgets, demand as usize, found.window as usize);
                assert!(seen.is_some(), "{rules:?}, step {step}: above {}", found.window);
            }
        }
    }
}

fn window(thread: &Thread, set: &Set<'_>) -> u64 {
    match response(thread, set) {
        Ok(found) => found.window,
        Err(Refusal::Late(_)) => u64::MAX,
        Err(refusal) => panic!("{refusal:?}"),
    }
}

/// More capacity, a shorter period, one more thread, a longer gate, another line, or a longer job never lowers a bound.
#[test]
fn bounds_are_monotone() {
    let mut rng = Rng::new(12);
    for _ in 0..3_000 {
        let costs = Costs {
            switching: Switching { entry: rng.below(3) as u32, exit: rng.below(3) as u32, early: rng.below(2) as u32 },
            masked: rng.below(5),
            late: rng.below(5),
            miss: rng.below(3),
            look: 100,
        };
        let mut budgets: Vec<Contender> = (0..1 + rng.below(3))
            .map(|_| {
                let period = 20 + rng.below(200);
                let capacity = 1 + rng.below(period / 3);
                let step = [1, 1 + rng.below(20)][rng.below(2) as usize];
                Contender {
                    arranges: rng.below(3),
                    threads: 1 + rng.below(3) as u32,
                    step,
                    ..contender(0, capacity, period)
                }
            })
            .collect();
        let mut gates = [Gate { ceiling: 0, bound: rng.below(50), lowest_caller: 9 }];
        let lines = [Line { wakes: Some(0) }, Line { wakes: None }];
        let mut subject = thread(4, 1 + rng.below(60), 100_000);
        let before = window(&subject, &Set { budgets: &budgets, gates: &gates, lines: &lines[..1], ..alone(costs) });
        let changed = rng.below(budgets.len() as u64) as usize;
        let budget = &mut budgets[changed];
        let mut all = 1;
        match rng.below(7) {
            0 => budget.capacity = (budget.capacity + 1 + rng.below(20)).min(budget.period),
            1 => budget.period = budget.capacity.max(budget.period - rng.below(20)),
            2 => budget.threads += 1,
            5 => budget.arranges += 1,
            3 => gates[0].bound += rng.below(30),
            4 => all = 2,
            _ => subject.job.wcet += rng.below(30),
        }
        let set = Set { budgets: &budgets, gates: &gates, lines: &lines[..all], ..alone(costs) };
        assert!(window(&subject, &set) >= before, "{set:?}");
    }
}
