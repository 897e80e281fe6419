//! Addresses worth attacking: this domain's own borders, and what the attacker knows of the chip.

use cofferdam::{Area, Gate, Info};

/// Kernel code in ITCM: the vector table.
pub const KERNEL_CODE: u32 = 0x0000_0000;
/// Kernel code and tables at the start of the flash.
pub const KERNEL_FLASH: u32 = 0x0020_0000;
/// Kernel data in DTCM.
pub const KERNEL_DATA: u32 = 0x2000_0000;
/// Where heaps of other domains begin.
pub const HEAPS: u32 = 0x6000_0000;
/// The console's UART, data register.
pub const UART: u32 = 0x4000_4000;
/// The kernel's timer, control register.
pub const TIMER: u32 = 0x4000_0000;
/// Registers of the processor that only privileged code may reach.
pub const MPU_CONTROL: u32 = 0xe000_ed94;
/// Vector table offset.
pub const VTOR: u32 = 0xe000_ed08;
/// Software-triggered interrupt.
pub const STIR: u32 = 0xe000_ef00;
/// Floating-point context control.
pub const FPCCR: u32 = 0xe000_ef34;

/// This domain's own places.
pub struct Places {
    /// Code: text, constants.
    pub code: Area,
    /// What holds the stack.
    pub stack: Area,
    /// Slot of the console's gate.
    pub console: Gate,
    /// The own gate.
    pub trap: Gate,
    /// The highest slot that holds a capability at the start.
    pub last_slot: u32,
}

impl Places {
    /// Finds them: the area in which this function lies, and the one in which its variable lies.
    pub fn find(info: Info) -> Option<Places> {
        let local = 0_u32;
        let holding =
            |address: u32| info.areas().map(|(_, area)| area).find(|area| address.wrapping_sub(area.base) < area.bytes);
        Some(Places {
            code: holding(Places::find as *const () as u32)?,
            stack: holding(&raw const local as u32)?,
            console: Gate::named(info, "console")?,
            trap: Gate::named(info, "trap")?,
            last_slot: info.caps().filter(|(_, cap)| cap.kind as u32 != 0).map(|(_, cap)| cap.slot).max()?,
        })
    }
}
