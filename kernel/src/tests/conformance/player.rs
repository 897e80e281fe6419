//! Plays a row: whichever thread the kernel lets run performs its next step.

use std::vec;
use std::vec::Vec;

use abi::trace::Fault;
use abi::{Call, Error};
use conformance::{
    ACTORS, Action, Actor, DOMAINS, Dom, Hand, INITIAL, LENGTH_US, PERIOD_US, Part, Place, Places, Record, Row,
    START_US, Scene, Seen, Shortfall, places, stretch, verdict,
};
use protect::AccessKind;
use system::System;

use super::super::sim::{Machine, boot_tables, release};
use super::image::Image;
use super::machine::{self, Access, Hardware};
use crate::{Kernel, NOBODY};
use units::VirtAddr;

/// Microseconds that a step takes.
const STEP_US: u32 = 1;
/// Microseconds from arming the timer to its interrupt, at least.
const SHORTEST_US: u32 = 10;
const BOOT: u64 = 1_000;
/// A time that no row sees.
const NEVER: u64 = 1 << 30;

/// How far somebody has come with a step.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Nothing,
    /// It made a call, and has no answer yet.
    Asked(u32, [u32; 4], bool),
    /// It computes until then.
    Spins(u64),
}

/// A thread in its own domain, or in a gate.
#[derive(Clone, Copy, Debug)]
struct Level {
    actor: Option<Actor>,
    given: [u32; 4],
    /// `None`: it has not begun.
    part: Option<&'static Part>,
    begun: bool,
    next: usize,
    doing: Doing,
    /// What it returns, if it is a gate.
    answer: (u32, u32),
}

impl Level {
    fn new(actor: Option<Actor>, given: [u32; 4]) -> Level {
        Level { actor, given, part: None, begun: false, next: 0, doing: Doing::Nothing, answer: (0, 0) }
    }
}

/// Somebody with levels, and the life that they belong to.
struct Thread {
    domain: usize,
    actor: Option<Actor>,
    life: u16,
    levels: Vec<Level>,
}

/// A row on a system that has just booted.
pub struct Player<'a, K: Hardware> {
    image: &'a Image,
    row: &'static Row,
    kernel: Kernel<Machine<K>>,
    threads: Vec<Thread>,
    records: [Record; ACTORS],
    start: u64,
    /// The driver's line is active.
    line: bool,
}

/// View that a level has of the system.
struct View<'a> {
    image: &'a Image,
    domain: usize,
    start: u64,
    given: [u32; 4],
}

/// Ticks of the kernel's clock in a microsecond of a row.
fn ticks_per_us(image: &Image) -> u32 {
    let argument = image.tables.get::<system::Thread>(0).argument;
    image.tables.ticks_per_second() / 1_000_000 * stretch(argument)
}

impl Scene for View<'_> {
    fn ticks_per_us(&self) -> u32 {
        ticks_per_us(self.image)
    }

    fn places(&self) -> &'static Places {
        places(self.image.board()).expect("a board whose file has foreign places")
    }

    fn hand(&self, hand: Hand) -> u32 {
        let (name, kind) = hand.entry();
        self.image.slot(self.domain, name, kind).unwrap_or(Hand::NONE)
    }

    fn place(&self, place: Place) -> u32 {
        let domain = |dom: Dom| self.image.tables.get::<system::Domain>(dom as usize);
        let area = |dom: Dom, name| self.image.area(dom as usize, name).expect("an area");
        match place {
            Place::Initial(dom) => domain(dom).data_base,
            Place::Zeroed(dom) => domain(dom).data_base + domain(dom).data_bytes,
            Place::Info(dom) => domain(dom).info,
            Place::Lent(_) => area(Dom::Client, "lent"),
            Place::Heap(_) => area(Dom::Client, "heap"),
            Place::Device => area(Dom::Driver, "uart0"),
            // Any of them will do, because nothing permits accesses to it.
            Place::Core => self.places().core,
            Place::Pool(_) => self.places().window.unwrap_or_else(|| self.image.tables.get::<system::Frames>(0).base),
            _ => 0,
        }
    }

    fn start(&self) -> u64 {
        self.start
    }

    fn given(&self) -> [u32; 4] {
        self.given
    }
}

impl<'a, K: Hardware> Player<'a, K> {
    pub fn new(image: &'a Image, row: &'static Row) -> Self {
        let tables: System<'static> = image.tables;
        K::begin();
        let mut processor =
            Machine::<K> { now: BOOT, shortest: (SHORTEST_US * ticks_per_us(image)).into(), ..Machine::default() };
        for domain in tables.all::<system::Domain>() {
            processor.memory.extend(image.bytes(domain.data_source, domain.data_bytes));
            // Only the program's linker knows where its initialised word is, so here it is the
            // first.
            let initial = (domain.data_source..).zip(INITIAL.to_le_bytes());
            processor.memory.extend(initial);
        }
        let mut kernel = boot_tables(tables, (0x1000_0000, 0x10_0000), processor).expect("a kernel");
        kernel.start();
        let thread = |entry: system::Thread| {
            let actor = (entry.domain != Dom::Lead as u32).then(|| Actor::of_thread(entry.argument)).flatten();
            Thread { domain: entry.domain as usize, actor, life: 0, levels: vec![Level::new(actor, [0; 4])] }
        };
        let threads = tables.all::<system::Thread>().map(thread).collect();
        let start = BOOT + u64::from((PERIOD_US + START_US) * ticks_per_us(image));
        Player { image, row, kernel, threads, records: [Record::default(); ACTORS], start, line: false }
    }

    pub fn play(mut self) -> Result<(), Shortfall> {
        let end = self.start + u64::from(LENGTH_US * ticks_per_us(self.image));
        let step = u64::from(STEP_US * ticks_per_us(self.image));
        while self.kernel.arch.now < end {
            self.interrupt();
            let current = self.kernel.current();
            if current == NOBODY {
                let timer = self.kernel.arch.timer.expect("the timer is always armed").min(end);
                self.kernel.passes(timer.saturating_sub(self.kernel.arch.now).max(1));
                continue;
            }
            self.settle(current);
            self.go_on(current);
            self.kernel.passes(step);
        }
        let mut faults = [0; DOMAINS];
        for (index, fault) in faults.iter_mut().enumerate() {
            *fault = u32::from(self.kernel.domain(index as u8).fault.kind);
        }
        let outcome = verdict(self.row, &self.records, &faults);
        release(self.kernel);
        outcome
    }

    /// The driver's line interrupts while it is active and not masked.
    fn interrupt(&mut self) {
        let line = self.image.tables.get::<system::Interrupt>(0).line;
        if self.line && self.kernel.arch.masked.get(&line) == Some(&false) {
            self.kernel.interrupts(line);
        }
    }

    /// Levels that the kernel has ended are over; a restarted domain's threads begin again.
    fn settle(&mut self, index: u8) {
        let (depth, thread) = (self.kernel.depth(index), &mut self.threads[usize::from(index)]);
        let life = self.kernel.domain(thread.domain as u8).restarts;
        if depth == 0 && life != thread.life {
            thread.life = life;
            thread.levels = vec![Level::new(thread.actor, [0; 4])];
        }
        thread.levels.truncate(depth + 1);
        if thread.levels.len() == depth {
            let level = self.kernel.activation(index);
            let given = level.context.start.expect("a callee that starts").args;
            thread.levels.push(Level::new(Actor::of_gate(level.number), given));
        }
    }

    fn view(&self, index: u8) -> View<'a> {
        let thread = &self.threads[usize::from(index)];
        let level = thread.levels.last().expect("a level");
        let domain = if thread.levels.len() > 1 { usize::from(self.kernel.here()) } else { thread.domain };
        View { image: self.image, domain, start: self.start, given: level.given }
    }

    fn level(&mut self, index: u8) -> &mut Level {
        self.threads[usize::from(index)].levels.last_mut().expect("a level")
    }

    fn ask(&mut self, index: u8, number: u32, args: [u32; 4], again: bool) {
        self.level(index).doing = Doing::Asked(number, args, again);
        self.kernel.asks(number, args);
    }

    fn go_on(&mut self, index: u8) {
        let doing = self.level(index).doing;
        match doing {
            Doing::Nothing => self.next(index),
            Doing::Spins(until) if self.kernel.arch.now >= until => self.seen(index, Seen::Nothing),
            Doing::Spins(_) => {}
            Doing::Asked(number, args, again) => match self.kernel.context(index).response {
                Some((status, _)) if again && status == Error::Again.status() => self.ask(index, number, args, again),
                Some((status, values)) => self.seen(index, Seen::Told(status, values)),
                None => self.ask(index, number, args, again),
            },
        }
    }

    fn seen(&mut self, index: u8, seen: Seen) {
        let view = self.view(index);
        let level = self.level(index);
        level.doing = Doing::Nothing;
        let (Some(actor), Some(part)) = (level.actor, level.part) else { return };
        let Some(step) = part.steps.get(level.next) else { return };
        level.next += 1;
        self.records[actor as usize].note(step.judge(&view, seen));
    }

    /// The next step of whoever runs.
    fn next(&mut self, index: u8) {
        let in_gate = self.threads[usize::from(index)].levels.len() > 1;
        let start = self.start;
        let level = *self.level(index);
        let sleep = |until: u64| [until as u32, (until >> 32) as u32, 0, 0];
        let Some(actor) = level.actor else {
            return self.ask(index, Call::SleepUntil as u32, sleep(NEVER), false);
        };
        if !level.begun {
            self.level(index).begun = true;
            if !in_gate && self.kernel.arch.now < start {
                return self.ask(index, Call::SleepUntil as u32, sleep(start), false);
            }
        }
        if level.part.is_none() && level.next == 0 {
            let life = self.records[actor as usize].begin();
            let part = self.row.part(actor, life);
            let level = self.level(index);
            (level.part, level.next) = (part, usize::from(part.is_none()));
            return;
        }
        match level.part.and_then(|part| part.steps.get(level.next)) {
            Some(step) => {
                let action = step.action(&self.view(index));
                self.act(index, action);
            }
            None if in_gate => {
                let (status, value) = level.answer;
                self.ask(index, Call::GateReturn as u32, [status, value, 0, 0], false);
            }
            None => self.ask(index, Call::SleepUntil as u32, sleep(NEVER), false),
        }
    }

    fn act(&mut self, index: u8, action: Action) {
        match action {
            Action::Call(number, args, again) => self.ask(index, number, args, again),
            Action::Load(address) => {
                if let Access::Allowed(at) = machine::access(&mut self.kernel, address, AccessKind::Read) {
                    let word = machine::load(&self.kernel, self.image, at);
                    self.seen(index, Seen::Word(word));
                }
            }
            Action::Store(address, word) => {
                if let Access::Allowed(at) = machine::access(&mut self.kernel, address, AccessKind::Write) {
                    machine::store(&mut self.kernel, at, word);
                    self.seen(index, Seen::Nothing);
                }
            }
            Action::Jump(address) => {
                if let Access::Allowed(_) = machine::access(&mut self.kernel, address, AccessKind::Exec) {
                    self.seen(index, Seen::Nothing);
                }
            }
            Action::Spin(ticks) => {
                let until = self.kernel.arch.now + u64::from(ticks);
                self.level(index).doing = Doing::Spins(until);
            }
            Action::Clock => {
                let now = self.kernel.arch.now;
                self.seen(index, Seen::Time(now));
            }
            Action::Word(word) => self.seen(index, Seen::Word(word)),
            Action::Device(base, active) => {
                if let Access::Allowed(_) = machine::access(&mut self.kernel, base, AccessKind::Write) {
                    self.line = active;
                    self.seen(index, Seen::Nothing);
                }
            }
            Action::Undefined => self.kernel.on_fault(Fault::Usage, VirtAddr(0), VirtAddr(0)),
            Action::Overflow => self.kernel.on_fault(Fault::Stack, VirtAddr(0), VirtAddr(0)),
            Action::Return(status, value) => {
                self.level(index).answer = (status, value);
                self.seen(index, Seen::Nothing);
            }
        }
    }
}
