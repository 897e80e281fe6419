//! The miss path in assembly (`arch/armv-m/src/miss.rs`, with the macros of the port) against `Kernel::on_miss`, without a domain that runs: both answer the same faults
//! in the same state, thousands of them, over random tables of regions; then all that they leave behind is compared. The processor cannot be
//! told which fault there was, so that the assembled code, as it stands in RAM, reads a fault from words in memory instead of from the
//! system control space: one word of its literals is changed. Prints one line, and ends with the number of the cases in which they differ.
#![no_std]
#![no_main]

mod assembly;
mod cases;
mod random;
mod regions;
mod world;

use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use abi::trace::{Event, IDLE, header};
use kernel::Kernel;
use kernel::entry::{Args, Next};
use port::regs::Reg;
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

unsafe extern "C" {
    static mut COFFERDAM_TRACE_PORT: [u32; 2];
}

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
    ended(failed)
}

/// The board's first UART.
struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const DATA: u32 = 0x0;
        const STATE: u32 = 0x4;
        const CONTROL: u32 = 0x8;
        const DIVIDER: u32 = 0x10;
        const FULL: u32 = 1;
        const TRANSMIT: u32 = 1;
        const SHORTEST: u32 = 16;
        // SAFETY: a register of the UART.
        let register = |offset| unsafe { Reg::new(board::device::UART0.start + offset) };
        register(DIVIDER).write(SHORTEST);
        register(CONTROL).write(TRANSMIT);
        for byte in text.bytes() {
            while register(STATE).read() & FULL != 0 {}
            register(DATA).write(u32::from(byte));
        }
        Ok(())
    }
}

/// Ends the run.
fn ended(status: u32) -> ! {
    let port = (&raw mut COFFERDAM_TRACE_PORT).cast::<u32>();
    // SAFETY: the trace port, which nobody else uses any more.
    unsafe {
        port.write_volatile(status);
        port.add(1).write_volatile(header(Event::End, IDLE, 0));
    }
    port::park()
}

#[unsafe(no_mangle)]
extern "C" fn kernel_panic(exception: u32) -> ! {
    let _ = writeln!(Console, "exception {exception}");
    ended(0xdead)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo) -> ! {
    let _ = writeln!(Console, "{info}");
    ended(0xdead)
}
