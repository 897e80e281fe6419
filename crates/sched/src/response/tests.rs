//! Response times: cases worked out by hand, and random sets simulated tick by tick.

use super::*;
use crate::budget::{Budget, Params};
use crate::testing::Rng;
use std::vec;
use std::vec::Vec;

fn thread(level: u8, capacity: u64, period: u64) -> Thread {
    Thread { level, capacity, period, deadline: Some(period), misses: 0 }
}

const FREE: Costs = Costs { switch: 0, miss: 0, masked: 0, excess: 0 };

#[test]
fn two_threads_by_hand() {
    // R = 3 + ceil((R + 3) / 5) * 2: 3 -> 7 -> 7.
    let set = [thread(0, 2, 5), thread(1, 3, 12)];
    let r = response(&set, &[], &FREE, 1).unwrap();
    assert_eq!((r.response, r.own, r.interference, r.gate), (7, 3, 4, None));
    assert_eq!(interference(&set[0], 7, &FREE), Interference { hits: 2, ticks: 4 });
    assert_eq!(response(&set, &[], &FREE, 0).unwrap().response, 2);
    assert_eq!(utilisation_ppm(&set), 650_000);
}

#[test]
fn overheads_and_blocking_by_hand() {
    let costs = Costs { switch: 10, miss: 7, masked: 5, excess: 1 };
    let mut set = [thread(0, 100, 1_000), thread(1, 200, 2_000), thread(2, 300, 9_000)];
    set[1].misses = 3;
    let gates = [
        Gate { ceiling: 0, bound: 40, lowest_caller: 2 },
        Gate { ceiling: 2, bound: 900, lowest_caller: 2 },
        Gate { ceiling: 1, bound: 60, lowest_caller: 2 },
        Gate { ceiling: 0, bound: 800, lowest_caller: 1 },
    ];
    // Level 0: 100 + 20 own, 5 masked, 800 by level 1 inside the last gate.
    let r = response(&set, &gates, &costs, 0).unwrap();
    assert_eq!((r.response, r.own, r.blocking_masked, r.blocking_gate, r.gate), (925, 120, 5, 800, Some(3)));
    // Level 1: 200 + 20 + 21 own, 5 masked, 60 by level 2; level 0 adds ceil((R + 900) / 1000) * 121: 306 -> 548 -> 548.
    let r = response(&set, &gates, &costs, 1).unwrap();
    assert_eq!((r.response, r.own, r.blocking_gate, r.gate), (306 + 242, 241, 60, Some(2)));
    assert_eq!(r.response, r.own + r.blocking_masked + r.blocking_gate + r.interference);
}

#[test]
fn equal_levels_delay_each_other() {
    let set = [thread(3, 2, 10), thread(3, 2, 10)];
    // 2 + ceil((R + 8) / 10) * 2: 4 -> 6 -> 6.
    assert_eq!(response(&set, &[], &FREE, 0).unwrap().response, 6);
    assert!(interferes(&set, 0, 1) && interferes(&set, 1, 0) && !interferes(&set, 1, 1));
}

#[test]
fn refusals_carry_the_computed_time() {
    // R = 5 + ceil((R + 3) / 5) * 2 = 5 -> 9 -> 11 -> 11, and a deadline of 10.
    let mut set = [thread(0, 2, 5), thread(1, 5, 12)];
    set[1].deadline = Some(10);
    let refusal = response(&set, &[], &FREE, 1).unwrap_err();
    let computed = Response { response: 11, own: 5, blocking_masked: 0, blocking_gate: 0, gate: None, interference: 6 };
    assert_eq!(refusal, Refusal::Late { thread: 1, deadline: 10, computed });
    set[1].deadline = Some(11);
    assert_eq!(response(&set, &[], &FREE, 1).map(|r| r.response), Ok(11));
    set[1].deadline = Some(13);
    assert_eq!(response(&set, &[], &FREE, 1), Err(Refusal::Deadline { thread: 1, limit: 12 }));
    set[1].deadline = Some(0);
    assert_eq!(response(&set, &[], &FREE, 1), Err(Refusal::Deadline { thread: 1, limit: 12 }));
    for (capacity, period) in [(0, 5), (6, 5), (1, 0)] {
        set[0] = thread(0, capacity, period);
        assert_eq!(response(&set, &[], &FREE, 1), Err(Refusal::Budget { thread: 0 }));
    }
}

#[test]
fn an_overloaded_set_ends_in_a_refusal_and_the_rest_is_reported() {
    let set = [thread(0, 60, 100), thread(1, 60, 101), Thread { deadline: None, ..thread(2, 1, 7) }];
    let mut seen = Vec::new();
    assert!(!analyse(&set, &[], &FREE, |i, result| seen.push((i, result.is_ok()))));
    assert_eq!(seen, [(0, true), (1, false)]);
    let huge = [thread(0, u64::MAX, u64::MAX), thread(1, u64::MAX, u64::MAX)];
    assert!(matches!(response(&huge, &[], &FREE, 1), Ok(_) | Err(Refusal::Late { .. })));
}

/// One simulated thread: its budget, when it is willing to run, and what it still owes of the job under observation.
struct Simulated {
    budget: Budget,
    offset: u64,
    /// Willing from this many ticks after each replenishment on; random each period.
    willing_from: u64,
    owed: u64,
    released: u64,
}

/// Runs the set, the last thread being observed, and returns its worst response. A gate section of `gate` ticks, entered by
/// someone less urgent, holds all off now and then.
fn worst_response(set: &[Thread], gate: u64, rng: &mut Rng, ticks: u64) -> u64 {
    let observed = set.len() - 1;
    let mut threads: Vec<Simulated> = set
        .iter()
        .map(|t| {
            let offset = rng.below(t.period);
            let budget = Budget::new(Params::new(t.period, t.capacity).unwrap(), offset);
            Simulated { budget, offset, willing_from: 0, owed: 0, released: 0 }
        })
        .collect();
    let (mut worst, mut gate_left) = (0, 0);
    for now in 0..ticks {
        for (i, (sim, t)) in threads.iter_mut().zip(set).enumerate() {
            sim.budget.replenish(now);
            if now >= sim.offset && (now - sim.offset) % t.period == 0 {
                // As late as it can and still spend all of it, at once, or anywhere.
                sim.willing_from = [t.period - t.capacity, 0, rng.below(t.period)][rng.below(3) as usize];
                if i == observed {
                    assert_eq!(sim.owed, 0, "released again before it completed");
                    (sim.owed, sim.released) = (t.capacity, now);
                }
            }
        }
        if gate_left > 0 {
            gate_left -= 1;
            continue;
        }
        let ready = (0..set.len()).find(|&i| {
            let sim = &threads[i];
            let since = now.wrapping_sub(sim.offset) % set[i].period;
            let wants = if i == observed { sim.owed > 0 } else { since >= sim.willing_from };
            now >= sim.offset && wants && sim.budget.left() > 0
        });
        match ready {
            Some(i) => {
                threads[i].budget.pay(1);
                if i == observed {
                    threads[i].owed -= 1;
                    if threads[i].owed == 0 {
                        worst = worst.max(now + 1 - threads[i].released);
                    }
                }
            }
            // Nobody is ready: someone less urgent enters the gate, with the first of its ticks now.
            None if gate > 0 && !rng.chance(3) => gate_left = gate - 1,
            None => {}
        }
    }
    worst
}

#[test]
fn no_simulated_response_exceeds_the_bound() {
    let mut rng = Rng::new(7);
    let (mut sets, mut tight) = (0, 0);
    while sets < 150 {
        let count = 2 + rng.below(3) as usize;
        let set: Vec<Thread> = (0..count)
            .map(|level| {
                let period = 5 + rng.below(20) * (1 + level as u64);
                thread(level as u8, 1 + rng.below(period / 3), period)
            })
            .collect();
        let bound_of_gate = rng.below(4);
        let gates = vec![Gate { ceiling: 0, bound: bound_of_gate, lowest_caller: 31 }];
        let Ok(admitted) = response(&set, &gates, &FREE, count - 1) else { continue };
        let worst = (0..4).map(|_| worst_response(&set, bound_of_gate, &mut rng, 4_000)).max().unwrap();
        assert!(worst <= admitted.response, "{set:?} gate {bound_of_gate}: {worst} > {}", admitted.response);
        assert!(worst >= set[count - 1].capacity);
        sets += 1;
        tight += u32::from(worst == admitted.response);
    }
    assert!(tight >= 10, "the bound was met in only {tight} of {sets} sets");
}
