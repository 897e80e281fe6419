//! The analysis on manifests, with round costs, so that every term of a bound can be read off the text.

use crate::resolved::resolve;
use crate::*;
use std::path::Path;

/// At 25 MHz, of which a tick is 40 ns: paths of E 1 us and X 3 us, Y 1 us (A 10 us), masked 20 us, a timer 5 us late, a miss 2 us.
fn board() -> Board {
    let mut board = super::board();
    board.chip.cpu_hz = 100_000_000;
    board.kernel = KernelCosts {
        switch_cycles: 400,
        entry_cycles: 100,
        early_cycles: 100,
        miss_cycles: 200,
        masked_cycles: 2_000,
        masked_frames_cycles: 4_000,
        handlers_cycles: 0,
        look_cycles: 0,
        counted_look_cycles: 0,
        met_cycles: 0,
        counted_met_cycles: 0,
        slip_cycles: 0,
        slip_least_cycles: 0,
        occupy_cycles: 0,
    };
    board.enforcement_ns = 5_000;
    board
}

fn free_board() -> Board {
    let mut board = board();
    board.kernel = KernelCosts {
        switch_cycles: 0,
        entry_cycles: 0,
        early_cycles: 0,
        miss_cycles: 0,
        masked_cycles: 0,
        masked_frames_cycles: 0,
        handlers_cycles: 0,
        look_cycles: 0,
        counted_look_cycles: 0,
        met_cycles: 0,
        counted_met_cycles: 0,
        slip_cycles: 0,
        slip_least_cycles: 0,
        occupy_cycles: 0,
    };
    board.enforcement_ns = 0;
    board
}

fn on(board: &Board, text: &str) -> Result<Vec<Bound>, Vec<Refusal>> {
    let document = Document::parse(Path::new("x"), text).unwrap();
    let system = resolve(&document.manifest, board, true).map_err(|refusal| vec![*refusal])?;
    analyse(&system, board)
}

/// The terms of the only bound, in microseconds, in a word each.
fn terms(text: &str) -> Vec<String> {
    let bounds = on(&board(), text).unwrap();
    let [bound] = bounds.as_slice() else { panic!("{bounds:?}") };
    let us = |ticks: u64| ticks as f64 / 25.0;
    let sum: u64 = bound.terms.iter().map(|term| term.ticks).sum();
    assert_eq!(sum, bound.response, "the terms sum to the bound");
    bound.terms.iter().map(|term| format!("{} {}", term.kind, us(term.ticks))).collect()
}

/// Code, place and figures of the only refusal.
fn refusal(text: &str) -> (&'static str, String, String) {
    let refused = on(&board(), text).unwrap_err();
    let [one] = refused.as_slice() else { panic!("{refused:?}") };
    (one.code, one.place.clone(), format!("{} | {}{} | {}", one.value, one.limit, one.needs, one.remedy))
}

/// 200 us below a budget of 300 us every 1600 us. Releases and boundaries are 200 us apart or a multiple of that, so at worst the first
/// boundary is 400 us after the release: R = 200 + 300 + ceil((R - 400) / 1600) * 300 has its least solution at 800 us.
#[test]
fn a_response_time_is_the_hand_computed_one() {
    let text = r#"
        system = { name = "s", board = "b" }
        budget.control = { period = "1 ms", capacity = "200 us" }
        budget.store = { period = "1600 us", capacity = "300 us" }
        [[domain.a.thread]]
        priority = 1
        budget = "control"
        period = "1 ms"
        deadline = "DEADLINE"
        [[domain.b.thread]]
        priority = 0
        budget = "store"
    "#;
    let analysed = |deadline: &str| on(&free_board(), &text.replace("DEADLINE", deadline));
    let bound = &analysed("800 us").unwrap()[0];
    assert_eq!((bound.thread, bound.response, bound.deadline), (0, 20_000, 20_000));
    let refused = analysed("799 us").unwrap_err();
    assert_eq!((refused[0].code, refused[0].place.as_str()), ("CF0402", "domain.a.thread[0].deadline"));
    assert!(refused[0].needs.starts_with("response time at least 800.0 us"), "{}", refused[0].needs);
    let remedy = "give `store` a capacity of at most 299 us, or give `a.main` a deadline of at least 800 us";
    assert_eq!(refused[0].remedy, remedy);
    let first = &refused[0].also[0];
    assert_eq!(
        (first.place.as_str(), first.label.as_str()),
        ("budget.store.capacity", "budget `store`: 600.0 us, 75 %")
    );
    assert!(first.note.contains("enough alone: a capacity of at most 299 us, or "), "{}", first.note);
    assert!(first.note.ends_with("priority 2 or a larger number (less important) for its threads"), "{}", first.note);
    let below = text.replace("priority = 0", "priority = 2").replace("DEADLINE", "799 us");
    assert!(on(&free_board(), &below).is_ok(), "and so is this");
    let capacity = |capacity: &str| on(&free_board(), &text.replace("300 us", capacity).replace("DEADLINE", "799 us"));
    assert!(capacity("299 us").is_ok() && capacity("300 us").is_err(), "the remedy is what helps");
}

/// The other budget is not spent twice where releases are its boundaries: 200 + 300.
#[test]
fn harmonic_grids_have_no_double_hit() {
    let text = r#"
        system = { name = "s", board = "b" }
        budget.control = { period = "2 ms", capacity = "200 us" }
        budget.store = { period = "1 ms", capacity = "300 us" }
        [[domain.a.thread]]
        priority = 1
        budget = "control"
        period = "4 ms"
        [[domain.b.thread]]
        priority = 0
        budget = "store"
    "#;
    assert_eq!(on(&free_board(), text).unwrap()[0].response, 500 * 25);
    // Released in the middle of the period, it can be hit twice.
    let early = text
        .replace("\"4 ms\"", "\"500 us\"")
        .replace("\"2 ms\", capacity = \"200 us\"", "\"500 us\", capacity = \"50 us\"");
    assert_eq!(on(&free_board(), &early).unwrap()[0].response, 350 * 25);
    let apart = early.replace("capacity = \"300 us\"", "capacity = \"460 us\"");
    assert_eq!(on(&free_board(), &apart).unwrap_err()[0].code, "CF0402");
}

const SYSTEM: &str = r#"
    system = { name = "s", board = "b" }
    notification.bell = {}
    notification.other = {}
    budget.control = { period = "10 ms", capacity = "1 ms" }
    budget.above = { period = "20 ms", capacity = "300 us" }
    budget.below = { period = "20 ms", capacity = "2 ms" }
    [[domain.control.thread]]
    priority = 5
    budget = "control"
    period = "10 ms"
    deadline = "5 ms"
    wcet = "100 us"
    misses = 3
    calls = { "service.get" = 2, "service.put" = 1 }
    activations = 4
    [domain.control.uses]
    get = { gate = "service.get" }
    put = { gate = "service.put" }
    [[domain.above.thread]]
    priority = 5
    budget = "above"
    [[domain.above.thread]]
    priority = 9
    budget = "above"
    [domain.above.interrupt.tick]
    device = "timer1"
    line = "zero"
    notification = "bell"
    [[domain.service.thread]]
    priority = 8
    budget = "below"
    [domain.service.gate.get]
    entry = "get"
    ceiling = 5
    bound = "30 us"
    [domain.service.gate.put]
    entry = "put"
    ceiling = 3
    bound = "50 us"
    [domain.service.interrupt.tock]
    device = "timer1"
    line = "zero"
    notification = "other"
    [domain.service.uses]
    put = { gate = "service.put" }
"#;

/// Slack of a call: 5 + 20 + 10. Below: `put` by the service's own thread, 50 + 35. Above: a capacity, two threads of 10, an overdraft of 25, and 10 for the last acknowledgement.
#[test]
fn every_term_can_be_read_off_the_manifest() {
    let all = [
        "late 5",
        "switch 6",
        "wcet 100",
        "misses 6",
        "calls 110",
        "slack 105",
        "activations 40",
        "masked 20",
        "gate `service.put` 85",
        "lines 14",
        "budget `above` 355",
        "clock 1",
    ];
    assert_eq!(terms(SYSTEM), all);
}

/// 720 ns for each of 141: 3 x (36 of `above`, 4 arranged, 3 calls, 2 lines), 3 calls, a look and 2 timers. `above` can use 355 us, at 10 us each, and one is begun.
#[test]
fn a_job_loses_its_reload_for_each_time_that_others_can_run() {
    let text = SYSTEM.replace("misses = 3\n", "misses = 3\n    reload = \"720 ns\"\n");
    let all = terms(&text);
    assert_eq!(all.iter().find(|term| term.starts_with("reload")).unwrap(), "reload 101.52");
}

#[test]
fn a_wcet_without_reload_has_to_hold_as_often_on_a_chip_with_caches() {
    let times = |has_caches: bool, text: &str| {
        let mut board = board();
        board.chip.has_caches = has_caches;
        on(&board, text).unwrap().iter().map(|bound| bound.unpriced_resumptions).sum::<u64>()
    };
    assert_eq!(times(true, SYSTEM), 141);
    assert_eq!(times(false, SYSTEM), 0);
    assert_eq!(times(true, &SYSTEM.replace("misses = 3\n", "misses = 3\n    reload = \"0 ns\"\n")), 0);
}

/// A thread that may wait for a line's notification, at once or after a grant, is woken by it.
#[test]
fn a_line_wakes_whoever_can_wait_for_it() {
    let lines = |uses: &str| {
        let text = format!("{SYSTEM}\n[domain.above.uses]\n{uses}");
        terms(&text).into_iter().find(|term| term.starts_with("lines")).unwrap()
    };
    assert_eq!(lines(r#"other = { notification = "other", rights = "w" }"#), "lines 14");
    assert_eq!(lines(r#"other = { notification = "other", rights = "r" }"#), "lines 20");
    let granted = |rights: &str| {
        let more = format!(
            "other = {{ notification = \"other\", rights = \"{rights}\" }}\nabove = {{ domain = \"above\", rights = \"w\" }}\n"
        );
        let text = SYSTEM.replace("[domain.service.uses]\n", &format!("[domain.service.uses]\n{more}"));
        terms(&text).into_iter().find(|term| term.starts_with("lines")).unwrap()
    };
    assert_eq!((granted("rw"), granted("rwg")), ("lines 14".into(), "lines 20".into()));
}

#[test]
fn who_calls_gates_can_be_overdrawn_by_their_callee() {
    let text = format!("{SYSTEM}\n[domain.above.uses]\nput = {{ gate = \"service.put\" }}");
    assert!(terms(&text).contains(&"budget `above` 355".into()), "{:?}", terms(&text));
}

/// 100 + 6 + 110 + 105, and five activations: 371 us, where 1 ms grants two of them.
#[test]
fn the_price_of_jobs_is_held_against_the_capacity() {
    let text = SYSTEM.replace("capacity = \"1 ms\"", "capacity = \"370 us\"");
    let (code, place, said) = refusal(&text);
    assert_eq!((code, place.as_str()), ("CF0401", "domain.control.thread[0].wcet"));
    assert_eq!(
        said,
        "371.0 us for each job = wcet 100.0 us + misses 6.0 us + calls 110.0 us + slack of calls 105.0 us + activations \
         50.0 us | 370.0 us for each of up to 1 in a period of the budget | give `control` a capacity of 371 us, or the \
         thread a wcet of at most 99 us"
    );
    assert!(on(&board(), &SYSTEM.replace("capacity = \"1 ms\"", "capacity = \"371 us\"")).is_ok());
    let twice = text.replace("period = \"10 ms\"\n    deadline", "period = \"5 ms\"\n    deadline");
    assert!(refusal(&twice).2.contains("185.0 us for each of up to 2"), "{:?}", refusal(&twice));
}

const SHARED: &str = r#"
    system = { name = "s", board = "b" }
    budget.all = { period = "10 ms", capacity = "1 ms" }
    [[domain.app.thread]]
    name = "main"
    priority = 5
    budget = "all"
    period = "10 ms"
    deadline = "5 ms"
    wcet = "100 us"
    [[domain.app.thread]]
    name = "other"
    entry = "f"
    priority = PRIORITY
    budget = "all"
    PERIODIC
"#;

fn shared(priority: &str, periodic: &str) -> String {
    SHARED.replace("PRIORITY", priority).replace("PERIODIC", periodic)
}

/// Four jobs of 110 us, of which none is left from before: two within R.
#[test]
fn a_declared_sharer_counts_by_job() {
    let text = shared("5", "period = \"2500 us\"\nwcet = \"100 us\"");
    let bounds = on(&board(), &text).unwrap();
    let of = |bound: &Bound| bound.terms.iter().find(|t| t.kind.word() == "sharer").map(|t| t.ticks / 25);
    // The other's view: one job of the first may be left from before, up to its deadline of 5 ms.
    assert_eq!(bounds.iter().map(of).collect::<Vec<_>>(), [Some(110), Some(110)]);
    let late = text.replace("deadline = \"5 ms\"", "deadline = \"9900 us\"");
    let bounds = on(&board(), &late).unwrap();
    assert_eq!(bounds.iter().map(of).collect::<Vec<_>>(), [Some(110), Some(220)]);
    assert_eq!(on(&board(), &shared("6", "period = \"2500 us\"\nwcet = \"100 us\"")).unwrap()[0].terms.len(), 5);
}

#[test]
fn a_sharer_without_limit_must_be_less_important() {
    assert!(on(&board(), &shared("6", "")).is_ok());
    let (code, place, said) = refusal(&shared("5", ""));
    assert_eq!((code, place.as_str()), ("CF0410", "domain.app.thread[0].budget"));
    assert!(said.starts_with("`app.other`: it runs when it likes"), "{said}");
    let between = shared("6", "").replace("period = \"10 ms\"\n    deadline", "period = \"15 ms\"\n    deadline");
    assert_eq!(refusal(&between).0, "CF0410");
    let unlimited = shared("6", "").replace("wcet = \"100 us\"", "");
    assert_eq!(refusal(&unlimited).0, "CF0410");
    // 110 of its own, an overrun of 25, an activation of 10, and half of one for the boundary.
    assert!(on(&board(), &shared("6", "").replace("capacity = \"1 ms\"", "capacity = \"150 us\"")).is_ok());
    let (code, _, said) = refusal(&shared("6", "").replace("capacity = \"1 ms\"", "capacity = \"149 us\""));
    assert_eq!(code, "CF0410");
    assert!(said.ends_with("give `all` a capacity of 150 us, or `app.main` a budget of its own"), "{said}");
}
