//! Six-step commutation of a motor with three phases: every 50 us the handler turns the field by what the control thread asks for, and closes
//! the switches of the step. Pulses are modulated over the interrupts: of 256 of them the high side is closed in as many as the duty says.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{pins, serial};

/// Interrupts in a second.
pub const RATE: u32 = 20_000;
/// Interrupts from one wake of the control thread to the next: 1 ms.
pub const EVERY: u32 = 20;

/// Pins of the switches: high and low side of phases A, B and C.
const HIGH: [u32; 3] = [1 << 2, 1 << 4, 1 << 6];
const LOW: [u32; 3] = [1 << 3, 1 << 5, 1 << 7];
const ALL: u32 = 0xfc;

/// Switches of one step.
struct Step {
    high: u32,
    low: u32,
}

const fn step(high: usize, low: usize) -> Step {
    Step { high: HIGH[high], low: LOW[low] }
}

/// Current goes into one phase and comes out of another; from step to step one of them changes.
static STEPS: [Step; 6] = [step(0, 1), step(0, 2), step(1, 2), step(1, 0), step(2, 0), step(2, 1)];

/// Registers of the timer (CMSDK APB timer, DDI 0479), by their offsets.
mod register {
    pub const CONTROL: u32 = 0x0;
    pub const VALUE: u32 = 0x4;
    pub const RELOAD: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
}

/// Count, and interrupt at zero.
const ENABLED: u32 = 9;

static TIMER: AtomicU32 = AtomicU32::new(0);
/// The electrical angle, a whole turn being 2^32.
static ANGLE: AtomicU32 = AtomicU32::new(0);
/// The part of a turn that each interrupt adds to it.
static SPEED: AtomicU32 = AtomicU32::new(0);
static DUTY: AtomicU32 = AtomicU32::new(0);
static SUM: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicU32 = AtomicU32::new(0);

/// Starts the interrupts of the timer at this address, whose clock has so many cycles in a second.
pub fn start(timer: u32, clock: u32) {
    TIMER.store(timer, Relaxed);
    STOP.store(0, Relaxed);
    COUNT.store(0, Relaxed);
    let cycles = clock / RATE - 1;
    pins::store(timer + register::RELOAD, cycles);
    pins::store(timer + register::VALUE, cycles);
    pins::store(timer + register::CONTROL, ENABLED);
}

/// The next interrupt opens all switches, ends the serial line, and is the last.
pub fn stop() {
    STOP.store(1, Relaxed);
}

/// Turns in a second, and of 256 pulses those in which the high side is closed.
pub fn drive(turns: u32, duty: u32) {
    SPEED.store(((u64::from(turns) << 32) / u64::from(RATE)) as u32, Relaxed);
    DUTY.store(duty, Relaxed);
}

/// The handler.
pub fn serve() {
    let timer = TIMER.load(Relaxed);
    pins::store(timer + register::CLEAR, 1);
    let angle = ANGLE.load(Relaxed).wrapping_add(SPEED.load(Relaxed));
    ANGLE.store(angle, Relaxed);
    let sum = SUM.load(Relaxed) + DUTY.load(Relaxed);
    SUM.store(sum & 0xff, Relaxed);
    let place = (u64::from(angle) * 6 >> 32) as usize;
    // No step: all switches open.
    let switches = STEPS.get(place).map_or(0, |step| step.low | if sum > 0xff { step.high } else { 0 });
    pins::set(ALL, switches);
    let count = COUNT.load(Relaxed);
    COUNT.store(count + 1, Relaxed);
    if count == 0 {
        serial::start();
    }
    if STOP.load(Relaxed) != 0 {
        pins::store(timer + register::CONTROL, 0);
        pins::set(ALL, 0);
        serial::stop();
    }
    if (count + 1).is_multiple_of(EVERY) {
        cofferdam::handlers::wake();
    }
}
