//! A motor's commutation at 20 kHz and a serial line at 19 200 baud, both in handlers that interrupts reach without the kernel. The thread, woken
//! every 20th time, speeds the motor up and says so on the line. README.md walks through it.
//!
//! Names: devices `timer1`, `watchdog`, `fpgaio`; interrupts `pulse` (handler `commutate`) and `bit` (handler `transmit`); notification `events` (bit 0: a
//! millisecond has passed; bit 1: the last byte is being sent). Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed; 3 if the line had no room.
#![no_std]
#![no_main]

mod commutate;
mod pins;
mod serial;

use core::sync::atomic::Ordering::Relaxed;

use cofferdam::{Interrupt, Notification, Start};

const MILLISECOND: u32 = 1 << 0;
const LAST_BYTE: u32 = 1 << 1;

/// Milliseconds from one message to the next.
const BETWEEN: u32 = 25;

/// Turns in a second, and duty of 256, from one message to the next.
const RAMP: [(u32, u32); 9] =
    [(10, 32), (20, 48), (40, 64), (60, 80), (80, 96), (100, 112), (120, 128), (120, 96), (60, 0)];

cofferdam::entry!(main);
cofferdam::handler!(commutate, commutate::serve);
cofferdam::handler!(transmit, serial::serve);

fn main(start: Start) -> u32 {
    let info = start.info;
    let area = |name: &str| info.area(name).map(|area| area.base);
    let lines = Interrupt::named(info, "pulse").zip(Interrupt::named(info, "bit"));
    let (Some(timer), Some(watchdog), Some(leds)) = (area("timer1"), area("watchdog"), area("fpgaio")) else {
        return 1;
    };
    let Some(((pulse, bit), events)) = lines.zip(Notification::named(info, "events")) else { return 1 };
    pins::REGISTER.store(leds, Relaxed);
    serial::WATCHDOG.store(watchdog, Relaxed);
    if pulse.ack().is_err() || bit.ack().is_err() {
        return 2;
    }
    commutate::start(timer, info.ticks_per_second());
    for (turns, duty) in RAMP {
        commutate::drive(turns, duty);
        if !serial::send(message(turns, duty, &mut [0; MESSAGE])) {
            return 3;
        }
        for _ in 0..BETWEEN {
            if wait(&events, &pulse, &bit).is_err() {
                return 2;
            }
        }
    }
    commutate::stop();
    0
}

/// Waits for the next millisecond.
fn wait(events: &Notification, pulse: &Interrupt, bit: &Interrupt) -> Result<(), cofferdam::Error> {
    loop {
        let came = events.wait(MILLISECOND | LAST_BYTE)?;
        if came & LAST_BYTE != 0 {
            bit.ack()?;
        }
        if came & MILLISECOND != 0 {
            return pulse.ack();
        }
    }
}

const MESSAGE: usize = 24;

/// `turns 120, duty 50 %` and a new line.
fn message(turns: u32, duty: u32, text: &mut [u8; MESSAGE]) -> &[u8] {
    let mut bytes = 0;
    let mut put = |part: &[u8]| {
        for byte in part {
            if let Some(place) = text.get_mut(bytes) {
                (*place, bytes) = (*byte, bytes + 1);
            }
        }
    };
    put(b"turns ");
    put(&digits(turns));
    put(b", duty ");
    put(&digits(duty * 100 / 256));
    put(b" %\n");
    text.get(..bytes).unwrap_or_default()
}

/// A number below 1000.
fn digits(number: u32) -> [u8; 3] {
    [number / 100, number / 10 % 10, number % 10].map(|digit| b'0' + digit as u8)
}
