//! Executes arbitrary instructions with registers of the caller's choice, and comes back if they
//! let it.

use core::arch::global_asm;

use super::Seen;

/// Everything that such an instruction finds in registers. r12 is where it lies.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    /// r0 to r11.
    pub low: [u32; 12],
    /// The stack pointer.
    pub sp: u32,
    /// The link register.
    pub lr: u32,
    /// The condition flags.
    pub flags: u32,
}

/// r0 to r11 as the last instructions left them that came back.
pub static FOUND: Seen<12> = Seen::zeroed();
/// r4 to r11, the stack pointer and the link register of the function that is to go on.
static KEPT: Seen<10> = Seen::zeroed();
/// The stack pointer of the thread that waits in [`wait_exposed`]. If the frame of that call is
/// stored below it, the domain can write there.
pub static EXPOSED: Seen<1> = Seen::zeroed();

// cofferdam_execute: in r0 = Registers, r1 = where. cofferdam_executed: in everything unknown; returns to who called the first.
// cofferdam_expose: in r0-r2 = number and arguments of a call; out r0, r1 = status and value.
global_asm!(
    ".syntax unified",
    ".section .text.cofferdam_execute, \"ax\", %progbits",
    ".balign 4",
    ".global cofferdam_execute",
    ".type cofferdam_execute, %function",
    "cofferdam_execute:",
    "    movw r12, #:lower16:{kept}",
    "    movt r12, #:upper16:{kept}",
    "    stmia r12!, {{r4-r11}}",
    "    mov r3, sp",
    "    str r3, [r12]",
    "    str lr, [r12, #4]",
    "    mov r12, r1",
    "    ldr r1, [r0, #56]",
    "    msr apsr_nzcvq, r1",
    "    ldr lr, [r0, #52]",
    "    ldr r1, [r0, #48]",
    "    mov sp, r1",
    "    ldmia r0, {{r0-r11}}",
    "    bx r12",
    ".size cofferdam_execute, . - cofferdam_execute",
    ".balign 4",
    ".global cofferdam_executed",
    ".type cofferdam_executed, %function",
    "cofferdam_executed:",
    "    movw r12, #:lower16:{found}",
    "    movt r12, #:upper16:{found}",
    "    stmia r12, {{r0-r11}}",
    "    movw r12, #:lower16:{kept}",
    "    movt r12, #:upper16:{kept}",
    "    ldmia r12!, {{r4-r11}}",
    "    ldr r3, [r12]",
    "    mov sp, r3",
    "    ldr lr, [r12, #4]",
    "    bx lr",
    ".size cofferdam_executed, . - cofferdam_executed",
    ".balign 4",
    ".global cofferdam_expose",
    ".type cofferdam_expose, %function",
    "cofferdam_expose:",
    "    push {{r4, lr}}",
    "    movw r12, #:lower16:{exposed}",
    "    movt r12, #:upper16:{exposed}",
    "    mov r3, sp",
    "    str r3, [r12]",
    "    mov r12, r0",
    "    mov r0, r1",
    "    mov r1, r2",
    "    svc #0",
    "    pop {{r4, pc}}",
    ".size cofferdam_expose, . - cofferdam_expose",
    kept = sym KEPT,
    found = sym FOUND,
    exposed = sym EXPOSED,
);

unsafe extern "C" {
    fn cofferdam_execute(registers: *const Registers, at: u32);
    /// Instructions that [`execute`] has jumped to go on here, whatever the registers hold.
    pub fn cofferdam_executed();
    fn cofferdam_expose(number: u32, handle: u32, mask: u32) -> u64;
}

/// Branches to `at`, whose bit 0 says the state, with these registers. Returns when
/// [`cofferdam_executed`] is reached.
///
/// # Safety
/// None is possible: the thread goes on only if nothing was harmed that it needs.
pub unsafe fn execute(registers: &Registers, at: u32) {
    // SAFETY: the caller wants what follows; what a function must keep is kept.
    unsafe { cofferdam_execute(registers, at) }
}

/// Waits for a notification as `WAIT` does, with the stack pointer in [`EXPOSED`]; the status.
///
/// # Safety
/// The thread goes on where the frame of the call says, which others may have changed.
pub unsafe fn wait_exposed(number: u32, handle: u32, mask: u32) -> u32 {
    // SAFETY: the caller wants what follows.
    unsafe { cofferdam_expose(number, handle, mask) as u32 }
}
