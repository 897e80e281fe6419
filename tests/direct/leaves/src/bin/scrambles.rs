//! Handlers that write random values into random registers of their state, and to what is pending there: a few at each interrupt, each life with numbers of its own.
//!
//! Left out are STIR, by which the emulator pends more than a chip does (`triggers.rs`), and the counter, which has attacks of its own.
//!
//! Names: device `timer1`, interrupts `fired` and `second` (handlers of the same names). Argument: the seed. Each life ends in a fault, the handlers' or the thread's own.
//! Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Start, handlers, now, sys};
use direct_leaves::{get, put};

/// Words that can be written: a handler finds no constants.
const fn words<const N: usize>(from: [u32; N]) -> [AtomicU32; N] {
    let mut all = [const { AtomicU32::new(0) }; N];
    let mut at = 0;
    while at < N {
        all[at] = AtomicU32::new(from[at]);
        at += 1;
    }
    all
}

const VTOR: u32 = 0xe000_ed08;
const AIRCR: u32 = 0xe000_ed0c;
const KEY: u32 = 0x05fa_0000;

/// Registers that a handler can write (DDI 0553 D1.2).
static REGISTERS: [AtomicU32; 52] = words([
    // SysTick. The interrupt controller, for the lines of both handlers: enabled or not, pending or not, priorities. ICSR, AIRCR, SHPR1 to SHPR3, SHCSR.
    0xe000_e010,
    0xe000_e014,
    0xe000_e018,
    0xe000_e100,
    0xe000_e104,
    0xe000_e180,
    0xe000_e184,
    0xe000_e200,
    0xe000_e204,
    0xe000_e204,
    0xe000_e280,
    0xe000_e284,
    0xe000_e404,
    0xe000_e420,
    0xe000_ed04,
    0xe000_ed04,
    AIRCR,
    0xe000_ed18,
    0xe000_ed1c,
    0xe000_ed20,
    0xe000_ed24,
    0xe000_ed24,
    // ACTLR, CPPWR; VTOR, SCR, CCR.
    0xe000_e008,
    0xe000_e00c,
    VTOR,
    0xe000_ed10,
    0xe000_ed14,
    // CFSR, HFSR, DFSR, MMFAR, BFAR, AFSR; CSSELR, CPACR, NSACR.
    0xe000_ed28,
    0xe000_ed2c,
    0xe000_ed30,
    0xe000_ed34,
    0xe000_ed38,
    0xe000_ed3c,
    0xe000_ed84,
    0xe000_ed88,
    0xe000_ed8c,
    // The region registers, the aliases of two of them, and attributes.
    0xe000_ed94,
    0xe000_ed94,
    0xe000_ed94,
    0xe000_ed98,
    0xe000_ed9c,
    0xe000_eda0,
    0xe000_eda0,
    0xe000_eda4,
    0xe000_eda8,
    0xe000_edac,
    0xe000_edb0,
    0xe000_edc0,
    0xe000_edc4,
    // FPCCR, FPCAR, FPDSCR.
    0xe000_ef34,
    0xe000_ef38,
    0xe000_ef3c,
]);
/// Those that no address has.
const SPECIAL: u32 = 8;
const ALL: u32 = REGISTERS.len() as u32 + SPECIAL;
/// The first of them, which say what is pending or active, and what comes first.
const PENDING: u32 = 22;

static TIMER: AtomicU32 = AtomicU32::new(0);
static SEED: AtomicU32 = AtomicU32::new(0);
/// How often handlers have come.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Whether the life has vectors of its own: all lead to the first handler.
static OWN: AtomicU32 = AtomicU32::new(0);
/// So many of the registers are written in this life.
static MOST: AtomicU32 = AtomicU32::new(0);
static TABLE: Vectors = Vectors([const { AtomicU32::new(0) }; 64]);

#[repr(C, align(256))]
struct Vectors([AtomicU32; 64]);

/// Of the thread: it computes, calls the kernel, or sleeps.
const PLACES: u32 = 3;
/// Ticks until a look has come for certain, and until handlers have a capacity again.
const LOOK: u64 = 4_400;
const PERIOD: u64 = 44_000;

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);
cofferdam::handler!(second, scramble);

/// The next number (Marsaglia's xorshift). Another handler may come in between: each has its own then.
#[inline(always)]
fn random() -> u32 {
    let mut word = SEED.load(Relaxed);
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    SEED.store(word, Relaxed);
    word
}

/// A value: any, few bits of one, one bit, none, all, or an address of its own.
#[inline(always)]
fn value() -> u32 {
    let (word, kind) = (random(), random() >> 8 & 7);
    match kind {
        0 | 1 => word,
        2 => word & random() & random(),
        3 => 1 << (word & 31),
        4 => word & 15,
        5 => 0,
        6 => !0,
        _ => (&raw const TABLE) as u32 | word & 31,
    }
}

/// CONTROL, PRIMASK, BASEPRI, FAULTMASK, MSPLIM, PSP, PSPLIM.
#[inline(always)]
fn set_special(number: u32, value: u32) {
    // SAFETY: whatever comes of it is to be found.
    unsafe {
        match number {
            0 | 1 => asm!("msr control, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            2 => asm!("msr primask, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            3 => asm!("msr basepri, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            4 => asm!("msr faultmask, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            5 => asm!("msr msplim, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            6 => asm!("msr psp, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
            _ => asm!("msr psplim, {0}", in(reg) value, options(nomem, nostack, preserves_flags)),
        }
        asm!("dsb", "isb", options(nostack, preserves_flags));
    }
}

/// One to eight writes, each followed by accesses to its statics.
#[inline(always)]
fn scramble() {
    let most = random() >> 8 & 7;
    let mut done = 0;
    while done <= most {
        done += 1;
        let place = ((random() & 0xffff) * MOST.load(Relaxed)) >> 16;
        let value = value();
        match REGISTERS.get(place as usize).map(|register| register.load(Relaxed)) {
            Some(AIRCR) => put(AIRCR, KEY | value & 0xffff),
            Some(register) => put(register, value),
            None => set_special(place - REGISTERS.len() as u32, value),
        }
    }
    if random() & 0x700 == 0 {
        handlers::wake();
    }
}

fn serve() {
    put(TIMER.load(Relaxed) + 0xc, 1);
    let count = COUNT.load(Relaxed);
    COUNT.store(count + 1, Relaxed);
    if count == 0 && OWN.load(Relaxed) != 0 {
        // What its line has at first: exception 16 + 4.
        let own = get(get(VTOR) + 4 * 20);
        for word in &TABLE.0 {
            word.store(own, Relaxed);
        }
        put(VTOR, (&raw const TABLE) as u32);
    }
    scramble();
}

/// Until then the thread does what is its part in this life.
fn pass(until: u64, place: u32) {
    while now() < until {
        match place {
            0 => {
                for _ in 0..1_000 {
                    // SAFETY: does nothing.
                    unsafe { asm!("nop", options(nomem, nostack)) };
                }
            }
            1 => {}
            _ => {
                let _ = sys::sleep_until(until);
            }
        }
    }
}

fn main(start: Start) -> u32 {
    let (Some(timer), Some(line), Some(other)) =
        (start.info.area("timer1"), Interrupt::named(start.info, "fired"), Interrupt::named(start.info, "second"))
    else {
        return 1;
    };
    let life = start.restarts;
    TIMER.store(timer.base, Relaxed);
    SEED.store((start.argument ^ life.wrapping_mul(0x9e37_79b1)) | 1, Relaxed);
    let (place, rest, looks) = (life % PLACES, life / PLACES, 1 + random() % 6);
    OWN.store(rest & 1, Relaxed);
    MOST.store(if rest & 2 == 0 { ALL } else { PENDING }, Relaxed);
    put(timer.base, 0);
    put(timer.base + 0xc, 1);
    // Every 23 us, and from a phase of its own: no multiple of anything that the kernel does.
    put(timer.base + 0x8, 461);
    put(timer.base + 0x4, 461 + 7 * (life % 64));
    if line.ack().is_err() || other.ack().is_err() {
        return 2;
    }
    put(timer.base, 9);
    let begin = now();
    while COUNT.load(Relaxed) == 0 && now() < begin + PERIOD {
        pass(now() + 400, place);
    }
    pass(now() + u64::from(looks) * LOOK, place);
    undefined()
}
