//! Labels at which the benchmark's measurements begin and end.
#![no_std]

/// A label, which `cofferdam bench` looks up by its name. A function that holds one is neither inlined nor a loop, so that it stays single; its crate allows
/// `named_asm_labels`. With `begins` an instruction that does nothing has the label: on the soft core a probe sees an instruction when it has ended, and a store
/// that faults would begin its stretch behind the fault.
#[macro_export]
macro_rules! probe {
    ($label:literal) => {
        // SAFETY: a label, no instruction.
        unsafe { ::core::arch::asm!(concat!(".global ", $label), concat!($label, ":"), options(nostack)) }
    };
    ($label:literal, begins) => {
        // SAFETY: it does nothing.
        unsafe { ::core::arch::asm!(concat!(".global ", $label), concat!($label, ":"), "nop", options(nostack)) }
    };
}
