//! With the stack in SDRAM.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; the function that holds them is not inlined, so they stay single

bench_deep::program!("probe_sdram_start", "probe_sdram_end");
