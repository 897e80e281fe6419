//! A domain whose lives follow from a seed (`fuzzing`). One thread, the driver, writes a marker for each case and has the other one,
//! the puppet, which is less important, execute it; it forges the frames of the puppet while that
//! waits or was interrupted. A case that does not come back ends the life, and so does the last
//! case.
//!
//! Names: notification `go`; areas `data` or `stack`, `heap`; file `plan`. The driver's argument is the role: 0, or 1 for the second such domain.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use attacks::marks::{CASE, ENCODING, LEAK, mark};
use cofferdam::abi::Call;
use cofferdam::hostile::{EXPOSED, FOUND, Registers, execute, undefined, wait_exposed};
use cofferdam::{Notification, Start, now, sys};
use fuzzing::{Case, Kind, Life, Plan, STEPS, Values};

cofferdam::entry!(driver);
cofferdam::thread!(fuzzer_puppet, puppet);

/// The case that the puppet is to execute. Only one of the two threads uses it at a time.
struct Order(UnsafeCell<(u32, Registers)>);

// SAFETY: the driver writes it while the puppet waits.
unsafe impl Sync for Order {}

static ORDER: Order = Order(UnsafeCell::new((0, Registers { low: [0; 12], sp: 0, lr: 0, flags: 0 })));
/// Cases that have come back.
static DONE: AtomicU32 = AtomicU32::new(0);

/// Long enough for the puppet, unless its case keeps it: 40 us.
const TURN_TICKS: u64 = 1000;
/// Turns after which a case has not come back.
const TURNS: u32 = 3;

fn driver(start: Start) -> u32 {
    let role = start.argument;
    let (Some(plan), Some(go)) = (Plan::read(start.info), Notification::named(start.info, "go")) else { return 2 };
    let Some(values) = Values::find(start.info, plan.seed, role) else { return 3 };
    let life = plan.first + start.restarts;
    let mut cases = Life::new(plan, role, life, &values);
    // The puppet begins to wait.
    while EXPOSED.words()[0] == 0 {
        turn();
    }
    for step in 1..=STEPS {
        let case = cases.case();
        mark(CASE, (case.kind as u32) << 28 | step << 20 | life & 0xf_ffff);
        if case.encoding != 0 {
            mark(ENCODING, case.encoding);
        }
        // SAFETY: the puppet waits, or has gone where nothing helps.
        unsafe { *ORDER.0.get() = (case.at, case.registers) };
        if !perform(&case, step, &mut cases, go) {
            break;
        }
        for word in FOUND.words().into_iter().filter(|word| values.is_foreign(*word)) {
            // Twice, because cases make calls, too: nobody writes such a pair by chance.
            mark(LEAK, word);
            mark(LEAK, !word);
        }
    }
    undefined()
}

/// Has the puppet execute a case; whether it came back.
fn perform(case: &Case, step: u32, cases: &mut Life, go: Notification) -> bool {
    if case.kind == Kind::Waiting {
        cases.forge(EXPOSED.words()[0]);
    }
    let _ = go.signal(1);
    if case.kind == Kind::Interrupted {
        turn();
        cases.forge(case.registers.sp);
    }
    // When the budget of both ends in a turn, the driver is the first to run in the next period.
    (0..TURNS).any(|_| {
        turn();
        DONE.load(Ordering::Relaxed) == step
    })
}

/// Lets the puppet run.
fn turn() {
    let _ = sys::sleep_until(now() + TURN_TICKS);
}

fn puppet(start: Start) -> u32 {
    let Some(go) = Notification::named(start.info, "go") else { return 1 };
    loop {
        // SAFETY: the frame is this domain's; where it leads is the driver's choice.
        if unsafe { wait_exposed(Call::Wait as u32, go.slot(), u32::MAX) } != 0 {
            return 4;
        }
        // SAFETY: the driver has written it and sleeps.
        let (at, registers) = unsafe { *ORDER.0.get() };
        // SAFETY: there is none; this is the attack.
        unsafe { execute(&registers, at) };
        DONE.fetch_add(1, Ordering::Relaxed);
    }
}
