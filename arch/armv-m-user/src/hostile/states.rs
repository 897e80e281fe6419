//! Attacks that Armv8-M brings: instructions, values of the program counter and registers of two security states, and stacks that end at a limit. Older
//! assemblers do not know the instructions, so that they are written as numbers (ARM DDI 0553 C2).

use core::arch::asm;

use super::{Targets, jump, jump_on_stack, load_multiple, undefined_on_stack};

/// The address bit that tells Secure memory from its Non-secure alias.
const SECURE: u32 = 1 << 28;
/// The system control space of the other state, as Secure code finds it, behind the own one.
const OTHER_CORE: u32 = 0x2_0000;
/// Offsets in it: control of the region registers, and of the attribution of memory.
const MPU_CTRL: u32 = 0xd94;
const SAU_CTRL: u32 = 0xdd0;
/// The first register of an SSE-200 that says which devices unprivileged code may access (secure privilege control block).
const PRIVILEGE_CONTROL: u32 = 0x5008_00b0;
/// A value of the program counter that means a return from the other state's function.
const FUNCTION_RETURN: u32 = 0xfeff_ffff;
/// Room for less than the smallest frame, and than the smallest one with floating-point state.
const NO_FRAME: u32 = 28;
const NO_FLOATS: u32 = 96;

/// Attacks that end in a fault.
pub const LETHAL: &[(&str, fn(&Targets))] = &[
    ("branch to the other security state", |own| branch(own.code)),
    ("branch to the other security state without the Secure bit", |own| branch(own.code & !SECURE)),
    ("branch to the other security state in kernel code", |own| branch(own.kernel_code)),
    ("branch to the other security state with floating-point state", |own| with_floats(|| branch(own.code))),
    ("branch to the other security state with the stack in a victim's memory", |own| {
        branch_on(own.victim + 256, own.code)
    }),
    ("call the other security state", |own| call(own.stack + 512, own.code)),
    ("call the other security state without the Secure bit", |own| call(own.stack + 512, own.code & !SECURE)),
    ("call the other security state with no room on the stack", |own| call(own.stack + 4, own.code)),
    ("call the other security state with the stack in a victim's memory", |own| call(own.victim + 256, own.code)),
    ("return to who never called", |own| function_return(own.kernel_code | 1, 0)),
    ("return to who never called, into a handler", |own| function_return(own.code | 1, 15)),
    ("return to who never called, with the stack in a victim's memory", |own| go_on(own.victim + 256, FUNCTION_RETURN)),
    ("return from an exception of the other security state", |_| go(0xffff_ffbc)),
    ("return from an exception of the other security state to a handler", |_| go(0xffff_ffb0)),
    ("return from an exception that saved all registers", |_| go(0xffff_ffdd)),
    ("return from an exception that the other security state took", |_| go(0xffff_fffc)),
    ("read the own memory without the Secure bit", |own| read(own.data & !SECURE)),
    ("write kernel data without the Secure bit", |own| write(own.kernel_data & !SECURE)),
    ("write a victim's data without the Secure bit", |own| write(own.victim & !SECURE)),
    ("switch the other security state's memory protection on", |own| write(own.core + OTHER_CORE + MPU_CTRL)),
    ("change which memory is Secure", |own| write(own.core + SAU_CTRL)),
    ("let unprivileged code at every device", |_| write(PRIVILEGE_CONTROL)),
    ("write right behind the limit of an area", |own| write(own.behind)),
    ("move the stack pointer below the own stack", |own| below(own.stack + 64)),
    ("execute an undefined instruction with no room for a frame", |own| undefined_at(own.stack + NO_FRAME)),
    ("execute an undefined instruction with no room for floating-point state", |own| {
        with_floats(|| undefined_at(own.stack + NO_FLOATS));
    }),
    ("execute an undefined instruction with the stack in a victim's memory", |own| undefined_at(own.victim + 256)),
    ("execute a breakpoint with the stack in a victim's memory", |own| breakpoint_at(own.victim + 256)),
    ("be interrupted with no room for a frame", |own| spin_at(own.stack + NO_FRAME)),
    ("be interrupted with no room for floating-point state", |own| with_floats(|| spin_at(own.stack + NO_FLOATS))),
];

/// Attacks that have no effect. Each returns what it has found, or 0.
pub const GENTLE: &[(&str, fn(&Targets) -> u32)] = &[
    ("ask whose memory is whose", ask),
    ("write the other security state's registers and the limits of stacks", |_| write_registers()),
];

// SAFETY of everything below: there is none, on purpose, as in the other attacks.

fn branch(address: u32) {
    // SAFETY: see above.
    unsafe { asm!(".inst.n 0x4704", "udf #1", in("r0") address & !1, options(noreturn)) }
}

/// As [`branch`], with the stack pointer somewhere else.
fn branch_on(stack: u32, address: u32) {
    // SAFETY: see above.
    unsafe { asm!("mov sp, r1", ".inst.n 0x4704", "udf #1", in("r1") stack, in("r0") address & !1, options(noreturn)) }
}

/// Calls a function of the other state (BLXNS), with the stack pointer somewhere else.
fn call(stack: u32, address: u32) {
    // SAFETY: see above.
    unsafe { asm!("mov sp, r1", ".inst.n 0x4784", "udf #1", in("r1") stack, in("r0") address & !1, options(noreturn)) }
}

/// Returns from a function that was not called, with these two words on the stack.
fn function_return(to: u32, status: u32) {
    // SAFETY: see above.
    unsafe {
        asm!(
            "push {{r0, r1}}", "bx r2", "udf #1",
            in("r0") to, in("r1") status, in("r2") FUNCTION_RETURN, options(noreturn)
        )
    }
}

fn go(address: u32) {
    // SAFETY: see above.
    unsafe { jump(address) }
}

fn go_on(stack: u32, address: u32) {
    // SAFETY: see above.
    unsafe { jump_on_stack(stack, address) }
}

fn read(address: u32) {
    // SAFETY: see above.
    core::hint::black_box(unsafe { load_multiple(address) });
}

fn write(address: u32) {
    // SAFETY: see above.
    unsafe { (address as *mut u32).write_volatile(0xbad0_bad0) };
}

/// Moves the stack pointer far down, where nothing is accessed, and back: only the limit is in the
/// way.
fn below(from: u32) {
    // SAFETY: see above.
    unsafe {
        asm!("mov r1, sp", "mov sp, r0", "sub sp, #256", "mov sp, r1", "udf #1", in("r0") from, options(noreturn))
    }
}

fn undefined_at(stack: u32) {
    // SAFETY: see above.
    unsafe { undefined_on_stack(stack) }
}

fn breakpoint_at(stack: u32) {
    // SAFETY: see above.
    unsafe { super::breakpoint_on_stack(stack) }
}

fn spin_at(stack: u32) {
    // SAFETY: see above.
    unsafe { super::spin_on_stack(stack) }
}

/// Does something with floating-point state to save.
fn with_floats(then: impl FnOnce()) {
    // SAFETY: only the own registers change.
    unsafe { asm!("vmov s0, {0}", "vmov s31, {0}", in(reg) 0x4142_4344, out("s0") _, out("s31") _) };
    then();
}

/// TT, TTT, TTA and TTAT on an address.
fn test(address: u32) -> [u32; 4] {
    let (plain, unprivileged, other, both);
    // SAFETY: the instructions access nothing.
    unsafe {
        asm!(
            ".inst.w 0xe840f100", ".inst.w 0xe840f240", ".inst.w 0xe840f380", ".inst.w 0xe840f4c0",
            in("r0") address, out("r1") plain, out("r2") unprivileged, out("r3") other, out("r4") both
        );
    }
    [plain, unprivileged, other, both]
}

/// All memory is Secure, and none of others may be read by anybody here; SG is nothing to code that is Secure already. TTA and TTAT tell what the other
/// state's region registers would permit, if the memory were its own.
fn ask(own: &Targets) -> u32 {
    const READ_OR_WRITE: u32 = 3 << 18;
    const BY_OTHER: u32 = 3 << 20;
    const IS_SECURE: u32 = 1 << 22;
    // SAFETY: SG has no effect in Secure state.
    unsafe { asm!(".inst.w 0xe97fe97f") };
    let others = [own.kernel_data, own.kernel_code, own.victim];
    let allowed = |[plain, unprivileged, other, both]: [u32; 4]| {
        (plain | unprivileged) & READ_OR_WRITE | (plain | unprivileged | other | both) & BY_OTHER
    };
    let foreign = others.into_iter().map(test).fold(0, |all, words| all | allowed(words));
    let aliases = [own.code, own.data, own.kernel_data, own.victim].map(|address| address & !SECURE);
    let all = others.into_iter().chain(aliases).chain([own.code, own.data]);
    let open = all.flat_map(test).fold(0, |all, word| all | !word & IS_SECURE);
    foreign | open
}

/// MSR and MRS of MSPLIM, PSPLIM, and of MSP, PSP, MSPLIM, PSPLIM, PRIMASK, BASEPRI, FAULTMASK, CONTROL and SP of the other state; all of what can be
/// read but should not be there. CONTROL is readable, and says that the other state's threads are unprivileged.
fn write_registers() -> u32 {
    const UNPRIVILEGED: u32 = 1;
    let mut found = 0;
    macro_rules! each {
        ($($number:literal)*) => {$(
            let value: u32;
            // SAFETY: without privilege the writes are ignored, and registers read as 0.
            unsafe {
                asm!(
                    ".inst.w 0xf3808800 + {number}", ".inst.w 0xf3ef8000 + {number}",
                    number = const $number, inlateout("r0") 0x2000_0010_u32 => value
                );
            }
            found |= value;
        )*};
    }
    each!(0x94);
    found = !found & UNPRIVILEGED;
    each!(0x0a 0x0b 0x88 0x89 0x8a 0x8b 0x90 0x91 0x93);
    // SAFETY: as above. The register of the stack pointer reads as it is.
    unsafe { asm!(".inst.w 0xf3808898", in("r0") 0x2000_0000_u32) };
    found
}
