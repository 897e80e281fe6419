//! The board xilinx-zynq-a9: a Zynq-7000 (XC7Z020) as QEMU models it. Addresses: Zynq-7000 Technical Reference Manual (UG585), chapter
//! 4 and appendix B.
//!
//! The kernel lies in on-chip RAM, at addresses that are physical ones, too. Memory off the chip is at [`PHYSICAL`] and above for
//! the kernel, whoever runs; domains have it where their own tables say.
#![no_std]

use core::cell::UnsafeCell;
use core::ops::Range;

use armv7a::mmu::{self, Cluster, KernelTables, Leaves, Mapping, Root};
use armv7a::pl310::{Pl310, Setup};
use armv7a::{Block, Board};
use protect::vmsa::lockdown::LockWays;
use protect::vmsa::{MemType, Placement, Rights, TableMemory};

/// Constants of `board.toml`.
pub mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

/// On-chip RAM, all of it mapped high: the kernel's image, and behind it areas and tables of domains.
pub const OCM: Range<u32> = board::memory::KERNEL.start..board::memory::OCM.end;
/// Memory off the chip. The board has 1 GiB; the first MiB is partly on-chip RAM for the other masters (UG585, table 4-1).
pub const DDR: Range<u32> = board::memory::DDR;
/// Less than the kernel's virtual address of memory off the chip: its physical one.
pub const PHYSICAL: u32 = board::KERNEL_OFFSET;
/// The second UART (Cadence; UG585 appendix B.33).
pub const UART1: u32 = board::device::UART1.start;

/// System level control registers (UG585 appendix B.28).
const SLCR: u32 = 0xf800_0000;
/// Private devices of the CPUs, and the second-level cache controller behind them (UG585, table 4-7).
const PRIVATE: u32 = board::device::PRIVATE.start;
const L2: u32 = board::device::L2.start;

/// The board's devices that the kernel uses itself.
#[derive(Debug)]
pub struct Zynq;

impl Board for Zynq {
    const PRIVATE: u32 = PRIVATE;
    const TICKS_PER_SECOND: u32 = board::TICKS_PER_SECOND;
    // QEMU clocks the private timers with 100 MHz. On silicon it is half the processor's clock (UG585 25.1.3).
    const TICK_CYCLES: u32 = 4;

    #[inline]
    fn window(physical: u32) -> u32 {
        window(physical)
    }

    fn placement(physical: u32) -> Placement {
        // SAFETY: written before any table is made, then never again.
        let locked = unsafe { *LOCKED.0.get() };
        if OCM.contains(&physical) {
            Placement::OnChip
        } else if locked.contains(physical) {
            Placement::LockedWays
        } else {
            Placement::OffChip
        }
    }

    fn end(&mut self, status: u32) {
        armv7a::semihosting_exit(status);
    }
}

/// The second-level cache of the Zynq-7000: 8 ways of 64 KiB, latencies of its RAM (UG585 3.4.10). It does not read
/// ahead by itself, and neither does its model: what is in it was asked for.
const L2_SETUP: Setup = Setup {
    auxiliary: EARLY_RESPONSE | ROUND_ROBIN | PARITY | EVENTS | WAY_64K,
    tag_latency: 0x111,
    data_latency: 0x121,
    ways: 8,
};
/// Bits of the auxiliary control register (ARM DDI 0246, 3.3.4).
const EARLY_RESPONSE: u32 = 1 << 30;
const ROUND_ROBIN: u32 = 1 << 25;
const PARITY: u32 = 1 << 21;
const EVENTS: u32 = 1 << 20;
const WAY_64K: u32 = 0b011 << 17;

/// Mebibytes of the kernel's in pages: the on-chip RAM, the first one off the chip, two for devices.
const IN_PAGES: usize = 4;

/// The kernel's own tables. Written before the MMU is on, then never again.
struct Tables<T>(UnsafeCell<T>);

// SAFETY: one CPU runs, and it writes them before anything else could.
unsafe impl<T> Sync for Tables<T> {}

#[unsafe(link_section = ".root")]
static ROOT: Tables<Root> = Tables(UnsafeCell::new(Root::EMPTY));
static LEAVES: Tables<[Leaves; IN_PAGES]> = Tables(UnsafeCell::new([Leaves::EMPTY; IN_PAGES]));

/// A range of memory off the chip.
#[derive(Clone, Copy, Debug)]
struct Held {
    base: u32,
    bytes: u32,
}

impl Held {
    const fn contains(self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }
}

/// What is in locked ways of the second-level cache.
static LOCKED: Tables<Held> = Tables(UnsafeCell::new(Held { base: 0, bytes: 0 }));

unsafe extern "C" {
    static __kernel_code_start: u8;
    static __kernel_code_end: u8;
    static __kernel_const_start: u8;
    static __kernel_const_end: u8;
    static __kernel_data_start: u8;
    static __kernel_data_end: u8;
    static __kernel_stack_start: u8;
    static __kernel_stack_end: u8;
    static __kernel_objects_start: u8;
    static __kernel_objects_end: u8;
    static __kernel_cold_start: u8;
    static __kernel_cold_end: u8;
    static __boot_stack_bottom: u8;
    static __boot_stack_top: u8;
}

/// A range between two symbols of the linker script, mapped where it is.
fn image(start: *const u8, end: *const u8, rights: Rights) -> Mapping {
    let base = start as u32;
    Mapping { base, physical: base, bytes: end as u32 - base, rights, memory: MemType::WriteBack }
}

/// A range of the image between two symbols, which is off the chip.
fn off_chip(start: *const u8, end: *const u8, rights: Rights) -> Mapping {
    let mapping = image(start, end, rights);
    Mapping { physical: mapping.base - PHYSICAL, ..mapping }
}

fn device(base: u32, bytes: u32) -> Mapping {
    Mapping { base, physical: base, bytes, rights: Rights::KernelData, memory: MemType::Device }
}

/// What the kernel has mapped in every address space.
fn mappings() -> [Mapping; 12] {
    let tables = Mapping {
        base: board::memory::OCM.start,
        physical: board::memory::OCM.start,
        bytes: board::memory::OCM.end - board::memory::OCM.start,
        rights: Rights::KernelData,
        memory: MemType::WriteBack,
    };
    let memory = Mapping {
        base: PHYSICAL + DDR.start,
        physical: DDR.start,
        bytes: DDR.end - DDR.start,
        rights: Rights::KernelData,
        memory: MemType::WriteBack,
    };
    [
        image(&raw const __kernel_code_start, &raw const __kernel_code_end, Rights::KernelCode),
        image(&raw const __kernel_const_start, &raw const __kernel_const_end, Rights::KernelConst),
        image(&raw const __kernel_data_start, &raw const __kernel_data_end, Rights::KernelData),
        image(&raw const __kernel_stack_start, &raw const __kernel_stack_end, Rights::KernelData),
        image(&raw const __kernel_objects_start, &raw const __kernel_objects_end, Rights::KernelData),
        off_chip(&raw const __kernel_cold_start, &raw const __kernel_cold_end, Rights::KernelCode),
        off_chip(&raw const __boot_stack_bottom, &raw const __boot_stack_top, Rights::KernelData),
        tables,
        memory,
        device(UART1, 0x1000),
        device(PRIVATE, 0x2000),
        device(L2, 0x1000),
    ]
}

/// Why the board did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// What the kernel maps for itself is wrong.
    Mapping(mmu::Wrong),
    /// The second-level cache does not end its invalidation.
    Cache,
}

/// Turns caches and MMU on. Returns the space in which only the kernel is mapped. Everything here is on the chip, where addresses are
/// the same before and after.
///
/// # Errors
/// [`StartError`]: the board is not what its description says.
///
/// # Safety
/// Once, from `kernel_power_on`, as it was entered.
pub unsafe fn start() -> Result<mmu::Space, StartError> {
    const UNLOCK: u32 = 0x008;
    const UNLOCK_KEY: u32 = 0xdf0d;
    const LOCK: u32 = 0x004;
    const LOCK_KEY: u32 = 0x767b;
    const L2C_RAM: u32 = 0xa1c;
    // SAFETY: the MMU is off: physical addresses.
    let (slcr, l2) = unsafe { (Block::new(SLCR), Block::new(L2)) };
    slcr.write(UNLOCK, UNLOCK_KEY);
    slcr.write(L2C_RAM, 0x0002_0202);
    slcr.write(LOCK, LOCK_KEY);
    // SAFETY: called once, with nobody else running.
    let mut tables = unsafe { KernelTables::new(&mut *ROOT.0.get(), &mut *LEAVES.0.get()) };
    for mapping in &mappings() {
        tables.map(mapping).map_err(StartError::Mapping)?;
    }
    let root = tables.finish();
    let cluster = Cluster { scu: armv7a::scu::<Zynq>(), l2, setup: L2_SETUP };
    // SAFETY: as after reset, the tables map the image where it is.
    unsafe { mmu::start(root, cluster) }.ok_or(StartError::Cache)?;
    Ok(mmu::Space::nobody(root))
}

/// The second-level cache.
///
/// # Safety
/// [`start`] has turned it on.
pub unsafe fn cache() -> Pl310 {
    // SAFETY: the board has it there.
    unsafe { Pl310::running(Block::new(L2), L2_SETUP) }
}

/// Closes ways of the second-level cache, from way 0 on, with `bytes` of memory off the chip from `base` on in them: tables that are made
/// there afterwards count as [`Placement::LockedWays`].
///
/// It runs on the chip, with its stack there, so that nothing else of its own goes into the ways while they are open.
///
/// # Errors
/// [`StartError::Cache`]: not so many ways, or the cache does not end its work.
///
/// # Safety
/// [`start`] has been called; no tables were made yet. The memory is off the chip, and the kernel's.
#[inline(never)]
pub unsafe fn lock_ways(ways: u32, base: u32, bytes: u32) -> Result<(), StartError> {
    if ways == 0 {
        return Ok(());
    }
    if ways > L2_SETUP.ways {
        return Err(StartError::Cache);
    }
    let fill = ((1_u32 << ways) - 1) as u16;
    let steps = LockWays { locked: 0, fill, base, bytes }.steps().map_err(|_| StartError::Cache)?;
    // SAFETY: as the caller promises; cleaning and loading change nothing.
    unsafe {
        armv7a::lockdown::perform(steps, &cache(), window).map_err(|_| StartError::Cache)?;
        *LOCKED.0.get() = Held { base, bytes };
    }
    Ok(())
}

/// Where the kernel sees a physical address of memory.
pub const fn window(physical: u32) -> u32 {
    if physical < DDR.end { physical + PHYSICAL } else { physical }
}

/// The memory of domains' tables: on-chip RAM behind the kernel's image, or memory off the chip.
#[derive(Clone, Copy, Debug)]
pub struct TableWords;

impl TableMemory for TableWords {
    fn word(&self, at: u32) -> u32 {
        // SAFETY: tables lie in memory that is mapped for the kernel and typed as its own.
        unsafe { (window(at) as *const u32).read_volatile() }
    }

    fn set_word(&mut self, at: u32, value: u32) {
        // SAFETY: as above.
        unsafe { mmu::publish_word(window(at), value) }
    }

    fn placement(&self, at: u32) -> Placement {
        Zynq::placement(at)
    }
}
