//! What an attacker knows of the chip: addresses that are not a domain's own. The names are those of every chip.

/// Kernel code in on-chip memory.
pub const KERNEL_CODE: u32 = 0xfffc_0000;
/// Where the kernel keeps the tables of domains.
pub const KERNEL_FLASH: u32 = 0xfffe_0000;
/// Kernel data: the end of its objects.
pub const KERNEL_DATA: u32 = 0xfffd_b000;
/// Memory off the chip as the kernel sees it, which holds everybody's.
pub const HEAPS: u32 = 0x8020_0000;
/// The console's UART where its owner has it.
pub const UART: u32 = 0x6000_0000;
/// The kernel's timer, control register.
pub const TIMER: u32 = 0xf8f0_0208;
/// The second-level cache, control register.
pub const MPU_CONTROL: u32 = 0xf8f0_2100;
/// The interrupt distributor, control register.
pub const VTOR: u32 = 0xf8f0_1000;
/// Software-generated interrupts.
pub const STIR: u32 = 0xf8f0_1f00;
/// The snoop control unit, control register.
pub const FPCCR: u32 = 0xf8f0_0000;
/// Where the manifests of the attack suite place data of other domains.
pub const PLACED: u32 = 0x3003_0000;

/// Whether frames are mapped by pages.
pub const PAGES: bool = true;
