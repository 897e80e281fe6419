//! Performs a row.

use core::hint::black_box;

use cofferdam::{Budget, Domain, Gate, Info, Interrupt, Notification, hostile, now, sys};
use devices::Timer;

use crate::act::{Act, Row, Word, ticks_per_us};
use crate::orders;
use crate::work::work;

/// Lines of both boards' data caches.
const LINE_BYTES: u32 = 32;
/// Exit code of a thread whose row names what its domain does not have.
const MISSING: u32 = 3;

const GATES: [&str; 4] = ["g0", "g1", "g2", "g3"];
const NOTIFICATIONS: [&str; 4] = ["n0", "n1", "n2", "n3"];
const DOMAINS: [&str; 4] = ["d0", "d1", "d2", "d3"];

/// A thread's state between its acts.
struct Player {
    info: Info,
    /// How often `times` went back.
    turns: i64,
    /// A time from which those of `until` count.
    base: i64,
    /// The total growth of the offset of `until`.
    grown: i64,
    timer: Option<(Timer, Interrupt)>,
}

/// Performs a row until its thread ends.
pub fn perform(info: Info, row: &Row) -> u32 {
    let mut player = Player { info, turns: 0, base: 0, grown: 0, timer: None };
    let mut at = 0;
    loop {
        let Some(act) = row.acts().get(at) else {
            at = row.again();
            continue;
        };
        at += 1;
        match act.word {
            Word::Exit => return 0,
            Word::Times if player.turns < act.numbers[0] => {
                player.turns += 1;
                at = row.again();
            }
            Word::Times => player.turns = 0,
            _ => {
                if player.act(act).is_none() {
                    return MISSING;
                }
            }
        }
    }
}

impl Player {
    /// Performs an act; `None` when the domain lacks what it needs. Refusals are part of the strategy.
    fn act(&mut self, act: &Act) -> Option<()> {
        let [first, second, third] = act.numbers;
        match act.word {
            Word::Work => work(first as u32),
            Word::Spin => loop {
                work(u32::MAX);
            },
            Word::Period => drop(sys::wait_period()),
            Word::Sleep => drop(sys::sleep_until(now().wrapping_add_signed(first))),
            Word::Grid => {
                let (_, next) = Budget::named(self.info, "b0")?.left().ok()?;
                self.base = (now() + u64::from(next)) as i64;
            }
            Word::Until => self.until(first, second, third),
            Word::Yield => drop(sys::yield_now()),
            Word::Call => drop(self.gate(first)?.call(orders::RETURN, second as u32, 0)),
            Word::Stay => drop(self.gate(first)?.call(orders::STAY, second as u32, 0)),
            Word::Trap => drop(self.gate(first)?.call(orders::FAULT, second as u32, 0)),
            Word::Signal => drop(self.notification(first)?.signal(1)),
            Word::Wait => drop(self.notification(first)?.wait(u32::MAX)),
            Word::Revive => self.revive(first)?,
            Word::Timer => self.start(first)?,
            Word::Tick => self.tick()?,
            Word::Ack => drop(self.timer.as_ref()?.1.ack()),
            Word::Dirty => self.dirty(first as u32)?,
            Word::Many => self.many(first as u32)?,
            Word::Float => drop(black_box(black_box(1.5_f32) * black_box(2.5_f32))),
            Word::Fault => hostile::undefined(),
            Word::Exit | Word::Times => {} // the row's
        }
        Some(())
    }

    fn gate(&self, number: i64) -> Option<Gate> {
        Gate::named(self.info, GATES.get(number as usize)?)
    }

    fn notification(&self, number: i64) -> Option<Notification> {
        Notification::named(self.info, NOTIFICATIONS.get(number as usize)?)
    }

    fn until(&mut self, period: i64, offset: i64, step: i64) {
        let period = period.max(1);
        let offset = self.base + offset + self.grown;
        self.grown = self.grown.wrapping_add(step);
        let now = now() as i64;
        let _ = sys::sleep_until((now + 1 + (offset - now - 1).rem_euclid(period)) as u64);
    }

    fn revive(&self, number: i64) -> Option<()> {
        let _ = self.notification(number)?.wait(u32::MAX);
        for domain in DOMAINS.iter().filter_map(|name| Domain::named(self.info, name)) {
            while let Ok(Some(_)) = domain.fault_next() {}
            while let Ok(false) = domain.restart_step() {}
        }
        Some(())
    }

    fn start(&mut self, ticks: i64) -> Option<()> {
        let interrupt = Interrupt::named(self.info, "timer1")?;
        // SAFETY: the area is the information block's, and one row of the domain drives the timer.
        let timer = unsafe { Timer::open(self.info.area("timer1")?) }?;
        let _ = interrupt.ack();
        timer.start((ticks / ticks_per_us(self.info)).max(1) as u32);
        self.timer = Some((timer, interrupt));
        Some(())
    }

    fn tick(&mut self) -> Option<()> {
        let _ = self.notification(0)?.wait(u32::MAX);
        let (timer, interrupt) = self.timer.as_ref()?;
        timer.clear();
        let _ = interrupt.ack();
        Some(())
    }

    fn dirty(&self, bytes: u32) -> Option<()> {
        let heap = self.info.area("heap")?;
        for offset in (0..bytes.min(heap.bytes)).step_by(LINE_BYTES as usize) {
            // SAFETY: within the own heap.
            unsafe { ((heap.base + offset) as *mut u32).write_volatile(offset) };
        }
        Some(())
    }

    fn many(&self, bytes: u32) -> Option<()> {
        let slow = self.info.area("slow")?;
        for offset in (0..bytes.min(slow.bytes)).step_by(LINE_BYTES as usize) {
            // SAFETY: within the own memory; eight words, which the compiler loads at once.
            black_box(unsafe { ((slow.base + offset) as *const [u32; 8]).read() });
        }
        Some(())
    }
}
