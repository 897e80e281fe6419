//! The processor and the victims: who runs does so until it has done what it wants, the timer fires, or the line does. The way into the kernel
//! and the way out take any time up to their bounds.

use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

use abi::{Call, Error};
use testing::Rng;
use units::Instant;

use super::moods::{Mood, draw};
use super::small::Step;
use super::supply::Supply;
use super::systems::{self, GATE, System};
use super::{COSTS, START};
use crate::objects::State;
use crate::tests::sim::{Machine, Registers, boot_with};
use crate::{Kernel, NOBODY};

pub type Chip = Kernel<Machine<Registers>>;

/// How paths are drawn from their bounds.
#[derive(Clone, Copy, Debug)]
pub enum Paths {
    None,
    Longest,
    Any,
}

#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// User time that the job has taken, outside of the gate.
    job: u64,
    /// How often it went on after others, or after the gate.
    resumed: u64,
    /// True if the job still has to call the gate.
    to_call: bool,
    release: u64,
}

pub struct Run<'a> {
    pub system: &'a System,
    pub kernel: Chip,
    pub rng: Rng,
    pub moods: Vec<Mood>,
    /// Scripts that hostile threads follow instead, again and again, and where they are in them.
    pub scripts: Vec<(Vec<Step>, usize)>,
    pub paths: Paths,
    /// User time that each thread has left of what it is doing.
    pub busy: Vec<u64>,
    pub then: Vec<Option<(Call, [u32; 4])>>,
    work: Vec<Work>,
    line: u64,
    /// From when on the running thread pays: behind the switch to it, and behind interrupts for others.
    pub pays_from: u64,
    /// Time that it has paid since the switch to it.
    pub ran: u64,
    pub supplies: Vec<Supply>,
    /// True for each budget whose boundary threads waited for at the last kernel entry.
    pub waited: Vec<bool>,
    pub complaint: Option<String>,
    /// The longest response of each victim, and how many jobs there were.
    pub worst: Vec<u64>,
    /// How often a job of each victim went on after others at most.
    pub resumed: Vec<u64>,
    pub jobs: u64,
    /// True if there is a log. It takes long, so ask for it when a seed has failed.
    noted: bool,
    log: VecDeque<String>,
}

impl<'a> Run<'a> {
    pub fn new(system: &'a System, seed: u64) -> Run<'a> {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let processor = Machine { now: START, shortest: COSTS.late, ..Machine::default() };
        let kernel = boot_with(&systems::tables(system), processor);
        let victims = system.victims.len();
        let threads = system.hostile.len() + victims;
        let moods = (0..threads).map(|_| draw(&mut rng)).collect();
        let paths = [Paths::None, Paths::Longest, Paths::Longest, Paths::Any][rng.below(4) as usize];
        Run {
            system,
            kernel,
            rng,
            moods,
            scripts: Vec::new(),
            paths,
            busy: vec![0; threads],
            then: vec![None; threads],
            work: vec![Work::default(); victims],
            line: 5_000,
            pays_from: START + u64::from(COSTS.switching.exit),
            ran: 0,
            supplies: Supply::of(system, matches!(paths, Paths::Longest)).collect(),
            waited: vec![false; system.budgets.len()],
            complaint: None,
            worst: vec![0; victims],
            resumed: vec![0; victims],
            jobs: 0,
            noted: std::env::var_os("COFFERDAM_TIME_STORY").is_some(),
            log: VecDeque::new(),
        }
    }

    /// From the start on, hostile threads follow scripts.
    pub fn take_scripts(&mut self, scripts: Vec<(Vec<Step>, usize)>, paths: Paths) {
        self.supplies = Supply::of(self.system, matches!(paths, Paths::Longest)).collect();
        (self.scripts, self.paths, self.line) = (scripts, paths, START);
    }

    /// The last that happened.
    pub fn story(&self) -> String {
        let mut text = format!("{:?} {:?} {:?}\n", self.system, self.moods, self.paths);
        self.log.iter().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
        text
    }

    pub fn note(&mut self, what: impl FnOnce() -> String) {
        if !self.noted {
            return;
        }
        if self.log.len() == 400 {
            self.log.pop_front();
        }
        let (now, who) = (self.kernel.arch.now, self.kernel.current());
        let (armed, timer, deferred) =
            (self.kernel.alarm.at().low(), self.kernel.arch.timer, self.kernel.alarm.deferred);
        let (limit, what) = (self.kernel.slice.end().low(), what());
        self.log.push_back(format!("{now} t{who} limit {limit} armed {armed} {timer:?} {deferred}: {what}"));
    }

    fn path(&mut self, most: u32) -> u64 {
        match self.paths {
            Paths::None => 0,
            Paths::Longest => most.into(),
            Paths::Any => self.rng.below(u64::from(most) + 1),
        }
    }

    fn is_victim(&self, who: u8) -> bool {
        usize::from(who) < self.system.victims.len()
    }

    pub fn is_released(&self, victim: usize) -> bool {
        let thread = self.kernel.thread(victim as u8);
        thread.open && thread.state != State::Sleeping
    }

    /// So many periods of the first victim, or until something is wrong.
    pub fn play(&mut self, jobs: u32, bounds: &[u64]) {
        self.play_until(START + u64::from(jobs) * u64::from(self.system.victims[0].period), bounds);
    }

    pub fn play_until(&mut self, end: u64, bounds: &[u64]) {
        let fine =
            |run: &Self| run.complaint.is_none() && run.worst.iter().zip(bounds).all(|(worst, bound)| worst <= bound);
        while self.kernel.arch.now < end && fine(self) {
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
            if self.is_victim(who) && outside {
                self.work[usize::from(who)].job += next - now;
            }
        }
        self.kernel.arch.now = next;
        // An interrupt that is pending already comes before a thread's first instruction.
        if done < interrupt || (done == interrupt && done > now && self.rng.chance(2)) {
            self.acts(who);
        } else {
            self.loses(who);
            if line <= timer { self.line_comes() } else { self.timer_comes() }
        }
    }

    /// An interrupt comes in the middle of a victim's job, or the job comes back from a gate:
    /// others may have used the caches, so it has to load something again.
    fn loses(&mut self, who: u8) {
        let begun = |run: &Self| run.work[usize::from(who)].job > 0 && run.kernel.top().outer.is_none();
        if self.is_victim(who) && begun(self) {
            let who = usize::from(who);
            self.work[who].resumed += 1;
            self.busy[who] += u64::from(self.system.reload);
        }
    }

    fn timer_comes(&mut self) {
        self.note(|| "timer".into());
        // A timer that comes too early takes Y at most, in and out.
        let way_in = self.path(COSTS.switching.early / 2);
        self.kernel.arch.now += way_in;
        let before = self.kernel.current();
        let now = self.kernel.arch.now;
        let due = self.kernel.times.earliest(self.kernel.top().priority) <= now;
        // A timer for who runs is not given back: its time is up, or it has left a gate for whose end the timer came.
        let own = Instant::of(now).until(self.kernel.end()) <= 0
            || self.kernel.entered.is_some_and(|payer| {
                self.kernel.activations.at(payer).thread.is_some_and(|thread| self.kernel.running() == Some(thread))
            });
        self.kernel.arch.again = false;
        self.kernel.arch.timer = None;
        self.kernel.on_timer();
        let same = self.kernel.current() == before;
        if !same || due || before == NOBODY {
            self.switched(before, way_in, COSTS.switching.path());
        } else if !own {
            self.came_in_vain(before, way_in);
        }
        let most = if same { COSTS.switching.early / 2 } else { COSTS.switching.exit };
        self.kernel.arch.now += self.path(most);
    }

    fn line_comes(&mut self) {
        self.note(|| "line".into());
        let separation = if self.rng.chance(3) { 50 } else { 4_000 };
        let before = self.kernel.current();
        self.line = self.kernel.arch.now + if self.scripts.is_empty() { self.rng.below(separation) } else { 0 };
        let way_in = self.path(COSTS.switching.entry);
        self.kernel.arch.now += way_in;
        self.kernel.interrupts(3);
        self.switched(before, way_in, COSTS.switching.path());
        self.kernel.arch.now += self.path(COSTS.switching.exit);
    }

    pub fn asks(&mut self, call: Call, args: [u32; 4]) {
        self.note(|| format!("{call:?} {args:?}"));
        let before = self.kernel.current();
        self.kernel.arch.now += self.path(COSTS.switching.entry);
        let (waiting, outer) = (self.waiting(), self.kernel.top().outer.is_some());
        let told = self.kernel.asks(call as u32, args);
        let activation = COSTS.activation();
        let who = usize::from(before);
        let state = self.kernel.thread(before).state;
        let price = match call {
            Call::SleepUntil | Call::WaitPeriod if state == State::Sleeping => activation,
            Call::GateCall if state == State::Throttled && self.exhausted().is_none() => activation / 2,
            Call::InterruptAck => activation,
            Call::Signal if waiting & !self.waiting() != 0 => activation,
            Call::Yield if !outer && self.kernel.current() != before && state == State::Ready => activation / 2,
            _ => 0,
        };
        let refused = told.is_some_and(|(status, _)| Error::from_status(status).is_some());
        self.switched(before, 0, 0);
        if price > 0 && !refused {
            if self.kernel.current() == before {
                self.ends(before, self.kernel.arch.now);
            }
            self.pays(self.payer(who), price);
        }
        self.kernel.arch.now += self.path(COSTS.switching.exit);
    }

    /// A thread has done what it wanted, and asks the kernel for something.
    fn acts(&mut self, who: u8) {
        if self.kernel.top().outer.is_some() {
            self.asks(Call::GateReturn, [0; 4]);
        } else if self.is_victim(who) {
            self.victim(who);
        } else if let Some((call, args)) = self.then[usize::from(who)].take() {
            self.asks(call, args);
        } else {
            let who = usize::from(who);
            match self.scripts.get_mut(who - self.system.victims.len()) {
                Some((script, position)) => {
                    let step = script[*position % script.len()];
                    *position += 1;
                    self.performs(who, step);
                }
                None => self.hostile(who),
            }
        }
    }

    fn victim(&mut self, number: u8) {
        let who = usize::from(number);
        let victim = self.system.victims[who];
        let (release, open) = (self.kernel.thread(number).release, self.kernel.thread(number).open);
        let told = self.kernel.context(number).response.map(|(status, _)| Error::from_status(status));
        assert_ne!(told, Some(Some(Error::GateOverrun)), "an innocent callee was stopped\n{}", self.story());
        let Work { job, to_call, resumed, .. } = self.work[who];
        let wcet = u64::from(victim.wcet) + resumed * u64::from(self.system.reload);
        if open && to_call && job >= wcet / 2 {
            self.work[who].to_call = false;
            self.work[who].resumed += 1;
            // The callee takes all of its bound but what the kernel takes of it.
            self.busy[who] = u64::from(self.system.gate.1 - COSTS.switching.path());
            self.asks(Call::GateCall, [GATE, 0, 0, 0]);
            if self.kernel.current() == number && self.kernel.top().outer.is_none() {
                self.busy[who] = 0;
            }
            return;
        }
        if open && job < wcet {
            self.busy[who] = if to_call { (wcet - job).min(wcet / 2) } else { wcet - job };
            return;
        }
        if open {
            self.done(who, release);
        }
        (self.work[who].job, self.work[who].resumed) = (0, 0);
        self.work[who].to_call = victim.calls;
        self.asks(Call::WaitPeriod, [0; 4]);
    }

    fn done(&mut self, who: usize, release: u64) {
        let System { victims, budgets, .. } = self.system;
        let last = core::mem::replace(&mut self.work[who].release, release);
        let grid = u64::from(budgets[victims[who].budget].0);
        let rule = if last == 0 {
            (release - START).is_multiple_of(grid)
        } else {
            release - last == u64::from(victims[who].period)
        };
        assert!(rule, "released at {release} after {last}\n{}", self.story());
        self.worst[who] = self.worst[who].max(self.kernel.arch.now - release);
        self.resumed[who] = self.resumed[who].max(self.work[who].resumed);
        self.jobs += 1;
        self.note(|| format!("victim done, released at {release}"));
    }
}
