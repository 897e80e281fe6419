//! Random domains: calls with random and boundary arguments, faults, interrupts, misses and time, in a random order that a
//! seed determines, or the bytes that a fuzzer has found (`fuzz/`). `COFFERDAM_FUZZ_CALLS` sets the number of calls,
//! `COFFERDAM_FUZZ_SEED` where to begin.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use abi::trace::Fault;
use abi::{Call, Error};
use memory::frames::Purpose;

use super::rich::{DOMAINS, POOL_BASE, POOL_BYTES, SLOTS, budget, data, domain, gate, line, pool, rich, word};
use protect::pmsav8::Pmsav8;

use super::sim::{Direct, Guard, Handlers, Machine, Pager, Part, Registers, Rtmmu, Sv32, boot_with, release};
use super::watch::Watch;
use crate::arch::Protection;
use crate::{Kernel, NOBODY};
use units::{Bytes, PhysAddr, VirtAddr};

/// System calls of a normal test run; `tests/suites` asks for a million of an optimised build.
const CALLS: u64 = 20_000;
/// Calls among which each must have been taken at least once.
const MANY: u64 = 200_000;
/// Steps between one start of the system and the next.
const STEPS_PER_SYSTEM: u64 = 400;

enum Random<'a> {
    /// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
    Seed(u64),
    /// Bytes that a fuzzer has chosen; zeros behind their end.
    Bytes(core::slice::Iter<'a, u8>),
}

impl Random<'_> {
    fn next(&mut self) -> u64 {
        match self {
            Random::Seed(state) => {
                *state ^= *state >> 12;
                *state ^= *state << 25;
                *state ^= *state >> 27;
                state.wrapping_mul(0x2545_f491_4f6c_dd1d)
            }
            Random::Bytes(bytes) => (0..4).fold(0, |word, _| word << 8 | u64::from(bytes.next().copied().unwrap_or(0))),
        }
    }

    /// Returns true if there is nothing left to choose with.
    fn is_spent(&self) -> bool {
        matches!(self, Random::Bytes(bytes) if bytes.len() == 0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        match self {
            Random::Seed(_) => (self.next() >> 33) % limit,
            // One byte for a small choice, so that a fuzzer's changes stay local.
            Random::Bytes(bytes) if limit <= 256 => u64::from(bytes.next().copied().unwrap_or(0)) % limit,
            Random::Bytes(_) => self.next() % limit,
        }
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// Any word, but often one at the edges, because errors are found there.
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
fn request<K: Guard>(random: &mut Random, now: u64, here: u32, achieved: &Achieved) -> (u32, [u32; 4]) {
    let [a, b, c, d] = [random.word(), random.word(), random.word(), random.word()];
    let call = match random.below(31) {
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
            let one = if random.one_in(4) { one } else { data(here) };
            let call = if random.one_in(2) { Call::GateCopyIn } else { Call::GateCopyOut };
            let (dst, src) = if call == Call::GateCopyIn { (one, other) } else { (other, one) };
            (call, [dst + random.below(64) as u32, src + random.below(64) as u32, random.below(70) as u32, d])
        }
        17 if random.one_in(4) => (Call::Occupy, [random.handle(domain, 4), b, c, d]),
        17 => (Call::InterruptAck, [random.handle(line, 2), b, c, d]),
        18 if random.one_in(3) => (Call::FaultNext, [random.handle(domain, 4), b, c, d]),
        18 => (Call::BudgetQuery, [random.handle(budget, 4), b, c, d]),
        19 if random.one_in(4) => (Call::DomainStop, [random.handle(domain, 4), b, c, d]),
        19..=21 => (Call::DomainRestart, [random.handle(domain, 4), b, c, d]),
        22 => (Call::CapCopy, [a % SLOTS, 18 + b % 8, c % 9, d]),
        23 => (Call::CapGrant, [random.handle(domain, 4), b % SLOTS, 18 + c % 8, d % 9]),
        24 if random.one_in(6) => (Call::Revoke, [a % SLOTS, b, c, d]),
        24 => (Call::CapDelete, [18 + a % 8, b, c, d]),
        25..=29 => return achieved.request::<K>(random),
        _ => return (random.below(30) as u32, [a, b, c, d]),
    };
    if call.0 == Call::Exit && !random.one_in(8) {
        return (Call::Yield as u32, [a, b, c, d]);
    }
    (call.0 as u32, call.1)
}

/// Typings and mappings that a system's domains have achieved: without a record of them, hardly any
/// mapping would ever be ended.
#[derive(Default)]
struct Achieved {
    /// Offset and bytes of parts that were retyped.
    typed: Vec<(u32, u32)>,
    mapped: Vec<[u32; 4]>,
}

impl Achieved {
    /// Nothing; or the pool is typed already, so that there is more to map.
    fn begun<K: Guard>(random: &mut Random, kernel: &mut Kernel<Machine<K>>) -> Achieved {
        let mut achieved = Achieved::default();
        if random.one_in(2) {
            let all = units::PhysRange::at(PhysAddr(POOL_BASE), Bytes(POOL_BYTES));
            kernel.frames.retype(all, Purpose::Shared).unwrap();
            achieved.typed = (0..POOL_BYTES / 0x1000).map(|page| (page * 0x1000, 0x1000)).collect();
        }
        achieved
    }

    fn note(&mut self, number: u32, args: [u32; 4]) {
        match Call::from_number(number) {
            Some(Call::FramesRetype) => self.typed.push((args[1], args[2])),
            Some(Call::FramesMap) => self.mapped.push(args),
            Some(Call::FramesUnmap) => self.mapped.retain(|mapping| *mapping != args),
            _ => {}
        }
    }

    /// A call about memory, mostly near the untyped frames.
    fn request<K: Guard>(&self, random: &mut Random) -> (u32, [u32; 4]) {
        let frames = if random.one_in(6) { random.word() } else { pool(u32::from(random.one_in(8))) };
        let log2 = K::SMALLEST_LOG2 + random.below(u64::from(14 - K::SMALLEST_LOG2)) as u32;
        let bytes = if random.one_in(9) { random.word() } else { 1 << log2 };
        let offset = 32 * random.below(u64::from(POOL_BYTES) / 32 + 2) as u32;
        let offset = if random.one_in(9) { random.word() } else { offset & !bytes.wrapping_sub(1) };
        let call = match random.below(10) {
            0..=2 => (Call::FramesRetype, [frames, offset, bytes, 0]),
            3..=5 => (Call::FramesMap, self.mapping::<K>(random, frames)),
            6 | 7 => match self.mapped.len() {
                0 => (Call::FramesUnmap, self.mapping::<K>(random, frames)),
                count => (Call::FramesUnmap, self.mapped[random.below(count as u64) as usize]),
            },
            8 => (Call::FramesClean, [frames, offset, bytes, 0]),
            _ => (Call::NodesGive, [random.handle(domain, 4), frames, offset & !255, 512 << random.below(4)]),
        };
        (call.0 as u32, call.1)
    }

    /// A region in what was retyped, or anywhere.
    fn mapping<K: Guard>(&self, random: &mut Random, frames: u32) -> [u32; 4] {
        let access = [1, 3, 5, 9, 11, 3, 1, 15, 17, 19, 27][random.below(11) as usize];
        let target = random.handle(domain, 4) as u16;
        let known = self.typed.get(random.below(self.typed.len() as u64 + 1) as usize);
        let (offset, bytes) = known.copied().unwrap_or((random.below(u64::from(POOL_BYTES)) as u32, 0x100));
        let log2 = bytes.max(1).ilog2() + u32::from(random.one_in(8));
        let odd = if random.one_in(2) { 0 } else { random.below(256) as u32 };
        let Part { at, physical, bytes } = K::mapping(POOL_BASE.wrapping_add(offset), log2, odd);
        let offset = physical.wrapping_sub(POOL_BASE);
        abi::Mapping { target, frames: frames as u16, at, access, offset, bytes }.words()
    }
}

/// The running thread asks for something, in one of several moods.
fn ask<K: Guard>(random: &mut Random, kernel: &mut Kernel<Machine<K>>, achieved: &mut Achieved) {
    if random.one_in(30) {
        // A supervisor does its work to the end, if it can.
        let handle = domain(random.below(u64::from(DOMAINS)) as u32);
        kernel.asks(Call::DomainRestart as u32, [handle, 0, 0, 0]);
        return;
    }
    let (number, args) = request::<K>(random, kernel.arch.now, u32::from(kernel.here()), achieved);
    let context = kernel.top().context;
    // A thread goes on with a call that goes in steps, unless somebody has changed the stack.
    let again = context.again && !random.one_in(20);
    let (number, args) = if again { (context.request.number, context.request.args) } else { (number, args) };
    let number = if number == Call::Exit as u32 && !random.one_in(20) { 12 } else { number };
    if kernel.asks(number, args) == Some((0, [0; 2])) {
        achieved.note(number, args);
    }
}

fn step<K: Guard>(random: &mut Random, kernel: &mut Kernel<Machine<K>>, watch: &mut Watch, achieved: &mut Achieved) {
    let ran = if kernel.running().is_some() { kernel.here() } else { NOBODY };
    kernel.arch.long_way = kernel.arch.calls.is_multiple_of(3);
    kernel.arch.stepwise = !kernel.arch.calls.is_multiple_of(4);
    match random.below(40) {
        0..=27 if ran != NOBODY => ask(random, kernel, achieved),
        28 if ran != NOBODY => {
            let fault = Fault::from_number(1 + random.below(7) as u8).unwrap();
            kernel.on_fault(fault, VirtAddr(random.word()), VirtAddr(random.word()));
        }
        29 | 30 if ran != NOBODY => {
            K::touches(kernel, 0x6000_0000 + u32::from(ran) * 0x1000 + random.below(0x1100) as u32);
        }
        31 | 32 => {
            let line = [3, 9, 77][random.below(3) as usize];
            if kernel.arch.masked.get(&line) == Some(&false) || line == 77 {
                kernel.interrupts(line);
            }
        }
        33 => watch.passes(kernel, random.below(30_000)),
        34 if random.one_in(200) => watch.passes(kernel, random.below(1 << 25)),
        _ => watch.passes(kernel, random.below(400)),
    }
    watch.check(kernel, ran);
}

/// Drives whoever runs to restart a domain that is stopped, so that systems do not just die out.
fn revive<K: Guard>(random: &mut Random, kernel: &mut Kernel<Machine<K>>, watch: &mut Watch) {
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

/// Calls made, and of these not refused, by number.
#[derive(Default)]
struct Tally {
    calls: u64,
    taken: BTreeMap<u32, u64>,
}

fn system<K: Guard>(random: &mut Random, shortest: u64, steps: u64) -> Tally {
    let start = if random.one_in(3) { u64::from(u32::MAX) - random.below(100_000) } else { random.below(5_000) };
    let mut kernel = boot_with(
        &rich(),
        Machine::<K> {
            now: start,
            shortest,
            handlers: Handlers { of: &[1, 3], ..Handlers::default() },
            ..Machine::default()
        },
    );
    let mut watch = Watch::new(&kernel);
    let mut achieved = Achieved::begun(random, &mut kernel);
    watch.check(&mut kernel, NOBODY);
    for _ in 0..steps {
        if random.is_spent() {
            break;
        }
        step(random, &mut kernel, &mut watch, &mut achieved);
        if random.one_in(25) {
            revive(random, &mut kernel, &mut watch);
        }
    }
    let tally = Tally { calls: kernel.arch.calls, taken: std::mem::take(&mut kernel.arch.taken) };
    release(kernel);
    tally
}

/// Function that a fuzzer calls with the bytes that it has chosen.
pub fn drive(bytes: &[u8]) {
    let mut random = Random::Bytes(bytes.iter());
    let shortest = if random.one_in(3) { 0 } else { 250 };
    match random.below(4) {
        0 => drop(system::<Pager>(&mut random, shortest, u64::MAX)),
        1 => drop(system::<Registers<Pmsav8>>(&mut random, shortest, u64::MAX)),
        2 => drop(system::<Rtmmu>(&mut random, shortest, u64::MAX)),
        _ => drop(system::<Registers>(&mut random, shortest, u64::MAX)),
    }
}

#[test]
fn random_domains_break_nothing() {
    many::<Registers>(CALLS);
}

#[test]
fn random_domains_break_nothing_where_regions_have_any_length() {
    many::<Registers<Pmsav8>>(CALLS / 2);
}

#[test]
fn random_domains_break_nothing_where_there_are_page_tables() {
    // Walks of page tables are slow, so there are fewer calls.
    many::<Pager>(CALLS / 4);
}

#[test]
fn random_domains_break_nothing_where_there_are_spaces() {
    many::<Rtmmu>(CALLS / 2);
}

#[test]
fn random_domains_break_nothing_where_spaces_are_page_tables() {
    many::<Direct>(CALLS / 4);
    many::<Sv32>(CALLS / 4);
}

fn many<K: Guard>(calls: u64) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let (wanted, first): (u64, u64) =
        (asked("COFFERDAM_FUZZ_CALLS").unwrap_or(calls), asked("COFFERDAM_FUZZ_SEED").unwrap_or(1));
    let (mut all, mut seed) = (Tally::default(), first);
    while all.calls < wanted {
        let shortest = if seed.is_multiple_of(3) { 0 } else { 250 };
        let mut random = Random::Seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let run = catch_unwind(AssertUnwindSafe(|| system::<K>(&mut random, shortest, STEPS_PER_SYSTEM)));
        let Ok(made) = run else { panic!("COFFERDAM_FUZZ_SEED={seed} COFFERDAM_FUZZ_CALLS=1 shows it") };
        all.calls += made.calls;
        made.taken.into_iter().for_each(|(call, times)| *all.taken.entry(call).or_default() += times);
        seed += 1;
    }
    println!("{} random calls, {} systems", all.calls, seed - first);
    for call in abi::CALLS.iter() {
        let times = all.taken.get(&(call.call as u32)).copied().unwrap_or(0);
        println!("  {times} times {}", call.name);
        // Tables that have their size from the start take no gift, so that call is never taken.
        let never = call.call == Call::NodesGive && K::Protection::GIFT.least == u32::MAX;
        // No domain here has a demand area: `tests::demand` has.
        let never = never || matches!(call.call, Call::RegionMap | Call::RegionUnmap);
        assert!(wanted < MANY || never || times > 0, "{} was always refused: its insides were not tried", call.name);
    }
}

#[test]
fn bytes_of_a_fuzzer_drive_the_kernel() {
    let mut state = Random::Seed(7);
    let bytes: Vec<u8> = (0..4000).map(|_| state.next() as u8).collect();
    drive(&bytes);
    drive(&[]);
}
