//! Is called, woken and interrupted by the operations that `cofferdam bench` measures; see `../caller`.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; a function that holds one is neither inlined nor a loop, so it stays single

use bench_probe::probe;
use cofferdam::{Error, Interrupt, Notification, Start, sys};
use devices::Timer;

/// Rounds of each operation, as in `../caller`.
const ROUNDS: u32 = 1100;

cofferdam::entry!(woken);
cofferdam::thread!(bench_across, across);
cofferdam::thread!(bench_timer, timer);
cofferdam::gate!(bench_add, add);

/// The gate: as little work as the peers' server does.
fn add(_badge: u32, value: u32, _: u32, _: u32) -> Result<u32, Error> {
    Ok(value.wrapping_add(1))
}

/// Waits for the caller's signals at a more important priority.
fn woken(start: Start) -> u32 {
    let Some(wake) = Notification::named(start.info, "wake") else { return 1 };
    (0..ROUNDS).try_for_each(|_| wake_up(wake)).map_or(2, |()| 0)
}

#[inline(never)]
fn wake_up(wake: Notification) -> Result<(), Error> {
    wake.wait(1)?;
    probe!("probe_notify_end"); // where only success leads, so that the compiler does not double it
    Ok(())
}

/// Yields back across domains.
fn across(start: Start) -> u32 {
    let Some(go) = Notification::named(start.info, "across") else { return 1 };
    if go.wait(1).is_err() {
        return 2;
    }
    (0..=ROUNDS).for_each(|_| yield_back());
    0
}

#[inline(never)]
fn yield_back() {
    let _ = sys::yield_now();
    probe!("probe_across_end");
}

/// Owns the board's second timer: each interrupt makes this thread ready while the other domain computes.
fn timer(start: Start) -> u32 {
    let named = |name| Notification::named(start.info, name);
    let (Some(go), Some(line)) = (named("timer"), named("line")) else { return 1 };
    let (Some(interrupt), Some(device)) = (Interrupt::named(start.info, "zero"), start.info.area("timer1")) else {
        return 2;
    };
    if go.wait(1).is_err() {
        return 3;
    }
    // SAFETY: the area is the information block's, and nothing else here drives the timer.
    let Some(device) = (unsafe { Timer::open(device) }) else { return 5 };
    interrupts(line, interrupt, (&device, start.argument)).map_or(4, |()| 0)
}

/// The period is in microseconds: long enough for the other domain to compute in between.
fn interrupts(line: Notification, interrupt: Interrupt, (device, period): (&Timer, u32)) -> Result<(), Error> {
    device.start(period);
    interrupt.ack()?; // a line is held back until its owner asks for it
    for _ in 0..ROUNDS {
        wait_for(line)?;
        device.clear();
        interrupt.ack()?;
    }
    device.stop();
    Ok(())
}

#[inline(never)]
fn wait_for(line: Notification) -> Result<u32, Error> {
    let bits = line.wait(1)?;
    probe!("probe_irq_end");
    Ok(bits)
}
