//! Whatever domains ask, fault, interrupt and wait for, in whatever order, the kernel's invariants hold: the bytes are the choices.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kernel::tests::fuzz::drive(bytes));
