//! A domain that owns a device and its interrupt: a timer that fires every 10 ms. docs/device.md walks through it.
//!
//! Names: device `timer1`, interrupt `fired`, notification `events` (bit 0: the timer has fired).
#![no_std]
#![no_main]

use core::ptr::write_volatile;

use cofferdam::{Info, Interrupt, Notification, Start, now, println};

/// Registers of the Arm CMSDK APB timer (DDI 0479, section 4.1), in words.
mod register {
    pub const CTRL: usize = 0;
    pub const RELOAD: usize = 2;
    pub const INTERRUPT: usize = 3;
}
const ENABLE: u32 = 1;
const INTERRUPT_ENABLE: u32 = 8;
/// The timer counts the same 25 MHz that the kernel's ticks count.
const TICKS: u32 = 250_000;
const FIRED: u32 = 1;
const TIMES: u32 = 10;

cofferdam::entry!(main);

struct Timer {
    registers: *mut u32,
}

impl Timer {
    fn open(info: Info) -> Option<Timer> {
        Some(Timer { registers: info.area("timer1")?.base as *mut u32 })
    }

    fn write(&self, register: usize, value: u32) {
        // SAFETY: the area is the timer's, and this domain is its only owner.
        unsafe { write_volatile(self.registers.add(register), value) }
    }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(timer), Some(fired), Some(events)) =
        (Timer::open(info), Interrupt::named(info, "fired"), Notification::named(info, "events"))
    else {
        println!("the manifest does not give me the timer, its interrupt and its notification");
        return 1;
    };
    let _ = fired.ack(); // a line is masked until its owner asks for the first time
    timer.write(register::RELOAD, TICKS - 1);
    timer.write(register::CTRL, ENABLE | INTERRUPT_ENABLE);
    let mut last = now();
    for count in 1..=TIMES {
        if events.wait(FIRED).is_err() {
            return 1;
        }
        timer.write(register::INTERRUPT, 1); // the device first: otherwise the line is still up
        let _ = fired.ack(); // then the kernel delivers the line again
        let time = now();
        println!(
            "fired {count}: {} us since the last time",
            (time - last) * 1_000_000 / u64::from(info.ticks_per_second())
        );
        last = time;
    }
    timer.write(register::CTRL, 0);
    0
}
