//! Registers of lines, and of devices of the board's file.

use armv_m::regs::{self, Reg};

pub(super) fn write_bit((register, bit): (Reg, u32)) {
    register.write(bit);
}

pub(super) fn set_priority(line: u32, value: u8) {
    let (priority, at) = (regs::nvic_ipr(line / 4), 8 * (line % 4));
    priority.write(priority.read() & !(0xff << at) | u32::from(value) << at);
}

/// Enables a line of the meter, above which is nothing but a fault: handlers must not hold it off.
pub(super) fn enable_above_all(line: u32) {
    set_priority(line, 0);
    write_bit(regs::nvic_iser(line));
}

pub(super) fn register(base: u32, offset: u32) -> Reg {
    // SAFETY: a register of the board's file.
    unsafe { Reg::new(base + offset) }
}

/// Sets or clears bits of a register of the board's file; its other bits stay.
pub(super) fn set(at: u32, bits: u32, sets: bool) {
    let register = register(at, 0);
    let before = register.read();
    register.write(if sets { before | bits } else { before & !bits });
}
