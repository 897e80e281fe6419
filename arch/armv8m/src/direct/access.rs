//! Memory and devices that Non-secure state may access: attribution, blocks of memory, devices; and its Thread mode, which executes nothing.

use core::arch::asm;

use armv_m::barrier;
use armv_m::regs;
use kernel::boot::BootError;
use system::System;
use system::direct::{self, Direct, MAX_OPEN};

use super::registers::{register, set};
use super::state::{
    MPU_CTRL_NS, MPU_RBAR_NS, MPU_RLAR_A1_NS, MPU_RLAR_A2_NS, MPU_RLAR_A3_NS, MPU_RLAR_NS, MPU_RNR_NS, MPU_TYPE_NS,
    SAU_RBAR,
};
use crate::registers::{SAU_RLAR, SAU_RNR};

/// Facts of a board for handlers.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Ranges of memory, each with the controller that says which of its blocks are Non-secure: base, bytes, its address.
    pub gates: &'static [[u32; 3]],
    /// Devices that can be Non-secure: base, the registers that make it so and that then let
    /// unprivileged code access it, and the bit. A device with a Non-secure base has no registers,
    /// because it is Non-secure for good.
    pub open: &'static [[u32; 4]],
    /// Register and bit by which Secure code may be callable.
    pub callable: Option<[u32; 2]>,
    /// The timer that looks whether handlers run, and its line.
    pub sampler: (u32, u32),
    /// The counter of their cycles: its registers, the device by which it interrupts, the line.
    pub counter: Option<[u32; 3]>,
    /// Cycles of a call of the way into the kernel, which the counter does not count, because that
    /// code is Secure.
    pub way_in_cycles: u32,
    /// Cycles of a look that meets a handler.
    pub met_cycles: u32,
}

/// Region registers of attribution.
const REGIONS: usize = MAX_OPEN + 1;
/// Bit of SAU_RLAR: the region is Secure and callable, instead of Non-secure.
pub(super) const CALLABLE: u32 = 1 << 1;

/// A region of attribution, as its registers have it. All zero: it is off, so that unused places
/// open nothing.
#[derive(Clone, Copy)]
pub(super) struct Region {
    base: u32,
    limit: u32,
}

impl Region {
    const OFF: Self = Self { base: 0, limit: 0 };

    pub(super) fn new(base: u32, end: u32, kind: u32) -> Result<Self, BootError> {
        const ON: u32 = 1;
        if (base | end) & 31 != 0 {
            return Err(BootError::BadTables);
        }
        Ok(Self { base, limit: (end - 32) | kind | ON })
    }

    pub(super) fn write(self, number: usize) {
        SAU_RNR.write(number as u32);
        SAU_RBAR.write(self.base);
        SAU_RLAR.write(self.limit);
    }
}

/// Whole blocks of a memory protection controller (Arm 101104, 3.4.4): the first, and the one behind the last.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    controller: u32,
    first: u32,
    end: u32,
}

impl Blocks {
    pub(super) fn new(facts: &Facts, base: u32, bytes: u32) -> Result<Self, BootError> {
        const CONTROL: u32 = 0x00;
        const BLOCK_SIZE: u32 = 0x14;
        // A denied access ends in an error. Otherwise it would read zeros or write nothing, and its
        // domain would go on.
        const ERROR: u32 = 1 << 4;
        let holds =
            |gate: &&[u32; 3]| base >= gate[0] && base - gate[0] < gate[1] && bytes <= gate[1] - (base - gate[0]);
        let [start, _, controller] = *facts.gates.iter().find(holds).ok_or(BootError::BadTables)?;
        set(controller + CONTROL, ERROR, true);
        let block = 32 << (register(controller, BLOCK_SIZE).read() & 15);
        if (base | bytes) & (block - 1) != 0 {
            return Err(BootError::BadTables);
        }
        Ok(Self { controller, first: (base - start) / block, end: (base - start + bytes) / block })
    }

    /// Makes the blocks Non-secure, or Secure: a word of 32 blocks at a time.
    pub(super) fn set(self, opens: bool) {
        const INDEX: u32 = 0x18;
        const TABLE: u32 = 0x1c;
        let [index, table] = [INDEX, TABLE].map(|offset| register(self.controller, offset));
        let mut number = self.first;
        while number < self.end {
            let next = (number | 31).min(self.end - 1) + 1;
            let bits = (u32::MAX >> (32 - (next - number))) << (number & 31);
            // Reading or writing a word selects the next, so the index is written before each
            // access.
            index.write(number / 32);
            let word = table.read();
            index.write(number / 32);
            table.write(if opens { word | bits } else { word & !bits });
            number = next;
        }
    }
}

/// What tells Secure accesses from Non-secure ones at a place, besides attribution.
#[derive(Clone, Copy)]
enum Gate {
    /// Nothing else, or it is open for good.
    None,
    /// The registers that make a device Non-secure and that then let unprivileged code access it, and the bits in them.
    Device([u32; 2], u32),
    Memory(Blocks),
}

impl Gate {
    fn of_device(facts: &Facts, base: u32, alias: u32) -> Result<Self, BootError> {
        let is_it = |device: &&[u32; 4]| device[0] == base || device[0] == base | alias;
        let [place, open, unprivileged, bit] = *facts.open.iter().find(is_it).ok_or(BootError::BadTables)?;
        Ok(if place == base { Gate::None } else { Gate::Device([open, unprivileged], 1 << bit) })
    }

    fn set(&self, opens: bool) {
        match *self {
            Gate::None => {}
            Gate::Device(registers, bits) => registers.into_iter().for_each(|register| set(register, bits, opens)),
            Gate::Memory(blocks) => blocks.set(opens),
        }
    }
}

/// Memory and devices that a domain's handlers may access, as values of registers, so that a change
/// of occupants reads no table. While the domain does not occupy, its threads find them at the same
/// addresses, by Secure accesses.
#[derive(Clone, Copy)]
pub(super) struct Access([(Region, Gate); MAX_OPEN]);

impl Access {
    pub(super) const NONE: Self = Self([(Region::OFF, Gate::None); MAX_OPEN]);

    /// # Errors
    /// [`BootError::BadTables`]: the board cannot open it.
    pub(super) fn of(system: &System<'_>, facts: &Facts, own: &Direct) -> Result<Self, BootError> {
        let mut all = Self::NONE;
        for (index, (base, bytes, is_device)) in direct::open(system, own).enumerate() {
            let gate = match (is_device, index) {
                (true, _) => Gate::of_device(facts, base, own.alias)?,
                // The code of all domains stays Non-secure memory: attribution hides that of the
                // others.
                (false, 0) => Gate::None,
                (false, _) => Gate::Memory(Blocks::new(facts, base | own.alias, bytes)?),
            };
            let place = all.0.get_mut(index).ok_or(BootError::BadTables)?;
            *place = (Region::new(base, base + bytes, 0)?, gate);
        }
        Ok(all)
    }

    /// Opens them to Non-secure state, where attribution then opens nothing else. Or closes them,
    /// before those of another domain are opened, so that no handler reaches both.
    pub(super) fn set(&self, opens: bool) {
        for (number, (region, gate)) in (1..REGIONS).zip(&self.0) {
            gate.set(opens);
            if opens {
                region.write(number);
            }
        }
        barrier();
    }
}

/// Lets Non-secure Thread mode execute nothing: it is unprivileged ([`super::owner::unmask`]), and
/// the region registers of that state are on and empty. A handler that returns there faults at
/// once.
pub(super) fn close_thread_mode() {
    MPU_CTRL_NS.write(0);
    for number in 0..MPU_TYPE_NS.read() >> 8 & 0xff {
        MPU_RNR_NS.write(number);
        MPU_RBAR_NS.write(0);
        MPU_RLAR_NS.write(0);
    }
    MPU_CTRL_NS.write(regs::ENABLE_WITH_DEFAULT_MAP);
}

/// Returns true if that has been changed, which only handlers can do.
///
/// # Bound
/// The region registers of Non-secure state, four at a time.
#[inline(always)]
pub(super) fn is_thread_mode_open() -> bool {
    if is_thread_mode_privileged() || MPU_CTRL_NS.read() != regs::ENABLE_WITH_DEFAULT_MAP {
        return true;
    }
    let count = MPU_TYPE_NS.read() >> 8 & 0xff;
    let (mut first, mut limits) = (0, 0);
    // No iterator: its code would be in flash, whose wait states the interrupted thread would pay.
    while first < count {
        MPU_RNR_NS.write(first);
        limits |= MPU_RLAR_NS.read() | MPU_RLAR_A1_NS.read() | MPU_RLAR_A2_NS.read() | MPU_RLAR_A3_NS.read();
        first += 4;
    }
    limits & 1 != 0
}

/// Returns true if that mode is privileged. No handler needs that, so it is taken for an attack.
#[inline(always)]
pub(super) fn is_thread_mode_privileged() -> bool {
    const UNPRIVILEGED: u32 = 1;
    let control: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {0}, control_ns", out(reg) control, options(nomem, nostack, preserves_flags)) };
    control & UNPRIVILEGED == 0
}
