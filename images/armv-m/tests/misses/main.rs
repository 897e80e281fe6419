//! The miss path in assembly (`arch/armv-m/src/miss.rs`, with the macros of the port) against `Kernel::on_miss`, without a domain that runs: both answer the same faults
//! in the same state, thousands of them, over random tables of regions; then all that they leave behind is compared. The processor cannot be
//! told which fault there was, so that the assembled code, as it stands in RAM, reads a fault from words in memory instead of from the
//! system control space: one word of its literals is changed. Prints one line, and exits with the number of the cases in which they differ.
#![no_std]
#![no_main]

mod assembly;
mod cases;
mod random;
mod regions;
mod world;

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use kernel::Kernel;
use kernel::entry::{Args, Next};
use port::{Board, Chip, Context};

/// Constants of the board's file.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

/// The board, whose time stands still.
struct Described;

impl Board for Described {
    const TICKS_PER_SECOND: u32 = board::TICKS_PER_SECOND;
    const SHORTEST_TICKS: u32 = board::SHORTEST_TICKS;
    const RELOAD_TICKS: u32 = board::START_TICKS;

    fn start(&mut self) {}

    fn counter(&mut self) -> u32 {
        0
    }

    fn end(&mut self, status: u32) {
        exit(status);
    }
}

type Arch = Chip<Described>;
type Machine = Kernel<Arch>;

kernel::entry_points!(Chip<Described>);
kernel::entry_points! { Chip<Described>;
    port::simple as kernel_simple(args: &Args, number: u32) -> *mut Context, "Not called.";
    port::timer as kernel_timer() -> *mut Context, "Not called.";
    port::interrupt as kernel_interrupt(exception: u32) -> Next<Chip<Described>>, "Not called.";
    port::miss as kernel_miss(address: u32) -> u32, "The model, which the assembly calls, too, where victims are random.";
    port::counted as kernel_counted() -> *mut Context, "Not called.";
    port::late as kernel_late() -> *mut Context, "Not called.";
}
port::own_entry_points!(Described);

#[unsafe(no_mangle)]
extern "C" fn kernel_fault() -> *mut Context {
    kernel_panic(1)
}

#[unsafe(no_mangle)]
extern "C" fn kernel_wrong_stack() -> *mut Context {
    kernel_panic(2)
}

/// Memory that the assembly and this program use, one after the other.
#[repr(transparent)]
struct Shared<T>(UnsafeCell<T>);

// SAFETY: one CPU, and no interrupt is enabled.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    const fn new(value: T) -> Shared<T> {
        Shared(UnsafeCell::new(value))
    }

    const fn get(&self) -> *mut T {
        self.0.get()
    }
}

#[unsafe(no_mangle)]
static COFFERDAM_CPU: Shared<MaybeUninit<Machine>> = Shared::new(MaybeUninit::uninit());

/// The host tool's word, which nobody reads here.
#[unsafe(no_mangle)]
#[used]
#[unsafe(link_section = ".system")]
static COFFERDAM_SYSTEM: [u32; 1] = [0];

global_asm!(
    r#"
    .syntax unified
    .section .vectors, "a", %progbits
    .word   __boot_stack_top
    .word   reset_entry
    .rept   14
    .word   unexpected_entry
    .endr

    .section .vectors.reset, "a", %progbits
    .word   __boot_stack_top
    .word   reset_entry

    .section .text.reset, "ax", %progbits
    .global reset_entry
    .type reset_entry, %function
    .thumb_func
reset_entry:
    cpsid   i
    ldr     r0, =__kernel_hot_start
    ldr     r1, =__kernel_hot_end
    ldr     r2, =__kernel_hot_load
    bl      1f
    ldr     r0, =__kernel_data_start
    ldr     r1, =__kernel_data_end
    ldr     r2, =__kernel_data_load
    bl      1f
    ldr     r0, =__kernel_bss_start
    ldr     r1, =__kernel_bss_end
    movs    r2, #0
2:  cmp     r0, r1
    itt     lo
    strlo   r2, [r0], #4
    blo     2b
    bl      compare
1:  cmp     r0, r1
    ittt    lo
    ldrlo   r3, [r2], #4
    strlo   r3, [r0], #4
    blo     1b
    bx      lr

    .type unexpected_entry, %function
    .thumb_func
unexpected_entry:
    mrs     r0, ipsr
    b       kernel_panic
"#
);

#[unsafe(no_mangle)]
extern "C" fn compare() -> ! {
    let mut out = Console;
    let failed = match world::boot() {
        Ok(domains) => cases::run(&domains, &mut out),
        Err(error) => {
            let _ = writeln!(out, "boot: {error:?}");
            u32::MAX
        }
    };
    exit(failed);
    parked()
}

/// Semihosting's console.
struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const SYS_WRITEC: u32 = 3;
        for byte in text.bytes() {
            // SAFETY: the byte outlives the call.
            unsafe { asm!("bkpt 0xab", inout("r0") SYS_WRITEC => _, in("r1") &raw const byte) };
        }
        Ok(())
    }
}

/// Ends the run: SYS_EXIT_EXTENDED, ADP_Stopped_ApplicationExit.
fn exit(status: u32) {
    let block: [u32; 2] = [0x20026, status];
    // SAFETY: the block outlives the call.
    unsafe { asm!("bkpt 0xab", inout("r0") 0x20 => _, in("r1") &raw const block) };
}

fn parked() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[unsafe(no_mangle)]
extern "C" fn kernel_panic(exception: u32) -> ! {
    let _ = writeln!(Console, "exception {exception}");
    exit(0xdead);
    parked()
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo) -> ! {
    let _ = writeln!(Console, "{info}");
    exit(0xdead);
    parked()
}
