//! Random domains: calls with random and boundary arguments, faults, interrupts, misses and time, in a random order that a
//! seed determines. `COFFERDAM_FUZZ_STEPS` sets the number of steps.

use std::panic::{AssertUnwindSafe, catch_unwind};

use abi::trace::Fault;
use abi::{Call, Error};

use super::rich::{DOMAINS, SLOTS, budget, data, domain, gate, line, rich, word};
use super::sim::{Sim, boot_with};
use super::watch::Watch;
use crate::{Kernel, NOBODY};

/// Steps of a normal test run.
const STEPS: u64 = 120_000;
/// Steps between one start of the system and the next.
const STEPS_PER_SYSTEM: u64 = 400;

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// Any word, with a preference for those at the edges.
    fn word(&mut self) -> u32 {
        match self.below(6) {
            0 => [0, 1, 2, 7, 8, 31, 32, 63, 64, 65, 127, 255, 256, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX]
                [self.below(17) as usize],
            1 => self.below(u64::from(SLOTS) + 2) as u32,
            2 => data(self.below(u64::from(DOMAINS)) as u32) + self.below(0x1100) as u32,
            3 => 0x6000_0000 + self.below(0x4100) as u32,
            4 => 1 << self.below(32),
            _ => self.next() as u32,
        }
    }

    /// A handle, mostly of the kind that `of` gives.
    fn handle(&mut self, of: fn(u32) -> u32, count: u64) -> u32 {
        if self.one_in(12) { self.word() } else { of(self.below(count) as u32) }
    }
}

/// A call with arguments that often make sense.
fn request(random: &mut Random, now: u64) -> (u32, [u32; 4]) {
    let [a, b, c, d] = [random.word(), random.word(), random.word(), random.word()];
    let call = match random.below(26) {
        0 => (Call::Yield, [a, b, c, d]),
        1..=5 => (Call::GateCall, [random.handle(gate, 4), b, c, d]),
        6..=9 => (Call::GateReturn, [a, b, c, d]),
        10 => (Call::Wait, [random.handle(word, 4), b, c, d]),
        11 => (Call::Signal, [random.handle(word, 4), b, c, d]),
        12 => (Call::Poll, [random.handle(word, 4), b, c, d]),
        13 | 14 => {
            let at = now.wrapping_add(random.below(20_000)).wrapping_sub(200);
            let high = if random.one_in(40) { d } else { (at >> 32) as u32 };
            (Call::SleepUntil, [at as u32, high, c, d])
        }
        15 => (Call::WaitPeriod, [a, b, c, d]),
        16 => {
            let [one, other] = [0, 1].map(|_| data(random.below(u64::from(DOMAINS)) as u32));
            let call = if random.one_in(2) { Call::GateCopyIn } else { Call::GateCopyOut };
            (call, [one + random.below(64) as u32, other + random.below(64) as u32, random.below(70) as u32, d])
        }
        17 => (Call::InterruptAck, [random.handle(line, 2), b, c, d]),
        18 => (Call::BudgetQuery, [random.handle(budget, 4), b, c, d]),
        19 if random.one_in(4) => (Call::DomainStop, [random.handle(domain, 4), b, c, d]),
        19..=21 => (Call::DomainRestart, [random.handle(domain, 4), b, c, d]),
        22 => (Call::CapCopy, [a % SLOTS, 18 + b % 8, c % 9, d]),
        23 => (Call::CapGrant, [random.handle(domain, 4), b % SLOTS, 18 + c % 8, d % 9]),
        24 if random.one_in(6) => (Call::Revoke, [a % SLOTS, b, c, d]),
        24 => (Call::CapDelete, [18 + a % 8, b, c, d]),
        _ => return (random.below(30) as u32, [a, b, c, d]),
    };
    if call.0 == Call::Exit && !random.one_in(8) {
        return (Call::Yield as u32, [a, b, c, d]);
    }
    (call.0 as u32, call.1)
}

/// The running thread asks for something, in one of several moods.
fn ask(random: &mut Random, kernel: &mut Kernel<Sim>) {
    if random.one_in(30) {
        // A supervisor does its work to the end, if it can.
        let handle = domain(random.below(u64::from(DOMAINS)) as u32);
        kernel.asks(Call::DomainRestart as u32, [handle, 0, 0, 0]);
        return;
    }
    let (number, args) = request(random, kernel.arch.now);
    let number = if number == Call::Exit as u32 && !random.one_in(20) { 12 } else { number };
    kernel.asks(number, args);
}

fn step(random: &mut Random, kernel: &mut Kernel<Sim>, watch: &mut Watch) {
    let ran = if kernel.running().is_some() { kernel.here() } else { NOBODY };
    kernel.arch.long_way = random.one_in(3);
    match random.below(40) {
        0..=27 if ran != NOBODY => ask(random, kernel),
        28 if ran != NOBODY => {
            let fault = Fault::from_number(1 + random.below(7) as u8).unwrap();
            kernel.on_fault(fault, random.word(), random.word());
        }
        29 | 30 if ran != NOBODY => {
            kernel.on_miss(0x6000_0000 + u32::from(ran) * 0x1000 + random.below(0x1100) as u32);
        }
        31 | 32 => {
            let line = [3, 9, 77][random.below(3) as usize];
            if kernel.arch.masked.get(&line) == Some(&false) || line == 77 {
                kernel.on_interrupt(line);
            }
        }
        33 => watch.passes(kernel, random.below(30_000)),
        34 if random.one_in(200) => watch.passes(kernel, random.below(1 << 25)),
        _ => watch.passes(kernel, random.below(400)),
    }
    watch.check(kernel, ran);
}

/// Drives whoever runs to restart a domain that is stopped, so that systems do not just die out.
fn revive(random: &mut Random, kernel: &mut Kernel<Sim>, watch: &mut Watch) {
    if kernel.running().is_none() || kernel.top().outer.is_some() || kernel.here() != 0 {
        return;
    }
    let handle = domain(1 + random.below(u64::from(DOMAINS) - 1) as u32);
    for _ in 0..120 {
        if kernel.current() == NOBODY || kernel.here() != 0 {
            return;
        }
        let told = kernel.asks(Call::DomainRestart as u32, [handle, 0, 0, 0]);
        watch.check(kernel, 0);
        if told != Some((Error::Again.status(), [0; 2])) {
            return;
        }
    }
}

fn system(seed: u64, shortest: u64, steps: u64) {
    let mut random = Random(seed);
    let start = if random.one_in(3) { u64::from(u32::MAX) - random.below(100_000) } else { random.below(5_000) };
    let mut kernel = boot_with(&rich(), Sim { now: start, shortest, ..Sim::default() });
    let mut watch = Watch::new(&kernel);
    watch.check(&mut kernel, NOBODY);
    for _ in 0..steps {
        step(&mut random, &mut kernel, &mut watch);
        if random.one_in(25) {
            revive(&mut random, &mut kernel, &mut watch);
        }
    }
}

#[test]
fn random_domains_break_nothing() {
    let steps = std::env::var("COFFERDAM_FUZZ_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    let first = std::env::var("COFFERDAM_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for round in 0..steps / STEPS_PER_SYSTEM {
        let seed = first + round;
        let shortest = if seed.is_multiple_of(3) { 0 } else { 250 };
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let run = catch_unwind(AssertUnwindSafe(|| system(mixed, shortest, STEPS_PER_SYSTEM)));
        assert!(run.is_ok(), "COFFERDAM_FUZZ_SEED={seed} COFFERDAM_FUZZ_STEPS={STEPS_PER_SYSTEM} shows it");
    }
}
