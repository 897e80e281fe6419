//! Behaviour of hostile threads.

use abi::Call;
use testing::Rng;

use super::drive::Run;
use super::systems::{GATE, LINE, SERVER, WORDS, word};
use super::{COSTS, START};

/// Behaviour that a hostile thread likes; drawn once for each, and again from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Spin,
    Crumbs,
    /// Runs or calls shortly before a victim's release.
    JustBefore,
    Yield,
    /// Signals anybody.
    Storm,
    Wait,
    Call,
    Overrun,
    Device,
    Exhaust,
    /// Runs across a boundary of its budget's grid.
    Across,
    /// Stops the gate's domain again and again.
    Stop,
    Acknowledge,
    /// Enters the gate and leaves it at once.
    Knock,
    /// Wakes whoever is in the mood `Pong`.
    Ping,
    /// Waits for `Ping`, and runs while a victim is released.
    Pong,
    Anything,
}

pub const MOODS: [Mood; 17] = [
    Mood::Spin,
    Mood::Crumbs,
    Mood::JustBefore,
    Mood::Yield,
    Mood::Storm,
    Mood::Wait,
    Mood::Call,
    Mood::Overrun,
    Mood::Device,
    Mood::Exhaust,
    Mood::Across,
    Mood::Stop,
    Mood::Acknowledge,
    Mood::Knock,
    Mood::Ping,
    Mood::Pong,
    Mood::Anything,
];

pub fn draw(rng: &mut Rng) -> Mood {
    MOODS[rng.below(MOODS.len() as u64) as usize]
}

impl Run<'_> {
    /// A hostile thread in its own domain has done what it wanted.
    pub fn hostile(&mut self, who: usize) {
        if self.rng.chance(60) {
            self.moods[who] = draw(&mut self.rng);
        }
        let mood = match self.moods[who] {
            Mood::Anything => MOODS[self.rng.below(MOODS.len() as u64 - 1) as usize],
            mood => mood,
        };
        self.busy[who] = self.rng.below(60);
        self.acts_so(who, mood);
    }

    pub fn acts_so(&mut self, who: usize, mood: Mood) {
        match mood {
            Mood::Spin => self.busy[who] = 200 + self.rng.below(4_000),
            Mood::Crumbs => {
                let ticks = 1 + self.rng.below(400);
                self.sleep(ticks);
            }
            Mood::JustBefore => self.before_release(),
            Mood::Yield => self.asks(Call::Yield, [0; 4]),
            Mood::Storm => {
                let word = word(self.rng.below(WORDS.into()) as u32);
                self.asks(Call::Signal, [word, 1, 0, 0]);
            }
            Mood::Wait => {
                let word = word(self.rng.below(WORDS.into()) as u32);
                self.asks(Call::Wait, [word, 1, 0, 0]);
            }
            Mood::Call | Mood::Overrun | Mood::Knock => self.calls(who, mood),
            Mood::Device => {
                self.then[who] = Some((Call::Wait, [word(WORDS - 1), 1, 0, 0]));
                self.asks(Call::InterruptAck, [LINE, 0, 0, 0]);
            }
            Mood::Exhaust | Mood::Anything => self.busy[who] = self.budget_of(who).1,
            Mood::Across => self.across(who),
            Mood::Stop => {
                self.busy[who] = 0;
                self.asks(Call::DomainStop, [SERVER, 0, 0, 0]);
            }
            Mood::Acknowledge => {
                self.busy[who] = 0;
                self.asks(Call::InterruptAck, [LINE, 0, 0, 0]);
            }
            Mood::Ping => {
                self.busy[who] = 0;
                self.asks(Call::Signal, [word(0), 1, 0, 0]);
            }
            Mood::Pong => {
                self.busy[who] = 0;
                if (0..self.system.victims.len()).any(|victim| self.is_released(victim)) {
                    self.busy[who] = self.budget_of(who).1;
                } else {
                    self.asks(Call::Wait, [word(0), 1, 0, 0]);
                }
            }
        }
    }

    pub fn sleep(&mut self, ticks: u64) {
        let at = self.kernel.arch.now + ticks;
        self.asks(Call::SleepUntil, [at as u32, (at >> 32) as u32, 0, 0]);
    }

    /// Sleeps until shortly before a victim's next release, and then runs or calls.
    fn before_release(&mut self) {
        let now = self.kernel.arch.now;
        let victim = self.rng.below(self.system.victims.len() as u64) as usize;
        let period = u64::from(self.system.victims[victim].period);
        let release = START + ((now - START) / period + 1) * period;
        let before = [1, 2, 30, 150, 260][self.rng.below(5) as usize];
        match release.checked_sub(before).filter(|at| *at > now) {
            Some(at) => self.sleep(at - now),
            None => self.asks(Call::GateCall, [GATE, 0, 0, 0]),
        }
    }

    /// Sleeps until its budget is soon full again, and then runs on and on.
    fn across(&mut self, who: usize) {
        let (period, capacity) = self.budget_of(who);
        let now = self.kernel.arch.now;
        let boundary = START + ((now - START) / period + 1) * period;
        let before = [20, 400, capacity / 2, capacity][self.rng.below(4) as usize];
        if boundary - now > before + 2 * COSTS.activation() {
            self.sleep(boundary - now - before);
        } else {
            self.busy[who] = boundary - now + capacity;
        }
    }

    /// Calls the gate, and stays in it up to its bound or beyond; restarts its domain if that has been stopped.
    fn calls(&mut self, who: usize, mood: Mood) {
        let bound = u64::from(self.system.gate.1);
        self.busy[who] = match mood {
            Mood::Overrun => 2 * bound,
            Mood::Knock => 0,
            _ if self.rng.chance(3) => bound.saturating_sub(COSTS.switching.path().into()),
            _ => self.rng.below(bound),
        };
        self.asks(Call::GateCall, [GATE, 0, 0, 0]);
        if usize::from(self.kernel.current()) == who && self.kernel.top().outer.is_none() {
            self.then[who] = Some((Call::DomainRestart, [SERVER, 0, 0, 0]));
        }
    }
}
