//! The processor and the programs: who runs does so until it has done what it wants, the timer fires, or the line does. The way into the kernel
//! and the way out take any time up to their bounds.

use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

use abi::{Call, Error};
use testing::Rng;

use super::COSTS;
use super::systems::{self, GATE, LINE, SERVER, System, WORDS, word};
use crate::tests::sim::{Machine, Registers, boot_with};
use crate::{Kernel, NOBODY};

type Chip = Kernel<Machine<Registers>>;

const VICTIM: u8 = 0;

/// What a hostile thread likes to do; drawn once for each, and again from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Spin,
    Crumbs,
    JustBefore,
    Yield,
    Storm,
    Wait,
    Call,
    Overrun,
    Device,
    Exhaust,
    Anything,
}

const MOODS: [Mood; 11] = [
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
    Mood::Anything,
];

/// How paths are drawn from their bounds.
#[derive(Clone, Copy, Debug)]
enum Paths {
    None,
    Longest,
    Any,
}

pub struct Run<'a> {
    system: &'a System,
    kernel: Chip,
    rng: Rng,
    moods: Vec<Mood>,
    paths: Paths,
    /// User time that each thread has left of what it is doing.
    busy: Vec<u64>,
    /// User time that the victim's job has taken, outside of the gate.
    job: u64,
    /// Whether the job still has to call the gate.
    to_call: bool,
    /// When the line is raised next.
    line: u64,
    pub responses: Vec<u64>,
    log: VecDeque<String>,
}

impl<'a> Run<'a> {
    pub fn new(system: &'a System, seed: u64) -> Run<'a> {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let processor = Machine { now: 1_000, shortest: COSTS.late, ..Machine::default() };
        let kernel = boot_with(&systems::tables(system), processor);
        let threads = system.hostile.len() + 1;
        let pick = |rng: &mut Rng| MOODS[rng.below(MOODS.len() as u64) as usize];
        let moods = (0..threads).map(|_| pick(&mut rng)).collect();
        let paths = [Paths::None, Paths::Longest, Paths::Longest, Paths::Any][rng.below(4) as usize];
        Run {
            system,
            kernel,
            rng,
            moods,
            paths,
            busy: vec![0; threads],
            job: 0,
            to_call: false,
            line: 5_000,
            responses: Vec::new(),
            log: VecDeque::new(),
        }
    }

    /// The last that happened.
    pub fn story(&self) -> String {
        let mut text = format!("{:?} {:?}\n", self.moods, self.paths);
        self.log.iter().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
        text
    }

    fn note(&mut self, what: &str) {
        if self.log.len() == 400 {
            self.log.pop_front();
        }
        let (now, who) = (self.kernel.arch.now, self.kernel.current());
        let (armed, timer, deferred) = (self.kernel.armed, self.kernel.arch.timer, self.kernel.deferred);
        let limit = self.kernel.limit;
        self.log.push_back(format!("{now} t{who} limit {limit} armed {armed} {timer:?} {deferred}: {what}"));
    }

    fn path(&mut self, most: u32) -> u64 {
        match self.paths {
            Paths::None => 0,
            Paths::Longest => most.into(),
            Paths::Any => self.rng.below(u64::from(most) + 1),
        }
    }

    /// So many periods of the victim, or until a response exceeds the bound.
    pub fn play(&mut self, jobs: u32, bound: u64) {
        let end = 1_000 + u64::from(jobs) * u64::from(self.system.budgets[0].0);
        while self.kernel.arch.now < end && self.responses.last().is_none_or(|last| *last <= bound) {
            self.step();
            self.kernel.arch.trace.clear();
        }
    }

    /// Until the next kernel entry.
    fn step(&mut self) {
        let who = self.kernel.current();
        let now = self.kernel.arch.now;
        let timer = if self.kernel.arch.again { now } else { self.kernel.arch.timer.unwrap_or(u64::MAX) };
        let masked = self.kernel.arch.masked.get(&3).copied().unwrap_or(true);
        let line = if masked { u64::MAX } else { self.line };
        let interrupt = timer.min(line).max(now);
        let done = if who == NOBODY { u64::MAX } else { now + self.busy[usize::from(who)] };
        let next = interrupt.min(done);
        if who != NOBODY {
            self.busy[usize::from(who)] -= next - now;
            let outside = self.kernel.top().outer.is_none();
            self.job += if who == VICTIM && outside { next - now } else { 0 };
        }
        self.kernel.arch.now = next;
        if done < interrupt || (done == interrupt && self.rng.chance(2)) {
            self.acts(who);
        } else if line <= timer {
            self.line_comes();
        } else {
            self.timer_comes();
        }
    }

    fn timer_comes(&mut self) {
        self.note("timer");
        let before = self.kernel.current();
        // A timer that comes too early takes Y at most, in and out.
        let way_in = self.path(COSTS.switching.early / 2);
        self.kernel.arch.now += way_in;
        self.kernel.arch.again = false;
        self.kernel.arch.timer = None;
        self.kernel.on_timer();
        let same = self.kernel.current() == before;
        let most = if same { COSTS.switching.early / 2 } else { COSTS.switching.exit };
        self.kernel.arch.now += self.path(most);
    }

    fn line_comes(&mut self) {
        self.note("line");
        let separation = if self.rng.chance(3) { 50 } else { 4_000 };
        self.line = self.kernel.arch.now + self.rng.below(separation);
        self.kernel.arch.now += self.path(COSTS.switching.entry);
        self.kernel.interrupts(3);
        self.kernel.arch.now += self.path(COSTS.switching.exit);
    }

    fn asks(&mut self, call: Call, args: [u32; 4]) {
        self.note(&format!("{call:?} {args:?}"));
        self.kernel.arch.now += self.path(COSTS.switching.entry);
        self.kernel.asks(call as u32, args);
        self.kernel.arch.now += self.path(COSTS.switching.exit);
    }

    /// A thread has done what it wanted, and asks the kernel for something.
    fn acts(&mut self, who: u8) {
        if who == VICTIM {
            self.victim();
        } else if self.kernel.top().outer.is_some() {
            self.asks(Call::GateReturn, [0; 4]);
        } else {
            self.hostile(usize::from(who));
        }
    }

    fn victim(&mut self) {
        let release = self.kernel.thread(VICTIM).release;
        let open = self.kernel.thread(VICTIM).open;
        if self.kernel.top().outer.is_some() {
            self.asks(Call::GateReturn, [0; 4]);
            return;
        }
        let told = self.kernel.context(VICTIM).response.map(|(status, _)| Error::from_status(status));
        assert_ne!(told, Some(Some(Error::GateOverrun)), "an innocent callee was stopped\n{}", self.story());
        let wcet = u64::from(self.system.wcet);
        if open && self.to_call && self.job >= wcet / 2 {
            self.to_call = false;
            // The callee takes all of its bound but what the kernel takes of it.
            self.busy[0] = u64::from(self.system.gate.1 - COSTS.switching.path());
            self.asks(Call::GateCall, [GATE, 0, 0, 0]);
            if self.kernel.current() == VICTIM && self.kernel.top().outer.is_none() {
                self.busy[0] = 0;
            }
            return;
        }
        if open && self.job < wcet {
            let all = wcet - self.job;
            self.busy[0] = if self.to_call { all.min(wcet / 2) } else { all };
            return;
        }
        if open {
            self.responses.push(self.kernel.arch.now - release);
            self.note("victim done");
        }
        self.job = 0;
        self.to_call = self.system.calls;
        self.asks(Call::WaitPeriod, [0; 4]);
    }

    fn sleep(&mut self, ticks: u64) {
        let at = self.kernel.arch.now + ticks;
        self.asks(Call::SleepUntil, [at as u32, (at >> 32) as u32, 0, 0]);
    }

    fn hostile(&mut self, who: usize) {
        if self.rng.chance(60) {
            self.moods[who] = MOODS[self.rng.below(MOODS.len() as u64) as usize];
        }
        let mood = self.moods[who];
        let mood = if mood == Mood::Anything { MOODS[self.rng.below(10) as usize] } else { mood };
        let some = |rng: &mut Rng, most: u64| rng.below(most);
        self.busy[who] = some(&mut self.rng, 60);
        match mood {
            Mood::Spin => self.busy[who] = 200 + some(&mut self.rng, 4_000),
            Mood::Crumbs => {
                let ticks = 1 + some(&mut self.rng, 400);
                self.sleep(ticks);
            }
            Mood::JustBefore => self.before_release(),
            Mood::Yield => self.asks(Call::Yield, [0; 4]),
            Mood::Storm => {
                let word = word(some(&mut self.rng, WORDS.into()) as u32);
                self.asks(Call::Signal, [word, 1, 0, 0]);
            }
            Mood::Wait => {
                let word = word(some(&mut self.rng, WORDS.into()) as u32);
                self.asks(Call::Wait, [word, 1, 0, 0]);
            }
            Mood::Call | Mood::Overrun => self.calls(who, mood == Mood::Overrun),
            Mood::Device => {
                self.asks(Call::InterruptAck, [LINE, 0, 0, 0]);
                if self.kernel.current() == who as u8 {
                    self.asks(Call::Wait, [word(WORDS - 1), 1, 0, 0]);
                }
            }
            Mood::Exhaust | Mood::Anything => {
                self.busy[who] = u64::from(self.system.budgets[self.system.hostile[who - 1].budget].1);
            }
        }
    }

    /// Sleeps until shortly before the victim's next release, and then runs or calls.
    fn before_release(&mut self) {
        let now = self.kernel.arch.now;
        let period = u64::from(self.system.budgets[0].0);
        let release = 1_000 + ((now - 1_000) / period + 1) * period;
        let before = [1, 2, 30, 150, 260][self.rng.below(5) as usize];
        match release.checked_sub(before).filter(|at| *at > now) {
            Some(at) => self.sleep(at - now),
            None => self.asks(Call::GateCall, [GATE, 0, 0, 0]),
        }
    }

    /// Calls the gate, and stays in it up to its bound or beyond; restarts its domain if that has been stopped.
    fn calls(&mut self, who: usize, too_long: bool) {
        let bound = u64::from(self.system.gate.1);
        self.busy[who] = if too_long { 2 * bound } else { self.rng.below(bound) };
        self.asks(Call::GateCall, [GATE, 0, 0, 0]);
        if self.kernel.current() == who as u8 && self.kernel.top().outer.is_none() {
            self.asks(Call::DomainRestart, [SERVER, 0, 0, 0]);
        }
    }
}
