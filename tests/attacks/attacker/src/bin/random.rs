//! Many random calls, as many as the file `calls` says: every call with arguments that often make sense and as often do not, in a gate and outside, by
//! a domain that has one capability of every kind. It only spares itself what would end it: blocking for good, and its exit.
//!
//! Names: gates `inner` (its own), `service`, `long`; notification `bell`; budget `mine`; domains `victim`, `self`; interrupt
//! `fired`; frames `pool`; file `calls`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use attacks::Random;
use attacks::marks::{CALLS, mark};
use attacks::order;
use cofferdam::abi::{self, Call, Error, Mapping};
use cofferdam::{Gate, Info, PAGES, Start, now, sys};
use repertoire::Chip;

cofferdam::entry!(main);
cofferdam::gate!(random_inner, inner);

const PER_MARK: u32 = 1000;
/// From the start of its memory to the pool.
const POOL_OFFSET: u32 = 0x20_0000;
/// Pages are mapped here, where the domain has nothing else.
const PAGES_BASE: u32 = 0x6020_0000;
const POOL_BYTES: u32 = 0x1_0000;
const PAGE: u32 = 4096;

/// Address of the pool of frames, or of its mapping page by page; known when the first thread has
/// begun.
static POOL: AtomicU32 = AtomicU32::new(0);
static SEED: AtomicU32 = AtomicU32::new(0x1234_5677);
static MADE: AtomicU32 = AtomicU32::new(0);
/// Memory that calls may write: whatever is copied to an address that [`word`] draws in it ends in it.
static SCRATCH: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
const _: () = assert!(140 + abi::COPY_MAX_BYTES as usize <= 4 * 64);

fn main(start: Start) -> u32 {
    // Another life goes another way.
    SEED.store(0x1234_5677 ^ start.restarts.wrapping_mul(0x9e37_79b9) | 1, Ordering::Relaxed);
    let mut random = Random(SEED.load(Ordering::Relaxed));
    let (Some(own), Some(total)) = (Gate::named(start.info, "inner"), order::number(start.info, "calls")) else {
        return 2;
    };
    let Some(chip) = Chip::find(start.info) else { return 3 };
    POOL.store(if PAGES { PAGES_BASE } else { chip.foreign.heaps + POOL_OFFSET }, Ordering::Relaxed);
    // The calls of earlier lives are in the trace; each life makes its share and is content.
    while MADE.load(Ordering::Relaxed) < total {
        if random.below(8) == 0 {
            SEED.store(random.next() | 1, Ordering::Relaxed);
            let _ = own.call(random.next(), random.next(), SCRATCH.as_ptr() as u32);
            count();
        } else {
            perform(&mut random, start.info, false);
        }
    }
    0
}

fn count() {
    let made = MADE.load(Ordering::Relaxed) + 1;
    MADE.store(made, Ordering::Relaxed);
    if made.is_multiple_of(PER_MARK) {
        mark(CALLS, PER_MARK);
    }
}

/// In the gate: a few more.
fn inner(_badge: u32, _a: u32, _b: u32, _c: u32) -> Result<u32, Error> {
    let Some(info) = cofferdam::info() else { return Ok(0) };
    let mut random = Random(SEED.load(Ordering::Relaxed));
    for _ in 0..random.below(4) {
        perform(&mut random, info, true);
    }
    Ok(random.next())
}

fn pool_base() -> u32 {
    POOL.load(Ordering::Relaxed)
}

fn word(random: &mut Random) -> u32 {
    const EDGES: [u32; 12] = [0, 1, 31, 32, 63, 64, 65, 255, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX];
    match random.below(6) {
        0 | 1 => EDGES[random.below(12) as usize],
        2 => SCRATCH.as_ptr() as u32 + random.below(140),
        3 => pool_base() + 32 * random.below(POOL_BYTES / 32 + 2),
        4 => 1 << random.below(32),
        _ => random.next(),
    }
}

/// A handle that names something, mostly.
fn handle(random: &mut Random, info: Info) -> u32 {
    if random.below(6) == 0 {
        return word(random);
    }
    let count = info.caps().count() as u32;
    info.caps().nth(random.below(count) as usize).map_or(0, |(_, cap)| cap.slot)
}

fn perform(random: &mut Random, info: Info, in_gate: bool) {
    let number = random.below(abi::CALLS.len() as u32 + 1);
    let first = if random.below(5) == 0 { word(random) } else { handle(random, info) };
    let mut args = [first, word(random), word(random), word(random)];
    match Call::from_number(number) {
        Some(Call::Exit | Call::GateReturn) if !in_gate => args[0] = 0,
        Some(Call::SleepUntil) => {
            let time = now() + u64::from(random.below(2000));
            args[..2].copy_from_slice(&[time as u32, (time >> 32) as u32]);
        }
        // A gate's own frame must survive what is copied in.
        Some(Call::GateCopyIn) if random.below(8) != 0 => args[0] = SCRATCH.as_ptr() as u32 + random.below(100),
        Some(Call::FramesMap | Call::FramesUnmap) if random.below(4) != 0 => map(random, info, &mut args),
        Some(call @ (Call::FramesRetype | Call::FramesClean | Call::NodesGive)) if PAGES && random.below(4) != 0 => {
            frames(call, random, info, &mut args);
        }
        // Not to be taken for the number of calls made.
        Some(Call::Mark) => args[0] |= 0x4000,
        Some(Call::CapDelete) => args[0] = 20 + random.below(14),
        Some(Call::CapCopy) if random.below(2) == 0 => args[1] = 20 + random.below(14),
        _ => {}
    }
    if may_end_me(number, args, info, in_gate) {
        return;
    }
    // SAFETY: what the call may write is this domain's own, and nothing that is written is relied upon.
    let (status, _, _) = unsafe { sys::any(number, args) };
    count();
    if PAGES
        && number == Call::FramesMap as u32
        && status == 0
        && u32::from(Mapping::of(args).target) == slot(info, "self", abi::Kind::Domain)
    {
        // SAFETY: just mapped, and readable; what a TLB holds of it is what later calls are to take out.
        unsafe { (Mapping::of(args).at as *const u32).read_volatile() };
    }
}

fn slot(info: Info, name: &str, kind: abi::Kind) -> u32 {
    info.cap(name, kind).map_or(u32::MAX, |cap| cap.slot)
}

/// Pages of the pool become memory to map, are cleared, or become tables: a few, because what is given is the kernel's for good.
fn frames(call: Call, random: &mut Random, info: Info, args: &mut [u32; 4]) {
    let pool = slot(info, "pool", abi::Kind::Frames);
    let page = PAGE * random.below(POOL_BYTES / PAGE);
    let own = slot(info, "self", abi::Kind::Domain);
    *args = if call == Call::NodesGive { [own, pool, 1024 * random.below(8), 1024] } else { [pool, page, PAGE, 0] };
}

/// Some memory of the pool for this domain: a few pages, or a power of two, or a run of its eighths.
fn map(random: &mut Random, info: Info, args: &mut [u32; 4]) {
    let (target, frames) = (slot(info, "self", abi::Kind::Domain) as u16, slot(info, "pool", abi::Kind::Frames) as u16);
    let access = 1 | random.below(32);
    let (offset, bytes) = if PAGES {
        (PAGE * random.below(POOL_BYTES / PAGE), PAGE * (1 + random.below(3)))
    } else {
        let log2 = 8 + random.below(8);
        let (eighth, first) = (1 << (log2 - 3), random.below(8));
        let base = random.below(POOL_BYTES) & !((1 << log2) - 1);
        if random.below(2) == 0 {
            (base, 1 << log2)
        } else {
            (base + first * eighth, (1 + random.below(8 - first)) * eighth)
        }
    };
    *args = Mapping { target, frames, at: pool_base() + offset, access, offset, bytes }.words();
}

/// Waiting for what nobody will signal, and the ends of threads.
fn may_end_me(number: u32, args: [u32; 4], info: Info, in_gate: bool) -> bool {
    match Call::from_number(number) {
        Some(Call::Exit | Call::GateReturn) => !in_gate || number == Call::GateReturn as u32,
        Some(Call::DomainStop) => is_own_domain(args[0], info),
        Some(Call::Wait) => !in_gate && sys::signal(args[0], u32::MAX) == Err(Error::NoRight),
        _ => false,
    }
}

/// Whether a handle names this domain, or is a copy that may do so.
fn is_own_domain(handle: u32, info: Info) -> bool {
    let victim = info.cap("victim", abi::Kind::Domain).map(|cap| cap.slot);
    Some(handle) != victim && sys::fault_next(handle).is_ok()
}
