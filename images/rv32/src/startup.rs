//! From the entry code's first call to the first thread.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use kernel::boot::{self, Boot, BootError};
use rv32::{Context, Rv32};
use system::System;
use system::rtmmu::Rtmmu;
use units::{Bytes, PhysAddr};

use crate::{Described, Machine, board};

/// Physical address of the block of tables, written by the host tool.
#[unsafe(no_mangle)]
#[used]
#[unsafe(link_section = ".system")]
static COFFERDAM_SYSTEM: [u32; 1] = [0xffff_ffff];

/// The kernel of this core. Written once in `kernel_start`, then used by the handlers that the entry code calls with it, which nothing interrupts.
struct Cpu(UnsafeCell<MaybeUninit<Machine>>);

// SAFETY: there is one core, and nothing interrupts the kernel (see `Cpu`).
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

/// Reads the tables, makes all objects, and returns the first thread's context.
#[unsafe(no_mangle)]
extern "C" fn kernel_start() -> *mut Context {
    // SAFETY: the lowest word of the boot stack, far below what is in use now.
    unsafe { (&raw mut __boot_stack_bottom).write_volatile(STACK_MARK) };
    let start = (&raw const __kernel_objects_start) as u32;
    let objects = (PhysAddr(start), Bytes((&raw const __kernel_objects_end) as u32 - start));
    let processor = Rv32::new(Described).ok_or(BootError::WrongBoard);
    let result = processor
        .and_then(|processor| Ok((processor, tables()?)))
        .and_then(|(processor, tables)| Boot { tables, objects, idle: () }.kernel(processor));
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

/// The tables that the host tool put into a memory of domains, where nobody writes them.
fn tables() -> Result<System<'static>, BootError> {
    // SAFETY: reads the word as it is in the image, which the tool has patched after the compiler saw it.
    let address = unsafe { (&raw const COFFERDAM_SYSTEM[0]).read_volatile() };
    let memory = board::DOMAINS.into_iter().find(|memory| memory.contains(&address) && address.is_multiple_of(4));
    let words = (memory.ok_or(BootError::NoTables)?.end - address) / 4;
    // SAFETY: memory is there up to its end; what the block says that it is nobody can write.
    let block = unsafe { core::slice::from_raw_parts(address as *const u32, words as usize) };
    System::parse_of::<Rtmmu>(block).map_err(|_| BootError::BadTables)
}

/// The kernel itself went wrong, at about `pc` (0: unknown), for this reason: stops where everything is still visible.
#[unsafe(no_mangle)]
extern "C" fn kernel_panic(pc: u32, _reason: u32) -> ! {
    stop(None, pc)
}

/// Says why on the trace port, and ends the run; on silicon the processor waits for good.
fn stop(error: Option<BootError>, pc: u32) -> ! {
    // SAFETY: the kernel does not go on.
    let status = unsafe { boot::stopped(&raw mut COFFERDAM_TRACE_PORT, error, pc) };
    crate::end(status);
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    kernel_panic(0, 0)
}
