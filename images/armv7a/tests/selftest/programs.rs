//! The programs that run in user mode: one well-behaved program, and misdeeds.
//! Position-independent; the self-test copies all of it into a frame.

use core::arch::global_asm;

/// Virtual address of the programs in every domain.
pub const CODE: u32 = 0x0001_0000;
/// A page of data with the stack at its end; of each domain another frame.
pub const DATA: u32 = 0x0002_0000;
/// A page that domains only read.
pub const CONST: u32 = 0x0003_0000;
/// Numbers of the programs' calls, which are none of the kernel's: a program has found this; it is that far. Any other: a check failed.
pub const REPORT: u32 = 201;
/// As [`REPORT`].
pub const STAGE: u32 = 202;
/// Nothing is there.
pub const NOTHING: u32 = 0x0030_0000;

global_asm!(
    r#"
    .syntax unified
    .arch armv7-a
    .fpu neon
    .arm
    .section .rodata.user, "a", %progbits
    .balign 16
    .global user_start
user_start:

@ r0 = identity. Reports what it finds, then counts and checks for ever.
    .global user_main
user_main:
    mov     r8, r0
    mov     r7, #0x20000
@ Of the floating-point registers nothing may be left from anybody else.
    vorr    q0, q0, q1
    vorr    q2, q2, q3
    vorr    q4, q4, q5
    vorr    q6, q6, q7
    vorr    q8, q8, q9
    vorr    q10, q10, q11
    vorr    q12, q12, q13
    vorr    q14, q14, q15
    vorr    q0, q0, q2
    vorr    q4, q4, q6
    vorr    q8, q8, q10
    vorr    q12, q12, q14
    vorr    q0, q0, q4
    vorr    q8, q8, q12
    vorr    q0, q0, q8
    vorr    d0, d0, d1
    vmov    r1, r2, d0
    vmrs    r3, fpscr
    orr     r1, r1, r2
    orr     r1, r1, r3
    mrc     p15, 0, r2, c13, c0, 2
    orr     r1, r1, r2
    mcr     p15, 0, r8, c13, c0, 2
    ldr     r0, [r7]
    mov     r12, #201
    svc     #0
    vdup.32 q0, r8
    vdup.32 q7, r8
    vdup.32 q15, r8
1:  ldr     r1, [r7, #4]
    add     r1, r1, #1
    str     r1, [r7, #4]
    ldr     r1, [r7]
    cmp     r1, r8
    mov     r0, #1
    bne     2f
    vorr    q1, q0, q7
    vand    q2, q0, q15
    vmov    r2, r3, d2
    mov     r0, #2
    cmp     r2, r8
    cmpeq   r3, r8
    bne     2f
    vmov    r2, r3, d5
    mov     r0, #3
    cmp     r2, r8
    cmpeq   r3, r8
    bne     2f
    mrc     p15, 0, r2, c13, c0, 2
    mov     r0, #4
    cmp     r2, r8
    bne     2f
    b       1b
2:  mov     r12, #203
    svc     #0
    b       .

@ Reads a page four times; in between the kernel changes it, locks it, and changes it again.
    .global user_remap
user_remap:
    mov     r7, #0x30000
    ldr     r0, [r7]
    mov     r12, #202
    svc     #0
    ldr     r0, [r7]
    mov     r12, #202
    svc     #0
    ldr     r0, [r7]
    mov     r12, #202
    svc     #0
    ldr     r0, [r7]
    mov     r12, #202
    svc     #0
    b       .

@ In Thumb state, by way of the number that simulators take for their own when the kernel uses it.
    .global user_arm_call
user_arm_call:
    movw    r0, #0xa32
    mov     r12, #202
    svc     #0x123456
    b       .
    .thumb
    .thumb_func
    .global user_thumb_call
user_thumb_call:
    movw    r0, #0x706
    mov     r12, #202
    adds    r0, r0, #0x10
    svc     #0xab
    b       .
    .arm

    .macro MISDEED name
    .global \name
    .balign 4
\name:
    .endm

    MISDEED bad_read
    mov     r7, #0x300000
    .global bad_read_at
bad_read_at:
    ldr     r0, [r7, #8]
    b       .

    MISDEED bad_write_code
    mov     r7, #0x10000
    .global bad_write_code_at
bad_write_code_at:
    str     r7, [r7]
    b       .

    MISDEED bad_write_const
    mov     r7, #0x30000
    .global bad_write_const_at
bad_write_const_at:
    strb    r7, [r7, #1]
    b       .

    MISDEED bad_read_kernel
    movw    r7, #0
    movt    r7, #0xfffc
    .global bad_read_kernel_at
bad_read_kernel_at:
    ldr     r0, [r7]
    b       .

    MISDEED bad_write_tables
    movw    r7, #0
    movt    r7, #0xfffe
    .global bad_write_tables_at
bad_write_tables_at:
    str     r7, [r7]
    b       .

    MISDEED bad_write_window
    movw    r7, #0
    movt    r7, #0x8111
    .global bad_write_window_at
bad_write_window_at:
    str     r7, [r7]
    b       .

    MISDEED bad_device
    movw    r7, #0x1000
    movt    r7, #0xe000
    .global bad_device_at
bad_device_at:
    str     r7, [r7]
    b       .

    MISDEED bad_execute_data
    mov     r7, #0x20000
    bx      r7

    MISDEED bad_execute_kernel
    movw    r7, #0
    movt    r7, #0xfffc
    bx      r7

    MISDEED bad_undefined
    udf     #1

    MISDEED bad_system_register
    mrc     p15, 0, r0, c1, c0, 0
    b       .

    MISDEED bad_write_system_register
    mcr     p15, 0, r0, c13, c0, 1
    b       .

    MISDEED bad_thumb_ee
    mrc     p14, 6, r0, c1, c0, 0
    b       .

    MISDEED bad_breakpoint
    bkpt    #0
    b       .

    MISDEED bad_alignment
    mov     r7, #0x20000
    add     r7, r7, #2
    .global bad_alignment_at
bad_alignment_at:
    ldmia   r7, {{r0, r1}}
    b       .

    MISDEED bad_stack
    mov     sp, #0x300000
    push    {{r0, r1}}
    b       .

@ A user mode that asks for more stays one.
    MISDEED bad_mode
    cps     #0x13
    msr     cpsr_c, #0x13
    movw    r7, #0
    movt    r7, #0xfffc
    .global bad_mode_at
bad_mode_at:
    ldr     r0, [r7]
    b       .

    .global user_end
user_end:
"#
);

macro_rules! labels {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(safe static $name: u8;)*
        }
    };
}

labels! {
    user_start user_end user_main user_remap user_arm_call user_thumb_call
    bad_read bad_read_at bad_write_code bad_write_code_at bad_write_const bad_write_const_at bad_read_kernel bad_read_kernel_at
    bad_write_tables bad_write_tables_at bad_write_window bad_write_window_at bad_device bad_device_at bad_execute_data
    bad_execute_kernel bad_undefined bad_system_register bad_write_system_register bad_thumb_ee bad_breakpoint bad_alignment bad_alignment_at
    bad_stack bad_mode bad_mode_at
}

/// The programs' bytes.
pub fn image() -> &'static [u8] {
    let (start, end) = (&raw const user_start, &raw const user_end);
    // SAFETY: both symbols delimit one section of this program.
    unsafe { core::slice::from_raw_parts(start, end as usize - start as usize) }
}

/// Virtual address of a label in every domain.
fn at(label: &'static u8) -> u32 {
    (&raw const *label) as u32 - (&raw const user_start) as u32 + CODE
}

/// The program that behaves.
pub fn main() -> u32 {
    at(&user_main)
}

/// The one that has a page changed.
pub fn remap() -> u32 {
    at(&user_remap)
}

/// A call with an immediate that means something to simulators, and its first argument.
pub fn arm_call() -> (u32, u32) {
    (at(&user_arm_call), 0xa32)
}

/// A call in Thumb state.
pub fn thumb_call() -> (u32, u32) {
    (at(&user_thumb_call) | 1, 0x716)
}

/// A program that must fault.
pub struct Misdeed {
    /// Its name in the report.
    pub name: &'static str,
    /// Address of its first instruction.
    pub entry: u32,
    /// The kind of fault that the kernel must report.
    pub kind: abi::trace::Fault,
    /// The address that must be reported.
    pub address: u32,
    /// The program counter that must be reported.
    pub pc: u32,
}

/// All of them.
pub fn misdeeds() -> [Misdeed; 17] {
    use abi::trace::Fault::{Data, Execute, Stack, Usage};
    let access = |name, entry: &'static u8, address, instruction: &'static u8| Misdeed {
        name,
        entry: at(entry),
        kind: Data,
        address,
        pc: at(instruction),
    };
    let usage = |name, entry: &'static u8, instruction: &'static u8| Misdeed {
        name,
        entry: at(entry),
        kind: Usage,
        address: at(instruction),
        pc: at(instruction),
    };
    let fetch = |name, entry: &'static u8, to| Misdeed { name, entry: at(entry), kind: Execute, address: to, pc: to };
    [
        access("read of nothing", &bad_read, NOTHING + 8, &bad_read_at),
        access("write to code", &bad_write_code, CODE, &bad_write_code_at),
        access("write to constants", &bad_write_const, CONST + 1, &bad_write_const_at),
        access("read of the kernel", &bad_read_kernel, 0xfffc_0000, &bad_read_kernel_at),
        access("write to its tables", &bad_write_tables, 0xfffe_0000, &bad_write_tables_at),
        access("write through the kernel's window", &bad_write_window, 0x8111_0000, &bad_write_window_at),
        access("write to a device", &bad_device, 0xe000_1000, &bad_device_at),
        access("read of the kernel after asking for its mode", &bad_mode, 0xfffc_0000, &bad_mode_at),
        fetch("execution of data", &bad_execute_data, DATA),
        fetch("execution of the kernel", &bad_execute_kernel, 0xfffc_0000),
        usage("undefined instruction", &bad_undefined, &bad_undefined),
        usage("read of a system register", &bad_system_register, &bad_system_register),
        usage("write to the ASID", &bad_write_system_register, &bad_write_system_register),
        usage("read of a register of ThumbEE", &bad_thumb_ee, &bad_thumb_ee),
        usage("breakpoint", &bad_breakpoint, &bad_breakpoint),
        usage("unaligned load of two words", &bad_alignment, &bad_alignment_at),
        Misdeed { name: "stack pointer elsewhere", entry: at(&bad_stack), kind: Stack, address: NOTHING, pc: 0 },
    ]
}
