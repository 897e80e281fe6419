//! Promises may be claimed by everybody but threads that broke their own declarations.

use abi::Call;
use abi::trace::Event;
use record::RunEvent;

use super::time::{SV_CALL, SYS_TICK, build, codes, handled, ran};
use super::{at, idle, summary, switch, system};
use crate::describe::SystemDescription;

/// Thread 0 runs until its budget is empty, and goes on when its next release is long due. It asks for that when it is done.
fn late_by_its_own_job() -> Vec<RunEvent> {
    vec![
        switch(0, 1, 1),
        handled(10, 0, None, 10),
        ran(100, 1, 90),
        at(105, Event::Release, 0, 0, 10),
        switch(106, 0, 0),
        handled(110, SYS_TICK, None, 10),
        ran(300, 0, 190),
        switch(305, 1, 1),
        handled(310, SYS_TICK, None, 10),
        ran(2090, 1, 1780),
        switch(2095, 0, 0),
        handled(2100, SYS_TICK, None, 10),
        ran(2200, 0, 100),
        at(2202, Event::Complete, 0, 0, 0),
        at(2202, Event::Overrun, 0, 0, 110),
        at(2202, Event::Release, 0, 0, 110),
        handled(2205, SV_CALL, Some(Call::WaitPeriod), 5),
        ran(2250, 0, 45),
    ]
}

#[test]
fn a_thread_that_asks_late_for_its_release_is_not_released_late() {
    let mut declared = system();
    (declared.threads[0].response_bound_ticks, declared.threads[0].deadline_ticks) = (None, None);
    declared.budgets.iter_mut().for_each(|budget| budget.capacity_ticks = 100);
    let report = build(&declared, &summary(2300), &late_by_its_own_job());
    assert_eq!(codes(&report), Vec::<String>::new());
    assert_eq!((report.threads[0].overruns, report.threads[0].release_late_cycles), (1, 0));
    // One that waits for it, is: the kernel says nothing of an overrun.
    let mut waits = late_by_its_own_job();
    waits.retain(|event| event.event != Event::Overrun as u8);
    assert_eq!(codes(&build(&declared, &summary(2300), &waits)), ["release-late"]);
}

/// A job of thread 0: nominal release in ticks, cycles for which thread 1 has a job of its own first, cycles that it takes itself.
type Job = (u32, u32, u32);

fn jobs(all: &[Job]) -> Vec<RunEvent> {
    let mut events = vec![idle(0)];
    for &(nominal, before, cycles) in all {
        let mut now = u64::from(nominal) * 10 + 1;
        events.push(at(now, Event::Release, 0, 0, nominal));
        if before > 0 {
            events.extend([at(now, Event::Release, 0, 1, nominal), switch(now, 0, 1)]);
            now += u64::from(before);
            events.extend([ran(now, 0, before), at(now, Event::Complete, 0, 1, 0)]);
        }
        events.push(switch(now, 0, 0));
        now += u64::from(cycles);
        events.extend([ran(now, 0, cycles), at(now, Event::Complete, 0, 0, 0), idle(now)]);
    }
    events
}

/// Two threads of one domain and budget. A job of the first takes 300 cycles at most and is done 400 after its release.
fn two() -> SystemDescription {
    let mut two = system();
    (two.threads[1].domain, two.threads[1].budget, two.threads[1].priority) = (0, 0, 0);
    two.threads[1].period_ticks = Some(100);
    (two.threads[0].deadline_ticks, two.threads[0].wcet_ticks) = (None, Some(30));
    two.budgets[0].capacity_ticks = 100;
    two
}

fn told(system: &SystemDescription, all: &[Job]) -> Vec<String> {
    codes(&build(system, &summary(4000), &jobs(all))).into_iter().map(str::to_owned).collect()
}

#[test]
fn who_takes_more_than_its_wcet_has_no_claim_to_its_response_from_then_on() {
    let mut two = two();
    assert_eq!(told(&two, &[(0, 350, 100)]), ["response-bound"], "it has taken no more than it said");
    assert_eq!(told(&two, &[(0, 0, 450)]), ["wcet-exceeded"]);
    // Jobs that are late before that are the platform's failure; later ones need not be.
    assert_eq!(told(&two, &[(0, 350, 100), (100, 0, 450)]), ["response-bound", "wcet-exceeded"]);
    assert_eq!(told(&two, &[(0, 0, 310), (100, 350, 100)]), ["wcet-exceeded"]);
    two.domains[0].hostile = true;
    assert_eq!(told(&two, &[(0, 0, 450)]), Vec::<String>::new());
    assert_eq!(told(&two, &[(0, 350, 100)]), ["response-bound"], "whoever it is");
}

#[test]
fn a_sharer_of_the_budget_that_takes_more_than_its_wcet_ends_the_claims_that_count_on_it() {
    let mut two = two();
    let late = [(0, 350, 100)];
    two.domains[0].hostile = true;
    two.threads[1].wcet_ticks = Some(35);
    assert_eq!(told(&two, &late), ["response-bound"], "it keeps its word");
    two.threads[1].wcet_ticks = Some(34);
    assert_eq!(told(&two, &late), Vec::<String>::new());
    // Less important: the budget is large enough for all because all have declared what they take.
    two.threads[1].priority = 9;
    assert_eq!(told(&two, &late), Vec::<String>::new());
    // With one that has declared nothing, the bound does not count on those that are less important.
    let third = crate::describe::Thread { index: 2, wcet_ticks: None, ..two.threads[1].clone() };
    two.threads.push(third);
    assert_eq!(told(&two, &late), ["response-bound"]);
    // On a budget of its own it is nobody's concern.
    two.threads.truncate(2);
    (two.threads[1].budget, two.threads[1].priority) = (1, 0);
    two.budgets[1].capacity_ticks = 100;
    assert_eq!(told(&two, &late), ["response-bound"]);
}

#[test]
fn a_job_that_has_not_ended_has_taken_what_it_has_taken() {
    let mut two = two();
    two.domains[0].hostile = true;
    two.threads[1].wcet_ticks = Some(34);
    let mut events = jobs(&[(0, 350, 100)]);
    events.retain(|event| event.event != Event::Complete as u8 || event.detail != 1);
    assert_eq!(codes(&build(&two, &summary(4000), &events)), Vec::<String>::new());
}

#[test]
fn who_sleeps_inside_a_job_has_no_claim_to_its_response() {
    let sleeps = |call: Call| {
        let mut events = vec![idle(0), at(1, Event::Release, 0, 0, 0), switch(1, 0, 0), ran(51, 0, 50), idle(55)];
        events.extend([handled(60, SV_CALL, Some(call), 9), switch(490, 0, 0), handled(500, SYS_TICK, None, 12)]);
        events.extend([ran(510, 0, 10), at(515, Event::Complete, 0, 0, 0), idle(516)]);
        codes(&build(&two(), &summary(600), &events)).len()
    };
    assert_eq!(sleeps(Call::SleepUntil), 0);
    // A thread that is switched away from in another way has done nothing.
    assert_eq!(sleeps(Call::TimeNow), 1);
}
