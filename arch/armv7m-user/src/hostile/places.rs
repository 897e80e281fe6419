//! What an attacker knows of the chip: addresses that are not a domain's own.

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
/// Where the manifests of the attack suite place data of other domains.
pub const PLACED: u32 = 0x2003_0000;

/// Whether frames are mapped by pages.
pub const PAGES: bool = false;
