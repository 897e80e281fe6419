//! The output register that both handlers share: the LEDs of the board (AN505, FPGAIO).
//!
//! Both handlers have the same priority, so that neither interrupts the other between the load and the store of [`set`].

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Address of the register; 0: not yet known, and nothing is stored.
pub static REGISTER: AtomicU32 = AtomicU32::new(0);
static PINS: AtomicU32 = AtomicU32::new(0);

/// Sets those of the pins in `mask` to `value`, and leaves the others.
#[inline(always)]
pub fn set(mask: u32, value: u32) {
    let pins = PINS.load(Relaxed) & !mask | value & mask;
    PINS.store(pins, Relaxed);
    store(REGISTER.load(Relaxed), pins);
}

/// Stores to a device's register.
#[inline(always)]
pub fn store(register: u32, value: u32) {
    if register != 0 {
        // SAFETY: a register of a device that the manifest gives to this domain and its handlers.
        unsafe { (register as *mut u32).write_volatile(value) }
    }
}

/// Loads from a device's register, which is not 0.
#[inline(always)]
pub fn load(register: u32) -> u32 {
    // SAFETY: as above.
    unsafe { (register as *const u32).read_volatile() }
}
