//! The entry code around handlers, behind that of `armv_m`.

/// Macros of the entry code in which handlers make a difference: see `armv_m::entry`.
macro_rules! entry_macros {
    () => {
        r#"
@ A frame with which a handler was entered has the registers that a callee saves, too, if the exception of the kernel was taken at the handler's return. If
@ Non-secure code was interrupted, or Handler mode, a handler has done what it must not.
    .macro OTHER name
    ldr     r3, [r12, #12]
    bl      cofferdam_other
    beq     cofferdam_\name\()_saved
    .endm

    .macro WRONG
    mvn     r1, lr
    tst     r1, #0x48
    bne     cofferdam_displaced
    .endm

@ Handlers can leave frames on the main stack that no return takes off it.
    .macro TOP
    ldr     r0, =__kernel_stack_top
    msr     msp, r0
    .endm

@ A HardFault can have come because the main stack is full, and has one of its own.
    .macro HARD
    ldr     r0, =COFFERDAM_OWNER
    ldr     r0, [r0]
    mov     r2, sp
    ldr     r3, =__upper_stack_top
    cmp     r0, #0
    bne     cofferdam_stray
    b       cofferdam_judged
    .endm

@ Any other fault that a thread has taken from Secure state, and that is no SecureFault, is the thread's.
    .macro JUDGE
    mrs     r0, ipsr
    mvn     r1, lr
    subs    r0, r0, #4
    cmp     r0, #2
    it      ls
    tstls   r1, #0x60
    beq     cofferdam_judged
    ldr     r0, =COFFERDAM_OWNER
    ldr     r0, [r0]
    ldr     r3, =__kernel_stack_top
    mov     r2, r3
    cmp     r0, #0
    bne     cofferdam_stray
    .thumb_func
cofferdam_judged:
    .endm

    .macro PENDED
    tst     lr, #4
    bne     cofferdam_wake_entry
    .endm

    .macro STACKED reg, return
    tst     \return, #0x20
    mrs     \reg, psp
    it      eq
    addeq   \reg, #40
    .endm
"#
    };
}
pub(crate) use entry_macros;

core::arch::global_asm!(
    r#"
    .section .hot.direct, "ax", %progbits

@ Two functions look at an exception above handlers, on another stack: the first one answers what is frequent, or leaves all as it was.
@   in        lr = EXC_RETURN, r2 = the main stack pointer as it was, r3 = top of the other stack
@   out       behind this, if `first` returns 0: r0, r1 = verdict of `second`, r2 = EXC_RETURN
    .macro LOOK first, second, answer:vararg
    mov     r0, lr
    mrs     r1, psp
    msr     msp, r3
    push    {{r0, r2}}
    bl      \first
    cbz     r0, 1f
    pop     {{r1, r2}}
    msr     msp, r2
    \answer
1:  ldr     r0, [sp]
    mrs     r1, psp
    ldr     r2, [sp, #4]
    bl      \second
    pop     {{r2, r3}}
    msr     msp, r3
    .endm

@ The rest of SAVE for a frame that is no basic one on the process stack.
@ At the end of a handler the exception follows without a look at the frame, and EXC_RETURN has what the handler has returned with. Only the signature, which
@ the hardware has written, says whether the frame has floating-point state: a handler that says otherwise is to blame.
@   in        r1 = frame, r2 = bytes of the stack below it, r3 = most of them, r12 = Context + 32, lr: EXC_RETURN is in the Context
@   out       r1, r2, r3 of the basic frame; equal: there is no floating-point state
@   clobbers  r4-r11, which are not the thread's if they are on its stack
    .thumb_func
cofferdam_other:
    push    {{r4, lr}}
    ldr     r4, [r12, #4]
    mvn     r5, r4
    tst     r5, #0x48
    bne     4f
    tst     r4, #0x20
    bne     2f
5:  subs    r5, r3, #40
    cmp     r2, r5
    bhi     3f
    ldr     r6, [r1], #8
    ubfx    r5, r4, #4, #1
    ldr     r7, ={signature}
    orr     r7, r5
    cmp     r6, r7
    bne     1f
    ldmia   r1!, {{r5-r11}}
    sub     r12, r12, #32
    stmia   r12!, {{r5-r11}}
    ldr     r5, [r1], #4
    str     r5, [r12], #4
    adds    r2, r2, #40
    and     r4, r4, #0x10
    orn     r4, r4, #0x12
    strd    r1, r4, [r12]
2:  mvn     r4, r4
    tst     r4, #0x10
    pop     {{r4, pc}}
1:  pop     {{r4, lr}}
    mrs     r1, psp
    ldr     lr, [r12, #4]
    b       cofferdam_displaced
3:  pop     {{r4, lr}}
    ldr     lr, [r12, #4]
    b       cofferdam_wrong_stack
@ The exception came to Non-secure state or to a handler. One that follows a handler's return into a thread's place is served: as often as it were taken again,
@ another handler could be in front of it.
4:  push    {{r0-r3, r12, lr}}
    mov     r0, r4
    bl      cofferdam_owner_served
    mov     r4, r0
    pop     {{r0-r3, r12, lr}}
    cmp     r4, #0
    beq     1b
    .global cofferdam_served
cofferdam_served:
    b       5b
    .ltorg

@ A handler asks for its thread: the only way from Non-secure state into the kernel. No stack is used, and no register is believed. The kernel comes for what
@ somebody has paid for.
    .section .hot.veneer, "ax", %progbits
    .balign 32
    .global cofferdam_wake
    .type cofferdam_wake, %function
    .thumb_func
cofferdam_wake:
    sg
    mrs     r0, ipsr
    subs    r0, #16
    ldr     r1, =COFFERDAM_WAKES
    cmp     r0, #{lines}
    bhs     1f
    movs    r2, #1
    strb    r2, [r1, r0]
    b       2f
    .balign 32
    .global __cofferdam_wake_callable_end
__cofferdam_wake_callable_end:
2:  ldr     r1, =COFFERDAM_ARMED
    ldrb    r2, [r1, r0]
    cbz     r2, 1f
    ldr     r0, =0xe000ed04
    mov     r1, #0x10000000
    str     r1, [r0]
@ The counter of handlers' cycles stands still here, so that calls are counted. One that is interrupted between the two is not: its interrupts' own are.
1:  ldr     r1, =COFFERDAM_CALLS
    ldrex   r2, [r1]
    adds    r2, #1
    strex   r0, r2, [r1]
@ A link that would be an exception return, made by Secure code, leads to what Non-secure code cannot execute.
    lsrs    r0, lr, #28
    cmp     r0, #15
    it      eq
    moveq   lr, #0
    movs    r0, #0
    movs    r1, #0
    movs    r2, #0
    .global cofferdam_wake_leave
cofferdam_wake_leave:
    bxns    lr
    .ltorg
    .global __cofferdam_wake_end
__cofferdam_wake_end:

@ PendSV.
    .section .hot.direct, "ax", %progbits
    HANDLER cofferdam_wake_entry
    SAVE    cofferdam_wake_float
cofferdam_wake_saved:
    SETTLE  cofferdam_late
    bl      kernel_wake
    cbz     r0, 1f
    mov     r1, r0
    ldr     r0, =COFFERDAM_CPU
    bl      kernel_interrupt
    b       cofferdam_switch
1:  b       cofferdam_stay
    .thumb_func
cofferdam_wake_float:
    OTHER   wake
    bl      cofferdam_save_float
    b       cofferdam_wake_saved

@ The meter's interrupts, on the stack of HardFaults: neither comes above the other.
    HANDLER cofferdam_meter_entry
    mov     r2, sp
    ldr     r3, =__upper_stack_top
    LOOK    cofferdam_owner_look, cofferdam_owner_meter, bx r1
    cmp     r0, #1
    it      eq
    bxeq    r2
    ldr     pc, =cofferdam_verdict
    .ltorg

@ Most such faults are of a thread that went to Non-secure code, which is answered fast.
    .thumb_func
cofferdam_stray:
    LOOK    cofferdam_owner_stray, cofferdam_owner_judge, bx r0
    ldr     pc, =cofferdam_verdict
    .ltorg

    .section .cold.direct, "ax", %progbits

@ A fault, or an exception of the kernel that came to Non-secure state.
@   in        lr = EXC_RETURN
    .thumb_func
cofferdam_displaced:
@ A handler was interrupted, or its way in, by an exception that does not interrupt the kernel: whatever is on the main stack is of no use.
    TOP
    mov     r2, r0
    mov     r0, lr
    mrs     r1, psp
    push    {{r0, r1}}
    bl      cofferdam_owner_judge
    pop     {{r2, r3}}
@   in        r0, r1 = verdict, r2 = EXC_RETURN
    .thumb_func
cofferdam_verdict:
    mov     lr, r2
    cmp     r0, #1
    beq     8f
    ldr     r3, =cofferdam_judged
    it      lo
    bxlo    r3
    cmp     r0, #2
    beq     7f
    lsrs    r3, r1, #{drop}
    add     sp, r3
    uxth    r1, r1
    tst     r1, #{lengthen}
    bne     3f
4:  cbz     r1, 6f

@ A frame for each handler that is active, which is ended there; the last one goes on with what it had interrupted.
@   in        r0 = EXC_RETURN of the outermost, r1 = how many, lr = EXC_RETURN of this exception
    ldr     r2, =COFFERDAM_OWNER + {chain}
    adr     r3, 9f
1:  sub     sp, #32
    ldrb    r12, [r2], #1
    orr     r12, r12, #0x01000000
    str     r12, [sp, #28]
    str     r3, [sp, #24]
    str     r0, [sp, #20]
    subs    r1, r1, #1
    beq     2f
    ldr     r12, =0xfefa125b
    sub     sp, #40
    str     r12, [sp]
    mvn     r0, #0x0f
    b       1b
2:  and     r2, lr, #4
    mvn     r0, #0x0e
    orr     r0, r2
6:  mov     lr, r0
8:  bx      lr
7:  TOP
    ldr     pc, =cofferdam_wrong_basic
@ This exception came to Secure code: in front of its frame a signature, with FType in its lowest bit, and r4 to r11, as if a handler had been entered there.
3:  bic     r1, #{lengthen}
    ldr     r12, =0xfefa125a
    ubfx    r3, r0, #4, #1
    orr     r12, r3
    mrs     r3, psp
    tst     r0, #8
    it      eq
    moveq   r3, sp
    sub     r3, #40
    ite     eq
    moveq   sp, r3
    msrne   psp, r3
    str     r12, [r3], #8
    stmia   r3, {{r4-r11}}
    b       4b
    .balign 4
    .global cofferdam_end_handler
    .type cofferdam_end_handler, %function
    .thumb_func
cofferdam_end_handler:
9:  bx      lr
    .ltorg
"#,
    signature = const super::frames::SIGNATURE,
    lines = const super::owner::MAX_LINE,
    drop = const super::judge::DROP_SHIFT,
    lengthen = const super::judge::LENGTHEN,
    chain = const core::mem::offset_of!(super::owner::Owner, chain),
);
