//! The memory-protection fault: what happens between an access that a paged region permits and its repetition.
//!
//! Everything here is assembly, because each instruction lengthens every miss. It does what
//! `Kernel::on_miss` does, which is the reference and serves domains with random replacement. On
//! Armv7-M it takes 64 instructions from the first one to the return if the table has one level, 6
//! for each further level, and 4 if a generation of slots ends. A fetch takes 12 more. A fetch that
//! straddles two regions takes one look-up more if the first is loaded.
//!
//! A port brings, with r0 = address, r1 = entry of the leaf (its address, and bit 0), r2 = domain, r3 = MPU_RBAR:
//!
//! * `MATCH no` loads r4 and r5 with the leaf, r1 with its address, and goes to `no` if it does not contain r0. Clobbers r6, r7.
//! * `LOADED yes` goes to `yes` if the leaf is in the slot that it remembers. Clobbers r6, r7.
//! * `STACKED reg, return` is the address of the frame's basic part, whose EXC_RETURN is in `return`. Clobbers flags.
//! * `INSTALL` puts the leaf into slot r7: the leaf, the image and the registers. Clobbers r1, r4-r6.

use kernel::Kernel;
use kernel::regions::Resolution;
use units::VirtAddr;

use crate::machine::{Board, Machine, Port};
use crate::regs;

/// The code of a miss, for [`entry_code!`](crate::entry_code): assembled together with the macros that it uses, because the order of two blocks of assembly is
/// the compiler's.
#[macro_export]
macro_rules! miss_text {
    () => {
    r#"
    .section .hot.miss, "ax", %progbits

@   in        lr = EXC_RETURN; on the process stack, or the kernel itself is wrong
@   clobbers  r0-r3, r12, flags, which the hardware has saved
@ Registers: r0 address, r1 entry of the trie, then the leaf's address, r2 domain, r3 MPU_RBAR, r12 kernel.
    .balign 8
    .global cofferdam_memory_entry
    .type cofferdam_memory_entry, %function
    .thumb_func
cofferdam_memory_entry:
    tst     lr, #4
    beq     cofferdam_kernel_fault
    TOP
    ldr     r3, ={rbar}
    ldr     r12, =COFFERDAM_CPU
    @ All of the status: beside a fault of another kind, nothing says that the frame was written or that the access can be repeated.
    ldr     r0, [r3, #{cfsr} - {rbar}]
    cmp     r0, #{data}
    bne     cofferdam_fetch
    ldr     r0, [r3, #{mmfar} - {rbar}]
cofferdam_find:
    ldr     r2, [r12]
    ldr     r2, [r2, #{domain}]
    push    {{r4-r7, lr}}
cofferdam_find_again:
    ldr     r1, [r2, #{root}]
    @ Down the trie: bit 0 of an entry says that it is the address of a leaf; otherwise its low bits are the shift, which is even.
    .rept   {depth}
    lsls    r4, r1, #31
    bne     cofferdam_leaf
    ror     r4, r0, r1
    bfc     r1, #0, #5
    and     r4, r4, #63
    ldr     r1, [r1, r4, lsl #2]
    .endr

@ r4, r5 = the words of the leaf. Does it contain the address?
cofferdam_leaf:
    MATCH   cofferdam_no_region
    @ Is it where it was loaded last? Then it does not permit the access.
    LOADED  cofferdam_no_region

@ The victim, in r7.
    ldr     r7, [r2, #{random}]
    ldr     r6, [r2, #{candidates}]
    cbnz    r7, cofferdam_miss_random
    clz     r7, r6
    mov     lr, #0x80000000
    lsr     lr, lr, r7
    bics    r6, r6, lr
    bne     cofferdam_load
    @ Every paged slot was filled: all may be victims again, but the last as the policy says.
    ldr     r6, [r2, #{keep}]
    and     r6, r6, lr
    ldr     lr, [r2, #{paged}]
    bic     r6, lr, r6
cofferdam_load:
    str     r6, [r2, #{candidates}]
    INSTALL
    @ The trace, the count, and the end of the fault.
    ldrd    r6, r1, [r2, #{header}]
    bfi     r6, r7, #16, #4
    strd    r0, r6, [r12, #{port}]
    subs    r1, r1, #1
    str     r1, [r2, #{countdown}]
    mov     r6, #{data} | {fetch}
    str     r6, [r3, #{cfsr} - {rbar}]
    dsb
    beq     cofferdam_miss_counted
    pop     {{r4-r7, pc}}

@ Random replacement: the general way.
cofferdam_miss_random:
    pop     {{r4-r7, lr}}
    push    {{r3, lr}}
    mov     r1, r0
    mov     r0, r12
    bl      kernel_miss
    pop     {{r3, lr}}
    cmp     r0, #1
    beq     cofferdam_fault_entry
    bhi     cofferdam_counted
    bx      lr

@ A denied fetch. The hardware does not say which half of an instruction that straddles two regions was denied: the second, if
@ the first is there (or is not paged). Anything else (MSTKERR, MUNSTKERR, MLSPERR or a mixture) cannot be restarted: a stack
@ outside of pinned memory.
cofferdam_fetch:
    cmp     r0, #{fetch}
    bne     cofferdam_fault_entry
    STACKED r0, lr
    @ The thread's stack pointer can be anywhere, where it has stored the frame itself: in a device, of which the kernel must read nothing.
    ldr     r1, [r12]
    add     r1, #{stack_base}
    ldrd    r2, r1, [r1]
    subs    r2, r0, r2
    cmp     r2, r1
    bhi     cofferdam_fault_entry
    ldr     r0, [r0, #{pc}]
    b       cofferdam_find

cofferdam_no_region:
    ldr     r6, [r3, #{cfsr} - {rbar}]
    cmp     r6, #{fetch}
    bne     9f
    ldr     r7, [sp, #16]
    STACKED r6, r7
    ldr     r6, [r6, #{pc}]
    cmp     r6, r0
    bne     9f
    adds    r0, r0, #2
    b       cofferdam_find_again
9:  pop     {{r4-r7, lr}}
    b       cofferdam_fault_entry

cofferdam_miss_counted:
    pop     {{r4-r7, lr}}
    b       cofferdam_counted

    .ltorg
"#
    };
}

/// MMFSR: DACCVIOL and MMARVALID: a data access; the address is known.
pub const DATA: u32 = 0x82;
/// MMFSR: IACCVIOL: a fetch.
pub const FETCH: u32 = 0x01;
/// Offset of the program counter in a basic frame.
pub const STACKED_PC: usize = 24;
/// Offset of the trace port in a kernel; the board asserts it.
pub const PORT: usize = 16;

/// Serves a miss of a domain whose victims are random. Returns 0 if a paged region was loaded and
/// the access can be performed again, 1 if it is not permitted, 2 if the miss is to be counted
/// first.
///
/// # Bound
/// One look-up.
#[inline]
pub fn miss<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>, address: u32) -> u32 {
    let resolution = kernel.on_miss(VirtAddr(address));
    if resolution == Resolution::Denied {
        return 1;
    }
    regs::CFSR.write(DATA | FETCH);
    if resolution == Resolution::Counted { 2 } else { 0 }
}
