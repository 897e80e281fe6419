//! Behaviour of hostile threads.

use crate::plan::{Act, Domain, GATE_EXTRA_US, Plan, Thread};
use crate::random::Random;

/// Most acts in the loop of a hostile thread.
const MOST: u64 = 3;
/// Most prices in a burst; with what goes before them, as many acts as a row can hold.
pub const BURST: u64 = 7;

/// Draws what a thread does. `periods`: of the victims, whose releases it may want to meet.
pub fn draw(random: &mut Random, plan: &Plan, domain: &Domain, thread: &mut Thread, periods: &[u64]) {
    if random.percent(50) {
        thread.first.push(Act::plain("grid"));
    }
    if domain.timer && domain.threads.iter().all(|other| !other.first.iter().any(is_timer)) {
        let us = *random.one(&[3, 7, 20, 50, 130]);
        thread.first.push(Act::plain(format!("timer {us}us")));
        thread.then.push(Act::plain(if random.percent(80) { "tick" } else { "ack" }));
        if random.percent(50) {
            return;
        }
    }
    let capacity = plan.capacity_us(thread.budget);
    if random.percent(50) {
        known(random, plan, domain, thread, periods);
        return;
    }
    for _ in 0..random.within(1, MOST) {
        let act = act(random, plan, domain, capacity, periods);
        thread.then.push(act);
    }
}

/// One of the strategies that have stolen time from an earlier kernel (`tests/time`), drawn with other figures.
fn known(random: &mut Random, plan: &Plan, domain: &Domain, thread: &mut Thread, periods: &[u64]) {
    let capacity = plan.capacity_us(thread.budget);
    let period = *random.one(periods) * random.within(1, 3);
    let before = random.within(2, 60);
    let (first, then): (&[&str], Vec<Act>) = match random.within(0, 7) {
        // As many switches as the budget lasts for.
        0 | 1 => (&[], vec![Act::plain(format!("sleep {}", random.within(26, 120)))]),
        // Three capacities from just before a boundary on.
        2 => {
            let long = capacity * 3;
            (&["grid"], vec![Act::plain(format!("until {period}us -{before}us")), Act::plain(format!("work {long}us"))])
        }
        // A sleep that ends just before a release.
        3 => (&["grid"], vec![Act::plain(format!("until {period}us -{before}us {}", random.within(0, 9)))]),
        // All of the budget, then nothing until the next period.
        4 => (&[], vec![Act::plain(format!("work {capacity}us")), Act::plain(format!("sleep {period}us"))]),
        5 => (&[], vec![Act::plain("signal 1"), Act::plain("sleep 30")]),
        // Many prices within the time for which a timer can be late.
        6 => {
            let price = if thread.first.iter().any(is_timer) { "ack" } else { *random.one(&["yield", "signal 1"]) };
            (&["grid"], burst([period, before, random.within(0, 9)], price, random.within(3, BURST)))
        }
        _ if !domain.calls.is_empty() => {
            (&["grid"], vec![Act::plain(format!("until {period}us -{before}us")), gate(random, plan, domain)])
        }
        _ => (&[], vec![Act::plain("float"), Act::plain("dirty 4096"), Act::plain("sleep 60")]),
    };
    thread.first.extend(first.iter().map(|act| Act::plain(*act)));
    thread.then.extend(then);
}

/// A price, paid so many times just before each release. The times are those of `until`: a period, how long before its end, and how much
/// closer to that each time.
pub fn burst([period, before, step]: [u64; 3], price: &str, times: u64) -> Vec<Act> {
    let until = Act::plain(format!("until {period}us -{before}us {step}"));
    [until].into_iter().chain((0..times).map(|_| Act::plain(price))).collect()
}

/// Has a thread spend all that its budget grants: around a boundary, so that two capacities come one after the other, or from each
/// boundary on.
pub fn spend(random: &mut Random, plan: &Plan, thread: &mut Thread) {
    let (capacity, period) = (plan.capacity_us(thread.budget), plan.budgets[thread.budget].period_us);
    if random.percent(30) {
        thread.then.push(Act::plain("spin"));
        return;
    }
    thread.first.push(Act::plain("grid"));
    // Its sleep is paid from the capacity. Sometimes it begins later for that.
    let before = capacity.saturating_sub(random.within(0, 50)).max(1);
    thread.then.push(Act::plain(format!("until {period}us -{before}us")));
    thread.then.push(Act::plain(format!("work {}us", capacity * 2)));
}

fn is_timer(act: &Act) -> bool {
    matches!(act, Act::Plain(text) if text.starts_with("timer"))
}

fn act(random: &mut Random, plan: &Plan, domain: &Domain, capacity: u64, periods: &[u64]) -> Act {
    if !domain.calls.is_empty() && random.percent(30) {
        return gate(random, plan, domain);
    }
    match random.within(0, 15) {
        0..=2 => Act::plain(format!("sleep {}", random.one(&[26, 50, 100, 300, 700, 2500]))),
        3..=5 => {
            let period = *random.one(periods);
            let offset = random.within(0, 60) as i64 - 50;
            let step = if random.percent(30) { random.within(1, 30) } else { 0 };
            Act::plain(format!("until {period}us {offset}us {step}"))
        }
        6 => Act::plain("spin"),
        7 | 8 => Act::plain(format!("work {}us", random.within(1, capacity * 3))),
        9 => Act::plain("yield"),
        10 => Act::plain("signal 1"),
        11 => Act::plain(format!("dirty {}", random.one(&[1024, 8192, 32768]))),
        12 => Act::plain("float"),
        13 => Act::plain("sleep 0"),
        14 => Act::plain(if random.percent(50) { "fault" } else { "exit" }),
        _ => Act::plain(format!("until {}us {}us", random.one(periods), random.within(0, 900))),
    }
}

/// A call: as long as may be, or longer where the gate is the own one or another culprit's.
fn gate(random: &mut Random, plan: &Plan, domain: &Domain) -> Act {
    let callee = random.one(&domain.calls).clone();
    let of = plan.domain(&callee);
    let bound = of.and_then(|of| of.gate.as_ref()).map_or(0, |gate| gate.bound_us);
    let may_fail = of.is_some_and(|of| of.hostile);
    let word = if may_fail { *random.one(&["call", "stay", "trap"]) } else { "call" };
    let most = bound.saturating_sub(GATE_EXTRA_US);
    let us = if random.percent(60) { most } else { random.within(0, most) };
    Act::Gate { word: word.into(), callee, us }
}
