//! A motor's commutation at 20 kHz and a serial line at 19 200 baud, both in handlers that interrupts reach without the kernel. The thread, woken
//! every 20th time, speeds the motor up and says so on the line. While the motor stands, the state in which handlers run is lent to another domain.
//! README.md walks through it.
//!
//! Names: devices `timer1`, `watchdog`, `fpgaio`; interrupts `pulse` (handler `commutate`) and `bit` (handler `transmit`); notification `events` (bit 0: a
//! millisecond has passed; bit 1: the last byte is being sent); domains `motor` and `storm`. Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed;
//! 3 if the line had no room.
#![no_std]
#![no_main]

mod commutate;
mod pins;
mod serial;

use core::sync::atomic::Ordering::Relaxed;

use cofferdam::{Domain, Interrupt, Notification, Start, now, sys};

const MILLISECOND: u32 = 1 << 0;
const LAST_BYTE: u32 = 1 << 1;

/// Milliseconds from one message to the next.
const BETWEEN: u32 = 25;

/// Milliseconds for which the state is lent.
const LENT: u32 = 5;

/// Turns in a second, and duty of 256, from one message to the next: before the state is lent, and behind that.
const RAMP: [(u32, u32); 9] =
    [(10, 32), (20, 48), (40, 64), (60, 80), (80, 96), (100, 112), (120, 128), (120, 96), (60, 0)];
const AGAIN: [(u32, u32); 2] = [(20, 48), (40, 0)];

cofferdam::entry!(main);
cofferdam::handler!(commutate, commutate::serve);
cofferdam::handler!(transmit, serial::serve);

/// Everything that the thread uses.
struct Motor {
    pulse: Interrupt,
    bit: Interrupt,
    events: Notification,
    /// Its domain, and the one that the state is lent to.
    domains: [Domain; 2],
    timer: u32,
    rate: u32,
}

impl Motor {
    /// Everything that the manifest gives.
    fn new(start: &Start) -> Option<Self> {
        let info = start.info;
        let area = |name: &str| info.area(name).map(|area| area.base);
        pins::REGISTER.store(area("fpgaio")?, Relaxed);
        serial::WATCHDOG.store(area("watchdog")?, Relaxed);
        Some(Motor {
            pulse: Interrupt::named(info, "pulse")?,
            bit: Interrupt::named(info, "bit")?,
            events: Notification::named(info, "events")?,
            domains: [Domain::named(info, "motor")?, Domain::named(info, "storm")?],
            timer: area("timer1")?,
            rate: info.ticks_per_second(),
        })
    }

    /// Runs up and down, and stops.
    fn run(&self, ramp: &[(u32, u32)]) -> Result<(), u32> {
        let call = |done: Result<(), cofferdam::Error>| done.map_err(|_| 2u32);
        call(self.pulse.ack())?;
        call(self.bit.ack())?;
        commutate::start(self.timer, self.rate);
        for &(turns, duty) in ramp {
            commutate::drive(turns, duty);
            if !serial::send(message(turns, duty, &mut [0; MESSAGE])) {
                return Err(3);
            }
            for _ in 0..BETWEEN {
                call(wait(&self.events, &self.pulse, &self.bit))?;
            }
        }
        commutate::stop();
        // The interrupt that stops both is 50 us away at most.
        sys::sleep_until(now() + u64::from(self.rate / 1000)).map(|_| ()).map_err(|_| 2)
    }

    /// Lends the state to the other domain, and takes it back.
    fn lend(&self) -> Result<(), cofferdam::Error> {
        let [own, other] = self.domains;
        other.occupy()?;
        sys::sleep_until(now() + u64::from(LENT * (self.rate / 1000)))?;
        own.occupy()
    }
}

fn main(start: Start) -> u32 {
    let Some(motor) = Motor::new(&start) else { return 1 };
    let done = motor.run(&RAMP).and_then(|()| motor.lend().map_err(|_| 2)).and_then(|()| motor.run(&AGAIN));
    done.err().unwrap_or(0)
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
