//! With the stack in DTCM and the table in on-chip SRAM.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; the function that holds them is not inlined, so they stay single

bench_deep::program!("probe_sram_start", "probe_sram_end");
