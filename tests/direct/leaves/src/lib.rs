//! Registers of Non-secure state as handlers find them (DDI 0553 D1.2): what one can read, and what it writes for the next.
//!
//! Lists are statics that can be written: a handler finds no constants.
#![no_std]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

macro_rules! words {
    ($($word:expr),* $(,)?) => { [$(AtomicU32::new($word)),*] };
}

/// Registers that are read, each with the bits that count.
static READ: [AtomicU32; 92] = words![
    // ACTLR, CPPWR; SysTick.
    0xe000_e008,
    !0,
    0xe000_e00c,
    !0,
    0xe000_e010,
    !0,
    0xe000_e014,
    !0,
    0xe000_e018,
    !0,
    0xe000_e01c,
    !0,
    // ICSR without what is active, AIRCR, SCR, CCR, SHPR1 to SHPR3, SHCSR.
    0xe000_ed04,
    0xf600_0000,
    0xe000_ed0c,
    !0,
    0xe000_ed10,
    !0,
    0xe000_ed14,
    !0,
    0xe000_ed18,
    !0,
    0xe000_ed1c,
    !0,
    0xe000_ed20,
    !0,
    0xe000_ed24,
    !0,
    // CFSR, HFSR, DFSR, MMFAR, BFAR, AFSR.
    0xe000_ed28,
    !0,
    0xe000_ed2c,
    !0,
    0xe000_ed30,
    !0,
    0xe000_ed34,
    !0,
    0xe000_ed38,
    !0,
    0xe000_ed3c,
    !0,
    // CSSELR, CPACR, NSACR; MPU_TYPE, MPU_CTRL, MPU_RNR, MPU_MAIR0, MPU_MAIR1.
    0xe000_ed84,
    !0,
    0xe000_ed88,
    !0,
    0xe000_ed8c,
    !0,
    0xe000_ed90,
    !0,
    0xe000_ed94,
    !0,
    0xe000_ed98,
    !0,
    0xe000_edc0,
    !0,
    0xe000_edc4,
    !0,
    // SAU_CTRL, SAU_RNR, SFSR, SFAR; DHCSR, DCRDR, DEMCR.
    0xe000_edd0,
    !0,
    0xe000_edd8,
    !0,
    0xe000_ede4,
    !0,
    0xe000_ede8,
    !0,
    0xe000_edf0,
    !0,
    0xe000_edf8,
    !0,
    0xe000_edfc,
    !0,
    // FPCCR, FPCAR, FPDSCR.
    0xe000_ef34,
    !0,
    0xe000_ef38,
    !0,
    0xe000_ef3c,
    !0,
    // DWT: CTRL, COMP1, FUNCTION1; FPB: CTRL, COMP0; ITM: TER, TCR.
    0xe000_1000,
    !0,
    0xe000_1030,
    !0,
    0xe000_1038,
    !0,
    0xe000_2000,
    !0,
    0xe000_2008,
    !0,
    0xe000_0e00,
    !0,
    0xe000_0e80,
    !0,
    // VTOR, which is each domain's own.
    VTOR,
    !0,
];
const VTOR: u32 = 0xe000_ed08;

/// Registers that are written, each with the value: all that is no finding of a look.
static WRITTEN: [AtomicU32; 60] = words![
    0xe000_e008,
    0x21f,
    0xe000_e00c,
    0x00a0_0000,
    0xe000_e00c,
    0x0050_0000,
    0xe000_e014,
    0x12_3456,
    0xe000_e018,
    1,
    0xe000_e010,
    1,
    0xe000_ed0c,
    0x05fa_0700,
    0xe000_ed10,
    1 << 4,
    0xe000_ed14,
    0x0007_071a,
    0xe000_ed18,
    !0,
    0xe000_ed1c,
    !0,
    0xe000_ed20,
    !0,
    0xe000_ed24,
    0x000f_0000,
    0xe000_ed34,
    0x1234_5678,
    0xe000_ed38,
    0x1234_5678,
    0xe000_ed3c,
    !0,
    0xe000_ed84,
    1,
    0xe000_ed88,
    !0,
    0xe000_ed94,
    0,
    0xe000_edc0,
    0x4433_2211,
    0xe000_edc4,
    0x8877_6655,
    0xe000_edf8,
    !0,
    0xe000_ef34,
    !0,
    0xe000_ef38,
    0x2820_0040,
    0xe000_ef3c,
    0x07c0_0000,
    0xe000_1030,
    !0,
    0xe000_1038,
    4,
    0xe000_2000,
    3,
    0xe000_2008,
    0x0020_0001,
    // NMIPENDSET, PENDSVSET.
    0xe000_ed04,
    0x9000_0000,
];

const RNR: u32 = 0xe000_ed98;
const RBAR: u32 = 0xe000_ed9c;
const RLAR: u32 = 0xe000_eda0;
/// Region registers, and registers of other kinds.
const REGIONS: u32 = 8;
const SPECIAL: usize = 7;
/// Enable, pending, active bits and priorities of the first 64 lines: the domain's own alone are there.
const LINES: [u32; 4] = [0xe000_e100, 0xe000_e200, 0xe000_e300, 0xe000_e400];
const WORDS_OF_LINES: [u32; 4] = [2, 2, 0, 16];

/// Words of a dump of what every domain finds alike, and of one.
pub const COMMON: usize = READ.len() / 2 - 1 + 2 * REGIONS as usize + SPECIAL;
/// The same with what is its own.
pub const WORDS: usize = COMMON + 1 + 20;

static DUMP: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];

/// Stores to a register or a device.
#[inline(always)]
pub fn put(address: u32, value: u32) {
    // SAFETY: a register of the state, or a device of the domain.
    unsafe { (address as *mut u32).write_volatile(value) }
}

/// Loads from one.
#[inline(always)]
pub fn get(address: u32) -> u32 {
    // SAFETY: as above.
    unsafe { (address as *const u32).read_volatile() }
}

/// PRIMASK, BASEPRI, FAULTMASK, CONTROL, MSPLIM, PSP, PSPLIM.
#[inline(always)]
fn special() -> [u32; SPECIAL] {
    let mut all = [0; SPECIAL];
    // SAFETY: reads registers.
    unsafe {
        asm!(
            "mrs {0}, primask", "mrs {1}, basepri", "mrs {2}, faultmask", "mrs {3}, control", "mrs {4}, msplim",
            "mrs {5}, psp", "mrs {6}, psplim",
            out(reg) all[0], out(reg) all[1], out(reg) all[2], out(reg) all[3], out(reg) all[4], out(reg) all[5],
            out(reg) all[6], options(nomem, nostack, preserves_flags),
        );
    }
    all
}

/// A handler reads all that there is.
#[inline(always)]
pub fn dump() {
    let mut at = DUMP.iter();
    let mut note = |value: u32| {
        if let Some(word) = at.next() {
            word.store(value, Relaxed);
        }
    };
    // Before the numbers of regions are written.
    let mut read = READ.chunks_exact(2);
    let own = read.next_back();
    for pair in read {
        note(get(pair[0].load(Relaxed)) & pair[1].load(Relaxed));
    }
    for number in 0..REGIONS {
        put(RNR, number);
        note(get(RBAR));
        note(get(RLAR));
    }
    put(RNR, 0);
    special().into_iter().for_each(&mut note);
    if let Some(pair) = own {
        note(get(pair[0].load(Relaxed)));
    }
    for kind in 0..4 {
        let (first, words) = match kind {
            0 => (LINES[0], WORDS_OF_LINES[0]),
            1 => (LINES[1], WORDS_OF_LINES[1]),
            2 => (LINES[2], WORDS_OF_LINES[2]),
            _ => (LINES[3], WORDS_OF_LINES[3]),
        };
        (0..words).for_each(|word| note(get(first + 4 * word)));
    }
}

/// A handler writes all that it can and that is no finding: whoever comes next could find it.
#[inline(always)]
pub fn leave() {
    for number in 0..REGIONS {
        put(RNR, number);
        put(RBAR, 0x2820_0001 + number * 0x1000);
        put(RLAR, 0x2820_0f01 + number * 0x1000);
    }
    for pair in WRITTEN.chunks_exact(2) {
        put(pair[0].load(Relaxed), pair[1].load(Relaxed));
    }
    // SAFETY: the stack that is in use stays above the limit.
    unsafe {
        asm!("msr msplim, {0}", "msr psp, {1}", "msr psplim, {0}", in(reg) 8, in(reg) 0x2820_0100, options(nomem, nostack, preserves_flags));
    }
}

/// A word of the last dump.
pub fn dumped(number: usize) -> u32 {
    DUMP.get(number).map_or(0, |word| word.load(Relaxed))
}
