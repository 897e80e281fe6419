//! Attacks that RV32 with an MMU beside its core brings: instructions of machine mode, registers and tables of the MMU, and accesses that the core splits in two.

use core::arch::asm;

use super::{Targets, core_registers};

/// An instruction that only machine mode may execute. A thread that survives it ends in another
/// fault, because nothing is executed at the end of the address space: so a check that fails is
/// seen.
macro_rules! privileged {
    ($instruction:literal) => {
        |_| {
            // SAFETY: there is none; this is the attack.
            unsafe { asm!($instruction, "li a0, -2", "jr a0", in("a0") 0, options(noreturn)) }
        }
    };
}

/// Attacks that end in a fault.
pub const LETHAL: &[(&str, fn(&Targets))] = &[
    ("open the whole address space to user mode", privileged!("csrw pmpaddr0, a0")),
    ("close the protection of physical memory", privileged!("csrw pmpcfg0, a0")),
    ("move the vectors", privileged!("csrw mtvec, a0")),
    ("name another saved context", privileged!("csrw mscratch, a0")),
    ("switch interrupts off", privileged!("csrw mie, a0")),
    ("return from an exception to machine mode", privileged!("mret")),
    ("sleep by an instruction of the own", privileged!("wfi")),
    ("read the core's counter of cycles", privileged!("csrr a0, cycle")),
    ("read the core's counter of instructions", privileged!("csrr a0, instret")),
    ("have translated addresses of another domain in force", |own| store(core_registers(own.core, None).context)),
    ("have more entries of the tables in force", |own| store(core_registers(own.core, None).reach)),
    ("load across the end of an area", |own| load(own.behind - 2)),
    ("store across the end of an area", |own| store(own.behind - 2)),
    ("store across the beginning of an area", |own| store(own.data - 2)),
    ("add to a word across the end of an area", |own| add(own.behind - 2)),
    ("add to a word of the own code", |own| add(own.code)),
    ("load across the end of translated addresses", |_| load(0xffff_fffe)),
    ("load across the beginning of translated addresses", |_| load(0x7fff_fffe)),
];

/// Attacks that have no effect.
pub const GENTLE: &[(&str, fn(&Targets) -> u32)] = &[];

fn load(address: u32) {
    // SAFETY: there is none; this is the attack. The core splits an access that begins at no word.
    unsafe { asm!("lw {0}, 0({0})", inout(reg) address => _) }
}

fn store(address: u32) {
    // SAFETY: as above.
    unsafe { asm!("sw {0}, 0({0})", in(reg) address) }
}

fn add(address: u32) {
    // SAFETY: as above.
    unsafe {
        asm!(".option push", ".option arch, +a", "amoadd.w {0}, {0}, ({0})", ".option pop", inout(reg) address => _)
    }
}
