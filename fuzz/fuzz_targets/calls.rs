//! Checks that the kernel's invariants hold for any order of calls, faults, interrupts and waits of
//! domains: the bytes are the choices.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kernel::tests::fuzz::drive(bytes));
