//! System control registers (coprocessors 14 and 15). Section numbers are those of ARM DDI 0406C.

use core::arch::asm;

macro_rules! registers {
    ($($name:ident = $cp:literal, $op1:literal, $crn:literal, $crm:literal, $op2:literal, $access:ident, $about:literal;)*) => {$(
        #[doc = $about]
        pub mod $name {
            use core::arch::asm;
            registers!(@$access $cp, $op1, $crn, $crm, $op2);
        }
    )*};
    (@ro $cp:literal, $op1:literal, $crn:literal, $crm:literal, $op2:literal) => {
        /// Reads the register.
        #[inline(always)]
        pub fn read() -> u32 {
            let value: u32;
            // SAFETY: reading this register has no side effect.
            unsafe {
                asm!(concat!("mrc ", $cp, ", ", $op1, ", {}, ", $crn, ", ", $crm, ", ", $op2), out(reg) value,
                    options(nomem, nostack, preserves_flags));
            }
            value
        }
    };
    (@wo $cp:literal, $op1:literal, $crn:literal, $crm:literal, $op2:literal) => {
        /// Writes the register.
        ///
        /// # Safety
        /// The caller answers for what the processor does differently afterwards, and for the barriers around it.
        #[inline(always)]
        pub unsafe fn write(value: u32) {
            // SAFETY: the caller's duty. Memory may be meant by it, so that the compiler keeps the order.
            unsafe {
                asm!(concat!("mcr ", $cp, ", ", $op1, ", {}, ", $crn, ", ", $crm, ", ", $op2), in(reg) value,
                    options(nostack, preserves_flags));
            }
        }
    };
    (@rw $cp:literal, $op1:literal, $crn:literal, $crm:literal, $op2:literal) => {
        registers!(@ro $cp, $op1, $crn, $crm, $op2);
        registers!(@wo $cp, $op1, $crn, $crm, $op2);
    };
}

registers! {
    ccsidr = "p15", "1", "c0", "c0", "0", ro, "Size of the cache that CSSELR selects (B4.1.19).";
    csselr = "p15", "2", "c0", "c0", "0", rw, "Which cache CCSIDR describes (B4.1.41).";
    mmfr3 = "p15", "0", "c0", "c1", "7", ro, "ID_MMFR3: whether table walks see the data cache (B4.1.92).";
    sctlr = "p15", "0", "c1", "c0", "0", rw, "System control (B4.1.130).";
    actlr = "p15", "0", "c1", "c0", "1", rw, "Auxiliary control (Cortex-A9: ARM DDI 0388, 4.3.10).";
    cpacr = "p15", "0", "c1", "c0", "2", rw, "Access to coprocessors (B4.1.40).";
    ttbr0 = "p15", "0", "c2", "c0", "0", rw, "Translation table of the low addresses (B4.1.154).";
    ttbr1 = "p15", "0", "c2", "c0", "1", rw, "Translation table of the high addresses (B4.1.155).";
    ttbcr = "p15", "0", "c2", "c0", "2", rw, "Which addresses are low (B4.1.153).";
    dacr = "p15", "0", "c3", "c0", "0", rw, "Access to the sixteen table domains (B4.1.43).";
    dfsr = "p15", "0", "c5", "c0", "0", rw, "Status of a data abort (B4.1.52).";
    ifsr = "p15", "0", "c5", "c0", "1", rw, "Status of a prefetch abort (B4.1.96).";
    dfar = "p15", "0", "c6", "c0", "0", rw, "Address of a data abort (B4.1.51).";
    ifar = "p15", "0", "c6", "c0", "2", rw, "Address of a prefetch abort (B4.1.95).";
    iciallu = "p15", "0", "c7", "c5", "0", wo, "Invalidates the instruction cache (B4.2.1).";
    bpiall = "p15", "0", "c7", "c5", "6", wo, "Invalidates the branch predictors (B4.2.1).";
    dcisw = "p15", "0", "c7", "c6", "2", wo, "Invalidates a line by set and way (B4.2.1).";
    dccmvac = "p15", "0", "c7", "c10", "1", wo, "Cleans a line by address to the point of coherency (B4.2.1).";
    dccimvac = "p15", "0", "c7", "c14", "1", wo, "Cleans and invalidates a line by address to the point of coherency (B4.2.1).";
    dccmvau = "p15", "0", "c7", "c11", "1", wo, "Cleans a line by address to the point of unification (B4.2.1).";
    tlbiall = "p15", "0", "c8", "c7", "0", wo, "Invalidates all entries that are not locked (B4.2.2).";
    tlbimva = "p15", "0", "c8", "c7", "1", wo, "Invalidates entries by address and ASID (B4.2.2).";
    tlbiasid = "p15", "0", "c8", "c7", "2", wo, "Invalidates entries by ASID (B4.2.2).";
    tlbimvaa = "p15", "0", "c8", "c7", "3", wo, "Invalidates entries by address, of any ASID (B4.2.2).";
    pmuserenr = "p15", "0", "c9", "c14", "0", rw, "Access of user mode to the performance counters (B4.1.124).";
    tlblock = "p15", "0", "c10", "c0", "0", rw, "Lockdown of the main TLB (Cortex-A9: ARM DDI 0388, 4.3.22).";
    prrr = "p15", "0", "c10", "c2", "0", rw, "Primary region remap (B4.1.127).";
    vbar = "p15", "0", "c12", "c0", "0", rw, "Address of the exception vectors (B4.1.156).";
    isr = "p15", "0", "c12", "c1", "0", ro, "Exceptions that are pending (B4.1.100).";
    contextidr = "p15", "0", "c13", "c0", "1", rw, "The current ASID (B4.1.36).";
    tpidrurw = "p15", "0", "c13", "c0", "2", rw, "A word that user mode may read and write (B4.1.150).";
    tpidruro = "p15", "0", "c13", "c0", "3", rw, "A word that user mode may read (B4.1.151).";
    tpidrprw = "p15", "0", "c13", "c0", "4", rw, "A word of the kernel's (B4.1.149).";
    teecr = "p14", "6", "c0", "c0", "0", rw, "ThumbEE configuration (B4.1.148).";
    jmcr = "p14", "7", "c2", "c0", "0", rw, "Whether BXJ enters Jazelle state (A2.10.4).";
    joscr = "p14", "7", "c1", "c0", "0", rw, "Who may configure Jazelle (A2.10.4).";
}

/// Completes all accesses and maintenance operations before anything that follows.
#[inline(always)]
pub fn dsb() {
    // SAFETY: a barrier only.
    unsafe { asm!("dsb", options(nostack, preserves_flags)) };
}

/// Makes what was written to system registers visible to the instructions that follow.
#[inline(always)]
pub fn isb() {
    // SAFETY: a barrier only.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
}
