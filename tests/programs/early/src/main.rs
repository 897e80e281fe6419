//! A thread that is more important than the first one of its domain, and a gate that is called before it: both allocate, and print.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use alloc::format;
use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::{Error, Start, info, println};

cofferdam::entry!(main);
cofferdam::thread!(control, control_main);
cofferdam::gate!(ask, ask_gate);

/// What has come before the first thread.
static EARLY: AtomicU32 = AtomicU32::new(0);

fn control_main(_: Start) -> u32 {
    let text = format!("control has {}", Box::new(7));
    println!("{text}");
    EARLY.fetch_add(1, Ordering::Relaxed);
    0
}

fn ask_gate(_: u32, value: u32, _: u32, _: u32) -> Result<u32, Error> {
    let name = info().map_or(0, |info| info.name_bytes().len());
    EARLY.fetch_add(10, Ordering::Relaxed);
    Ok(*Box::new(value + 1) + name as u32)
}

fn main(_: Start) -> u32 {
    println!("main comes after {}", EARLY.load(Ordering::Relaxed));
    0
}
