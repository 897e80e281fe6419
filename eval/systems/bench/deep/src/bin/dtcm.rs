//! With the stack in DTCM.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; the function that holds them is not inlined, so they stay single

bench_deep::program!("probe_dtcm_start", "probe_dtcm_end");
