//! From the entry code's first call to the first thread.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use armv7a::mmu::Space;
use armv7a::{Armv7a, Context};
use image::{board, window};
use kernel::boot::{self, Boot, BootError};
use system::System;
use system::vmsav7::{Caches, Vmsav7};
use units::{Bytes, PhysAddr};

use crate::Machine;

/// Physical address of the block of tables, written by the host tool.
#[unsafe(no_mangle)]
#[used]
#[unsafe(link_section = ".system")]
static COFFERDAM_SYSTEM: [u32; 1] = [0xffff_ffff];

/// The kernel of this CPU. Written once in `kernel_start`, then used by the handlers that the entry code calls with it, which nothing
/// interrupts.
struct Cpu(UnsafeCell<MaybeUninit<Machine>>);

// SAFETY: there is one CPU, and nothing interrupts the kernel (see `Cpu`).
unsafe impl Sync for Cpu {}

#[unsafe(no_mangle)]
static COFFERDAM_CPU: Cpu = Cpu(UnsafeCell::new(MaybeUninit::uninit()));

unsafe extern "C" {
    static __kernel_objects_start: u8;
    static __kernel_objects_end: u8;
    static mut __boot_stack_bottom: u32;
    static mut COFFERDAM_TRACE_PORT: [u32; 2];
}

/// Marks the end of the boot stack, so that an overflow into the kernel's objects is noticed before anything runs.
const STACK_MARK: u32 = 0x5afe_57ac;

/// Turns the processor on, and as the tables say locks ways of the second-level cache and then lets the processor read ahead. Returns the space
/// in which only the kernel is mapped.
#[unsafe(no_mangle)]
extern "C" fn kernel_power_on() -> u64 {
    // SAFETY: the first thing that runs.
    let Ok(nobody) = (unsafe { image::start(None) }) else { stop(Some(BootError::WrongBoard), 0) };
    // Tables that are wrong are reported by who makes objects of them.
    if let Ok(tables) = tables() {
        let Caches { ways, base, bytes, prefetch } = tables.own::<Vmsav7>();
        // SAFETY: no tables of domains were made; the block was validated.
        if unsafe { image::lock_ways(ways, base, bytes) }.is_err() {
            stop(Some(BootError::WrongBoard), 0);
        }
        if prefetch != 0 {
            armv7a::cache::read_ahead();
        }
    }
    nobody.into()
}

/// Reads the tables, makes all objects, and returns the first thread's context.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".cold.start")]
extern "C" fn kernel_start(nobody: u64) -> *mut Context {
    // SAFETY: the lowest word of the boot stack, far below what is in use now.
    unsafe { (&raw mut __boot_stack_bottom).write_volatile(STACK_MARK) };
    let start = (&raw const __kernel_objects_start) as u32;
    let objects = (PhysAddr(start), Bytes((&raw const __kernel_objects_end) as u32 - start));
    let result =
        tables().and_then(|tables| Boot { tables, objects, idle: () }.kernel(Armv7a::new(Space::from(nobody))));
    let machine = match result {
        Ok(machine) => machine,
        Err(error) => stop(Some(error), 0),
    };
    // SAFETY: nobody uses it yet.
    let kernel = unsafe { (*COFFERDAM_CPU.0.get()).write(machine) };
    kernel.start();
    // SAFETY: as above.
    if unsafe { (&raw mut __boot_stack_bottom).read_volatile() } != STACK_MARK {
        kernel_panic(0, 0);
    }
    kernel.resume()
}

/// The tables that the host tool put into memory off the chip.
fn tables() -> Result<System<'static>, BootError> {
    // SAFETY: reads the word as it is in the image, which the tool has patched after the compiler saw it.
    let address = unsafe { (&raw const COFFERDAM_SYSTEM[0]).read_volatile() };
    let memory = board::DOMAINS.into_iter().find(|memory| memory.contains(&address) && address.is_multiple_of(4));
    let words = (memory.ok_or(BootError::NoTables)?.end - address) / 4;
    // SAFETY: the kernel has all memory of domains mapped; what the block says that it is nobody can write.
    let block = unsafe { core::slice::from_raw_parts(window(PhysAddr(address)).0 as *const u32, words as usize) };
    System::parse_of::<Vmsav7>(block).map_err(|_| BootError::BadTables)
}

/// The kernel itself went wrong, at about `pc` (0: unknown), by the exception of this mode: stops where everything is still visible.
#[unsafe(no_mangle)]
extern "C" fn kernel_panic(pc: u32, _mode: u32) -> ! {
    stop(None, pc)
}

/// Says why on the trace port, which ends a run, and stops.
fn stop(error: Option<BootError>, pc: u32) -> ! {
    // SAFETY: the kernel does not go on.
    unsafe { boot::stopped(&raw mut COFFERDAM_TRACE_PORT, error, pc) };
    armv7a::park()
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    kernel_panic(0, 0)
}
