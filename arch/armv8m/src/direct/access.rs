//! Memory and devices that Non-secure state may access: attribution, blocks of memory, devices; and its Thread mode, which executes nothing.

use armv_m::barrier;
use armv_m::regs::{self, Reg};
use kernel::boot::BootError;
use system::System;
use system::direct::{self, Direct};

use crate::registers::{
    MPU_CTRL_NS, MPU_RBAR_NS, MPU_RLAR_NS, MPU_RNR_NS, MPU_TYPE_NS, SAU_CTRL, SAU_RBAR, SAU_RLAR, SAU_RNR,
};

/// Facts of a board for handlers.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Ranges of memory, each with the controller that says which of its blocks are Non-secure: base, bytes, its address.
    pub gates: &'static [[u32; 3]],
    /// Devices that can be Non-secure: base, the registers that make it so and that then let unprivileged code access it, and the bit. One with a
    /// Non-secure base has no registers: it is Non-secure for good.
    pub open: &'static [[u32; 4]],
    /// Register and bit by which Secure code may be callable.
    pub callable: Option<[u32; 2]>,
    /// The timer that looks whether handlers run, and its line.
    pub sampler: (u32, u32),
    /// The counter of their cycles: its registers, the device by which it interrupts, the line.
    pub counter: Option<[u32; 3]>,
}

/// Of SAU_RLAR: the region is Secure and callable, instead of Non-secure.
pub(super) const CALLABLE: u32 = 1 << 1;
/// Region registers of attribution.
const REGIONS: u32 = 8;

/// Sets a region of attribution.
pub(super) fn attribute(number: u32, base: u32, end: u32, kind: u32) -> Result<(), BootError> {
    const ON: u32 = 1;
    if number >= REGIONS || (base | end) & 31 != 0 {
        return Err(BootError::BadTables);
    }
    SAU_RNR.write(number);
    SAU_RBAR.write(base);
    SAU_RLAR.write((end - 32) | kind | ON);
    SAU_CTRL.write(ON);
    Ok(())
}

/// Opens memory and devices of a domain to Non-secure state, or closes them. Its own threads then find them at the same addresses, by Secure accesses.
pub(super) fn access(system: &System<'_>, facts: &Facts, own: &Direct, opens: bool) -> Result<(), BootError> {
    let mut number = 1;
    for (index, (base, bytes, is_device)) in direct::open(system, own).enumerate() {
        if is_device {
            let is_it = |device: &&[u32; 4]| device[0] == base || device[0] == base | own.alias;
            let [place, open, unprivileged, bit] = *facts.open.iter().find(is_it).ok_or(BootError::BadTables)?;
            if place != base {
                set(open, 1 << bit, opens);
                set(unprivileged, 1 << bit, opens);
            }
        } else if index > 0 {
            blocks(facts, base | own.alias, bytes, opens)?;
        }
        if opens {
            attribute(number, base, base + bytes, 0)?;
            number += 1;
        }
    }
    for number in number..REGIONS {
        SAU_RNR.write(number);
        SAU_RLAR.write(0);
    }
    barrier();
    Ok(())
}

pub(super) fn set(register: u32, bits: u32, sets: bool) {
    // SAFETY: a register of the board's file; its other bits stay.
    let register = unsafe { Reg::new(register) };
    let before = register.read();
    register.write(if sets { before | bits } else { before & !bits });
}

/// Whole blocks of a memory protection controller become Non-secure, or Secure (Arm 101104, 3.4.4).
pub(super) fn blocks(facts: &Facts, base: u32, bytes: u32, opens: bool) -> Result<(), BootError> {
    const CONTROL: u32 = 0x00;
    const BLOCK_SIZE: u32 = 0x14;
    const INDEX: u32 = 0x18;
    const TABLE: u32 = 0x1c;
    // An access that is stopped ends in an error.
    const ERROR: u32 = 1 << 4;
    let holds = |gate: &&[u32; 3]| base >= gate[0] && base - gate[0] < gate[1] && bytes <= gate[1] - (base - gate[0]);
    let [first, _, controller] = *facts.gates.iter().find(holds).ok_or(BootError::BadTables)?;
    // SAFETY: registers of a controller of the board's file.
    let register = |offset: u32| unsafe { Reg::new(controller + offset) };
    set(controller + CONTROL, ERROR, true);
    let block = 32 << (register(BLOCK_SIZE).read() & 15);
    if (base | bytes) & (block - 1) != 0 {
        return Err(BootError::BadTables);
    }
    let (mut number, end) = ((base - first) / block, (base - first + bytes) / block);
    while number < end {
        // A word of 32 blocks at a time. Reading or writing a word selects the next.
        let next = (number | 31).min(end - 1) + 1;
        let bits = (u32::MAX >> (32 - (next - number))) << (number & 31);
        register(INDEX).write(number / 32);
        let word = register(TABLE).read();
        register(INDEX).write(number / 32);
        register(TABLE).write(if opens { word | bits } else { word & !bits });
        number = next;
    }
    Ok(())
}

/// Non-secure Thread mode may execute nothing: it is unprivileged ([`super::owner::unmask`]), and the region registers of that state are on and empty.
pub(super) fn close_thread_mode() {
    MPU_CTRL_NS.write(0);
    for number in 0..MPU_TYPE_NS.read() >> 8 & 0xff {
        MPU_RNR_NS.write(number);
        MPU_RBAR_NS.write(0);
        MPU_RLAR_NS.write(0);
    }
    MPU_CTRL_NS.write(regs::ENABLE_WITH_DEFAULT_MAP);
}
