//! Reset, vectors, and the idle loop.

use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use kernel::arch::Start;
use kernel::boot::{self, BootError};
use port::Chip;
use protect::Span;
use protect::regions::REGIONS;
use protect::{Access, MemType};
use system::System;
use units::{Bytes, PhysAddr, VirtAddr};

use crate::board;
use crate::described::{Described, Machine};

global_asm!(
    r#"
    .syntax unified
    .section .vectors, "a", %progbits
    .word   __boot_stack_top
    .word   reset_entry
    .word   cofferdam_kernel_fault  @ NMI
    .word   cofferdam_hard_entry
    .word   cofferdam_memory_entry
    .word   cofferdam_fault_entry   @ BusFault
    .word   cofferdam_fault_entry   @ UsageFault
    .word   cofferdam_fault_entry   @ SecureFault, where there is one
    .word   0, 0, 0
    .word   cofferdam_call_entry
    .word   cofferdam_fault_entry   @ DebugMonitor
    .word   0
    .word   cofferdam_first_entry   @ PendSV
    .word   cofferdam_timer_entry
    .set    line, 0
    .rept   {lines}
    .if     line == {sampler} || line == {counter}
    .word   cofferdam_meter_entry
    .else
    .word   cofferdam_interrupt_entry
    .endif
    .set    line, line + 1
    .endr

@ Where the processor looks at reset, if the other vectors are copied to their place only then.
    .section .vectors.reset, "a", %progbits
    .word   __boot_stack_top
    .word   reset_entry

    .section .text.reset, "ax", %progbits
@ Copies what runs from memory without wait states, clears .bss, continues in Rust.
    .global reset_entry
    .type reset_entry, %function
    .thumb_func
reset_entry:
    cpsid   i
    ldr     r0, =__kernel_hot_start
    ldr     r1, =__kernel_hot_end
    ldr     r2, =__kernel_hot_load
    bl      reset_copy
    ldr     r0, =__kernel_data_start
    ldr     r1, =__kernel_data_end
    ldr     r2, =__kernel_data_load
    bl      reset_copy
    ldr     r0, =__kernel_vectors
    ldr     r1, =0xe000ed08         @ VTOR
    str     r0, [r1]
    ldr     r0, =__kernel_bss_start
    ldr     r1, =__kernel_bss_end
    movs    r2, #0
1:  cmp     r0, r1
    itt     lo
    strlo   r2, [r0], #4
    blo     1b
    bl      kernel_start
    ldr     r1, =__kernel_stack_top
    msr     msp, r1
    b       cofferdam_first
    .thumb_func
reset_copy:
    cmp     r0, r1
    ittt    lo
    ldrlo   r3, [r2], #4
    strlo   r3, [r0], #4
    blo     reset_copy
    bx      lr

@ Runs when no thread can. Unprivileged like any thread; its regions are this loop and its stack.
    .section .hot.idle, "ax", %progbits
    .balign 32
    .global cofferdam_idle
    .type cofferdam_idle, %function
    .thumb_func
cofferdam_idle:
    wfi
    b       cofferdam_idle
    .balign 32
"#,
    lines = const board::LINES,
    sampler = const board::SAMPLER_LINE,
    counter = const board::COUNTER_LINE,
);

/// Address of the block of tables, written by the host tool.
#[unsafe(no_mangle)]
#[used]
#[unsafe(link_section = ".system")]
static COFFERDAM_SYSTEM: [u32; 1] = [0xffff_ffff];

/// The kernel of this CPU. Written once in `kernel_start`, then used by exception handlers only, which never nest except
/// for faults of the kernel itself, which do not use it.
struct Cpu(UnsafeCell<MaybeUninit<Machine>>);

// SAFETY: there is one CPU, and handlers do not preempt each other (see `Cpu`).
unsafe impl Sync for Cpu {}

#[unsafe(no_mangle)]
static COFFERDAM_CPU: Cpu = Cpu(UnsafeCell::new(MaybeUninit::uninit()));

/// The kernel, in handlers.
#[inline]
pub fn kernel() -> &'static mut Machine {
    // SAFETY: handlers run after `kernel_start` has written it, and one at a time.
    unsafe { (*COFFERDAM_CPU.0.get()).assume_init_mut() }
}

unsafe extern "C" {
    static __idle_stack_start: u8;
    static __kernel_objects_start: u8;
    static __kernel_objects_end: u8;
    static mut __boot_stack_bottom: u32;
    static mut COFFERDAM_TRACE_PORT: [u32; 2];
    fn cofferdam_idle();
}

/// Marks the end of the boot stack, so that an overflow into the kernel's objects is noticed before anything runs.
const STACK_MARK: u32 = 0x5afe_57ac;

/// Reads the tables, makes all objects, and returns the first thread's context.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".cold.start")]
extern "C" fn kernel_start() {
    if port::region_registers() != REGIONS as u32 {
        stop(Some(BootError::Regions), 0);
    }
    let idle_entry = cofferdam_idle as *const () as u32;
    let idle_stack = (&raw const __idle_stack_start) as u32;
    let idle = Start {
        entry: VirtAddr(idle_entry),
        link: VirtAddr(0),
        stack_base: VirtAddr(idle_stack),
        stack_bytes: Bytes(256),
        args: [0; 4],
    };
    let arch = Chip::new(Described, idle);
    let objects_start = (&raw const __kernel_objects_start) as u32;
    let objects_end = (&raw const __kernel_objects_end) as u32;
    let idle_memory = [
        (Span::new(idle_entry & !1, 32), Access::RX, MemType::WriteThrough),
        (Span::new(idle_stack, 256), Access::RW, MemType::WriteBack),
    ];
    // SAFETY: the lowest word of the boot stack, far below what is in use now.
    unsafe { (&raw mut __boot_stack_bottom).write_volatile(STACK_MARK) };
    let result = tables().and_then(|tables| {
        port::open!(&tables, board)?;
        let objects = (PhysAddr(objects_start), Bytes(objects_end - objects_start));
        boot::Boot { tables, objects, idle: idle_memory }.kernel(arch)
    });
    match result {
        Ok(machine) => {
            // SAFETY: no handler runs yet.
            let kernel = unsafe { (*COFFERDAM_CPU.0.get()).write(machine) };
            kernel.start();
            // SAFETY: as above.
            if unsafe { (&raw mut __boot_stack_bottom).read_volatile() } != STACK_MARK {
                kernel_panic(0);
            }
        }
        Err(error) => stop(Some(error), 0),
    }
}

/// The tables that the host tool put into flash.
fn tables() -> Result<System<'static>, BootError> {
    // SAFETY: reads the word as it is in flash, which the tool has patched after the compiler saw it.
    let address = unsafe { (&raw const COFFERDAM_SYSTEM[0]).read_volatile() };
    let flash = board::memory::FLASH;
    if !flash.contains(&address) || !address.is_multiple_of(4) {
        return Err(BootError::NoTables);
    }
    let words = ((flash.end - address) / 4) as usize;
    // SAFETY: the range lies in flash, which is readable and never written.
    let block = unsafe { core::slice::from_raw_parts(address as *const u32, words) };
    System::parse_of::<<port::Core as port::Port>::Unit>(block).map_err(|_| BootError::BadTables)
}

/// The kernel itself is wrong, at about `pc` (0: unknown): stops where everything is still visible.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".cold.panic")]
extern "C" fn kernel_panic(pc: u32) -> ! {
    stop(None, pc)
}

/// Says why on the trace port, which ends a run, and stops.
fn stop(error: Option<BootError>, pc: u32) -> ! {
    // SAFETY: the kernel does not go on.
    unsafe { boot::stopped(&raw mut COFFERDAM_TRACE_PORT, error, pc) };
    port::park()
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    kernel_panic(0)
}
