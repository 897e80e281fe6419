//! Runs the assembled miss path with a fault of one's own, and catches it at every way out.

use core::arch::{asm, global_asm};

use crate::{Shared, world};

global_asm!(
    r#"
    .syntax unified
    .section .text.answer_miss, "ax", %progbits

@ Takes a fault as the processor would, with the main stack pointer where a thread finds it.
@   in        r0 = process stack pointer, r1 = lr of the exception, 0: one that leads back here
@   out       r0 = 0: the access is repeated; 1: refused; 2: counted; 3: a fault of the kernel. 16 more: the stack is not where it was;
@             32: a register that the hardware has not saved is changed; 64: so is lr
    .global answer_miss
    .type answer_miss, %function
    .thumb_func
answer_miss:
    push    {{r4-r11, lr}}
    ldr     r2, =answer_stack
    str     sp, [r2]
    ldr     r2, =__kernel_stack_top
    mov     sp, r2
    msr     psp, r0
    mov     r4, #0x4400
    mov     r5, #0x5500
    mov     r6, #0x6600
    mov     r7, #0x7700
    ldr     lr, =answer_again + 1
    cmp     r1, #0
    it      ne
    movne   lr, r1
    b.w     cofferdam_memory_entry
    .balign 64
    .space  36
@ Bits 2 and 5 of its address are set, as in an EXC_RETURN to the process stack with callee registers where the default rule says.
    .global answer_again
    .type answer_again, %function
    .thumb_func
answer_again:
    movs    r0, #0
    ldr     lr, =answer_again + 1
    b       9f
    .global answer_refused
    .type answer_refused, %function
    .thumb_func
answer_refused:
    movs    r0, #1
    b       9f
    .global answer_counted
    .type answer_counted, %function
    .thumb_func
answer_counted:
    movs    r0, #2
    b       9f
    .global answer_kernel
    .type answer_kernel, %function
    .thumb_func
answer_kernel:
    movs    r0, #3
    ldr     lr, =answer_again + 1
9:  ldr     r2, =__kernel_stack_top
    cmp     r2, sp
    it      ne
    orrne   r0, #16
    ldr     r2, =answer_stack
    ldr     sp, [r2]
    sub     r4, #0x4400
    sub     r5, #0x5500
    sub     r6, #0x6600
    sub     r7, #0x7700
    orrs    r4, r5
    orrs    r6, r7
    orrs    r4, r6
    it      ne
    orrne   r0, #32
    ldr     r2, =answer_again + 1
    cmp     r2, lr
    it      ne
    orrne   r0, #64
    pop     {{r4-r11, pc}}
    .ltorg
"#
);

unsafe extern "C" {
    fn answer_miss(psp: *const [u32; 8], lr: u32) -> u32;
    fn answer_refused();
    fn answer_counted();
    fn answer_kernel();
    fn cofferdam_memory_entry();
    fn cofferdam_fault_entry();
    fn cofferdam_counted();
    fn cofferdam_kernel_fault();
    static __kernel_hot_end: u32;
}

#[unsafe(no_mangle)]
static answer_stack: Shared<u32> = Shared::new(0);

/// The part of the system control space that the miss path uses, from CFSR to the region registers.
static REGISTERS: Shared<[u32; 31]> = Shared::new([0; 31]);
const CFSR: usize = 0;
const MMFAR: usize = 3;
const MPU_RNR: usize = 28;
const MPU_RBAR: usize = 29;
/// Hardware address of the last of these.
const RBAR_ADDRESS: u32 = 0xe000_ed9c;

/// Values that the miss path left in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// CFSR.
    pub status: u32,
    /// MPU_RNR, MPU_RBAR and MPU_RASR or MPU_RLAR.
    pub region: [u32; 3],
}

/// Leads the miss path to [`REGISTERS`], and its ways out to this program.
///
/// # Errors
/// What was not found.
pub fn prepare() -> Result<(), &'static str> {
    let code = |function: unsafe extern "C" fn()| (function as usize as u32 & !1) as *mut u32;
    let (mut at, end) = (code(cofferdam_memory_entry), &raw const __kernel_hot_end);
    let registers = REGISTERS.get().cast::<u32>().wrapping_add(MPU_RBAR) as u32;
    // The first such word behind the code is its own: every part of the entry code has its literals behind it.
    // SAFETY: within the hot section, which is in RAM and not executed now.
    unsafe {
        while at.cast_const() < end && at.read_volatile() != RBAR_ADDRESS {
            at = at.add(1);
        }
        if at.cast_const() >= end {
            return Err("the address of MPU_RBAR among the literals");
        }
        at.write_volatile(registers);
        let ways = [
            (cofferdam_fault_entry as unsafe extern "C" fn(), answer_refused as unsafe extern "C" fn()),
            (cofferdam_counted, answer_counted),
            (cofferdam_kernel_fault, answer_kernel),
        ];
        for (way, own) in ways {
            lead(way as usize as u32 & !1, own as usize as u32);
        }
        asm!("dsb", "isb");
    }
    Ok(())
}

/// Puts a jump at the beginning of a function.
///
/// # Safety
/// It is in RAM, and nobody executes it or the 12 bytes from there in any other way.
unsafe fn lead(from: u32, to: u32) {
    const LDR_PC: [u16; 2] = [0xf8df, 0xf000];
    let halves = from as *mut u16;
    // `ldr.w pc, [pc]` takes the word behind it where it is aligned; else there is half a word between.
    let word = if from.is_multiple_of(4) { 2 } else { 3 };
    // SAFETY: the caller's duty.
    unsafe {
        halves.write_volatile(LDR_PC[0]);
        halves.add(1).write_volatile(LDR_PC[1] | if word == 3 { 4 } else { 0 });
        halves.add(word).write_volatile(to as u16);
        halves.add(word + 1).write_volatile((to >> 16) as u16);
    }
}

/// Takes a fault with this status and address, with `pc` in the frame and `lr` (0: of a thread). How it ended, and what was written.
pub fn answer(status: u32, address: u32, pc: u32, lr: u32, region: [u32; 3]) -> (u32, Written) {
    let frame = world::frame();
    let words = REGISTERS.get().cast::<u32>();
    // SAFETY: only the assembly uses them beside this function, and it returns before they are read.
    unsafe {
        frame.write_volatile([1, 2, 3, 4, 5, 6, pc, 8]);
        words.add(CFSR).write_volatile(status);
        words.add(MMFAR).write_volatile(address);
        words.add(MPU_RNR).cast::<[u32; 3]>().write_volatile(region);
        let end = answer_miss(frame, lr);
        let region = words.add(MPU_RNR).cast::<[u32; 3]>().read_volatile();
        (end, Written { status: words.add(CFSR).read_volatile(), region })
    }
}
