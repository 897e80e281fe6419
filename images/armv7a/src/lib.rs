//! The kernel's image for every board with a Cortex-A9: its address space, caches and start. Constants are those of the board's file.
//!
//! The kernel lies in memory whose physical address is in the upper half of the address space, and is mapped where it is: its addresses
//! are the same before and after the MMU is on. Other memory, and devices, are at [`PHYSICAL`] and above for the kernel, whoever runs, unless
//! they lie in that half, too; domains have memory where their own tables say.
#![no_std]

use core::cell::UnsafeCell;
use core::ops::Range;

use armv7a::mmu::{self, Cluster, KernelTables, Leaves, Mapping, Root};
use armv7a::pl310::{Pl310, Setup};
use armv7a::{Block, Board};
use protect::MemType;
use protect::vmsav7::lockdown::LockWays;
use protect::vmsav7::{Placement, Rights, TableMemory};
use units::{Bytes, PhysAddr, VirtAddr};

/// Constants of the board's file.
pub mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

/// Less than the kernel's virtual address of memory in the lower half: its physical one.
pub const PHYSICAL: u32 = board::KERNEL_OFFSET;
/// Private devices of the CPUs: `PERIPHBASE` (ARM DDI 0407, 1.5), two pages.
const PRIVATE: u32 = board::CLOCK_DEVICE.start;
/// The second-level cache controller (PL310).
const L2: u32 = board::device::L2.start;

/// The board, as its file describes it.
#[derive(Debug)]
pub struct Described;

impl Board for Described {
    const PRIVATE: u32 = window(PhysAddr(PRIVATE)).0;
    const TICKS_PER_SECOND: u32 = board::TICKS_PER_SECOND;
    const TICK_CYCLES: u32 = board::CLOCK_DIVIDER;
    const SHORTEST_TICKS: u32 = board::SHORTEST_TICKS;
    const START_TICKS: u32 = board::START_TICKS;
    const TIMER_LINE: u32 = board::TIMER_LINE;

    #[inline]
    fn window(physical: PhysAddr<u32>) -> VirtAddr<u32> {
        window(physical)
    }

    fn placement(PhysAddr(physical): PhysAddr<u32>) -> Placement {
        // SAFETY: written before any table is made, then never again.
        let locked = unsafe { *LOCKED.0.get() };
        if board::TABLES.contains(&physical) {
            Placement::OnChip
        } else if locked.contains(physical) {
            Placement::LockedWays
        } else {
            Placement::OffChip
        }
    }
}

/// The second-level cache. It does not read ahead by itself, and neither does its model: what is in it was asked for.
const L2_SETUP: Setup = Setup {
    auxiliary: board::L2_AUXILIARY | way_size(board::L2_WAY_BYTES) | ((board::L2_WAYS == 16) as u32) << 16,
    tag_latency: board::L2_TAG_LATENCY,
    data_latency: board::L2_DATA_LATENCY,
    ways: board::L2_WAYS,
};

/// Way size in the auxiliary control register: 1 for 16 KiB, and one more for each doubling (ARM DDI 0246, 3.3.4).
const fn way_size(bytes: u32) -> u32 {
    assert!(bytes.is_power_of_two() && bytes >= 16 << 10 && bytes <= 512 << 10, "no size of a way");
    (bytes.trailing_zeros() - 13) << 17
}

/// Mebibytes in which the kernel has pages, at most: of its image, of the memory on the chip, of devices.
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

/// The address range in locked ways of the second-level cache.
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

/// Memory that is mapped where it is.
fn where_it_is(base: u32, bytes: u32, rights: Rights) -> Mapping {
    let (base, physical) = (VirtAddr(base), PhysAddr(base));
    Mapping { base, physical, bytes: Bytes(bytes), rights, memory: MemType::WriteBack }
}

/// A range between two symbols of the linker script, mapped where it is.
fn image(start: *const u8, end: *const u8, rights: Rights) -> Mapping {
    let base = start as u32;
    where_it_is(base, end as u32 - base, rights)
}

/// A range between two symbols of the image's part in the memory `cold`.
fn cold(start: *const u8, end: *const u8, rights: Rights) -> Mapping {
    let (mapping, memory) = (image(start, end, rights), board::memory::COLD.start);
    Mapping { physical: PhysAddr(mapping.base.minus(window(PhysAddr(memory))).0 + memory), ..mapping }
}

/// The kernel's first-level table, which is written before the MMU is on. Mapped only where its lines have to be loaded.
fn root() -> Mapping {
    where_it_is(ROOT.0.get() as u32, size_of::<Root>() as u32, Rights::KernelConst)
}

/// A device at a physical address, where the kernel sees it.
pub fn device(physical: PhysAddr<u32>, bytes: Bytes<u32>) -> Mapping {
    Mapping { base: window(physical), physical, bytes, rights: Rights::KernelData, memory: MemType::Device }
}

/// A device of the board's file.
fn device_range(physical: Range<u32>) -> Mapping {
    device(PhysAddr(physical.start), Bytes(physical.end - physical.start))
}

/// A memory of domains, where the kernel sees it.
fn memory(physical: &Range<u32>) -> Mapping {
    let (bytes, physical) = (Bytes(physical.end - physical.start), PhysAddr(physical.start));
    Mapping { base: window(physical), physical, bytes, rights: Rights::KernelData, memory: MemType::WriteBack }
}

/// The kernel's part of its image, and its devices.
fn mappings() -> [Mapping; 9] {
    [
        image(&raw const __kernel_code_start, &raw const __kernel_code_end, Rights::KernelCode),
        image(&raw const __kernel_const_start, &raw const __kernel_const_end, Rights::KernelConst),
        image(&raw const __kernel_data_start, &raw const __kernel_data_end, Rights::KernelData),
        image(&raw const __kernel_stack_start, &raw const __kernel_stack_end, Rights::KernelData),
        image(&raw const __kernel_objects_start, &raw const __kernel_objects_end, Rights::KernelData),
        cold(&raw const __kernel_cold_start, &raw const __kernel_cold_end, Rights::KernelCode),
        cold(&raw const __boot_stack_bottom, &raw const __boot_stack_top, Rights::KernelData),
        device_range(board::CLOCK_DEVICE),
        device_range(board::device::L2),
    ]
}

/// Why the board did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A mapping of the kernel's own is invalid.
    Mapping(mmu::Wrong),
    /// The second-level cache does not end its invalidation.
    Cache,
}

/// Turns caches and MMU on. Returns the space in which only the kernel is mapped, and `more`. Everything here is where addresses are the same
/// before and after.
///
/// # Errors
/// [`StartError`]: the board is not what its description says.
///
/// # Safety
/// Once, from `kernel_power_on`, as it was entered.
pub unsafe fn start(more: Option<Mapping>) -> Result<mmu::Space, StartError> {
    for [address, value] in board::WRITES {
        // SAFETY: the MMU is off: physical addresses, of the chip's registers.
        unsafe { (address as *mut u32).write_volatile(value) };
    }
    // SAFETY: called once, with nobody else running.
    let mut tables = unsafe { KernelTables::new(&mut *ROOT.0.get(), &mut *LEAVES.0.get()) };
    let root = (board::KERNEL_WAYS > 0).then(root);
    for mapping in mappings().into_iter().chain(board::DOMAINS.iter().map(memory)).chain(root).chain(more) {
        tables.map(&mapping).map_err(StartError::Mapping)?;
    }
    let root = tables.finish();
    // SAFETY: the MMU is off: physical addresses, of devices that the board has there.
    let (scu, l2) = unsafe { (Block::new(PRIVATE), Block::new(L2)) };
    let cluster = Cluster { scu, l2, setup: L2_SETUP };
    // SAFETY: as after reset, the tables map the image where it is; nothing is locked after it.
    unsafe {
        mmu::start(root, cluster).ok_or(StartError::Cache)?;
        lock_kernel()?;
    }
    Ok(mmu::Space::nobody(root))
}

/// The second-level cache.
///
/// # Safety
/// [`start`] has turned it on.
pub unsafe fn cache() -> Pl310 {
    // SAFETY: the board has it there.
    unsafe { Pl310::running(Block::new(window(PhysAddr(L2)).0), L2_SETUP) }
}

/// The bits of so many ways.
const fn ways_from(first: u32, count: u32) -> u16 {
    (((1 << count) - 1) << first) as u16
}

/// Closes ways of the second-level cache with the kernel's image in them, where that is off the chip: no path of the kernel waits for memory
/// because of what others have done.
///
/// Everything that runs meanwhile is in that image, and its stack, so that nothing else goes into the ways.
///
/// # Errors
/// [`StartError::Cache`]: the image needs more ways, or the cache does not end its work.
///
/// # Safety
/// Caches and MMU are on, and nothing is locked yet.
#[inline(never)]
unsafe fn lock_kernel() -> Result<(), StartError> {
    if board::KERNEL_WAYS == 0 {
        return Ok(());
    }
    let mut used = 0;
    // Below the stack there is nothing.
    for (start, end) in [
        (&raw const __kernel_code_start, &raw const __kernel_data_end),
        (&raw const __kernel_stack_start, &raw const __kernel_objects_end),
        (ROOT.0.get().cast_const().cast(), ROOT.0.get().wrapping_add(1).cast_const().cast()),
    ] {
        let (base, bytes) = (start as u32, end as u32 - start as u32);
        let ways = bytes.div_ceil(board::L2_WAY_BYTES);
        if used + ways > board::KERNEL_WAYS {
            return Err(StartError::Cache);
        }
        let lock = LockWays { locked: ways_from(0, used), fill: ways_from(used, ways), base, bytes };
        let steps = lock.steps().map_err(|_| StartError::Cache)?;
        // SAFETY: as the caller promises; cleaning and loading change nothing.
        unsafe { armv7a::lockdown::perform(steps, &cache(), window).map_err(|_| StartError::Cache)? };
        used += ways;
    }
    Ok(())
}

/// Closes further ways of the second-level cache, with `bytes` of memory off the chip from `base` on in them: tables that are made
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
    if board::KERNEL_WAYS + ways > board::L2_WAYS {
        return Err(StartError::Cache);
    }
    let locked = ways_from(0, board::KERNEL_WAYS);
    let lock = LockWays { locked, fill: ways_from(board::KERNEL_WAYS, ways), base, bytes };
    let steps = lock.steps().map_err(|_| StartError::Cache)?;
    // SAFETY: as the caller promises; cleaning and loading change nothing.
    unsafe {
        armv7a::lockdown::perform(steps, &cache(), window).map_err(|_| StartError::Cache)?;
        *LOCKED.0.get() = Held { base, bytes };
    }
    Ok(())
}

/// The kernel's virtual address of a physical address of memory, or of a device.
pub const fn window(PhysAddr(physical): PhysAddr<u32>) -> VirtAddr<u32> {
    VirtAddr(if physical < PHYSICAL { physical + PHYSICAL } else { physical })
}

/// The memory of domains' tables.
#[derive(Clone, Copy, Debug)]
pub struct TableWords;

impl TableMemory for TableWords {
    fn word(&self, at: PhysAddr<u32>) -> u32 {
        // SAFETY: tables lie in memory that is mapped for the kernel and typed as its own.
        unsafe { (window(at).0 as *const u32).read_volatile() }
    }

    fn set_word(&mut self, at: PhysAddr<u32>, value: u32) {
        // SAFETY: as above.
        unsafe { mmu::publish_word(window(at), value) }
    }

    fn placement(&self, at: PhysAddr<u32>) -> Placement {
        Described::placement(at)
    }
}
