//! A domain that owns a device and its interrupt: a timer that fires every 10 ms. docs/device.md walks through it.
//!
//! Names: device `timer1`, interrupt `fired`, notification `events` (bit 0: the timer has fired).
#![no_std]
#![no_main]

use cofferdam::{Interrupt, Notification, Start, now, println};
use devices::Timer;

const PERIOD_MICROSECONDS: u32 = 10_000;
const FIRED: u32 = 1;
const TIMES: u32 = 10;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(area), Some(fired), Some(events)) =
        (info.area("timer1"), Interrupt::named(info, "fired"), Notification::named(info, "events"))
    else {
        println!("the manifest does not give me the timer, its interrupt and its notification");
        return 1;
    };
    // SAFETY: the area is the information block's, and this is the domain's only driver of it.
    let Some(timer) = (unsafe { Timer::open(area) }) else {
        println!("there is no driver for this kind of timer");
        return 2;
    };
    let _ = fired.ack(); // a line is masked until its owner asks for the first time
    timer.start(PERIOD_MICROSECONDS);
    let mut last = now();
    for count in 1..=TIMES {
        if events.wait(FIRED).is_err() {
            return 1;
        }
        timer.clear(); // the device first: otherwise the line is still up
        let _ = fired.ack(); // then the kernel delivers the line again
        let time = now();
        println!(
            "fired {count}: {} us since the last time",
            (time - last) * 1_000_000 / u64::from(info.ticks_per_second())
        );
        last = time;
    }
    timer.stop();
    0
}
