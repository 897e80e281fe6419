//! Duktape over paged regions. The thread's argument chooses the script: 0 covariance of two arrays, 1 covariance in blocks, 2 the
//! Mandelbrot set. The result is a number's bits. Of jStat the three functions are loaded that a covariance needs, unmodified; with 256
//! more in the argument the whole library. With 512 more the two arrays have 7500 numbers, otherwise 75000.
//!
//! Names: area `jstat` (the library's source; the Mandelbrot set does without).
#![no_std]
#![no_main]

use core::ffi::{CStr, c_char, c_void};

use cofferdam::{Start, println};
use common::{interfere, memory, results};

cofferdam::entry!(main);
common::probes!(probe_1_start probe_1_end probe_2_start probe_2_end);
cofferdam::thread!(mxu_adversary, adversary);

/// Bytes between the words that the adversary loads: one region of the paper's geometry.
const STRIDE: u32 = 128 * 1024;
/// Under a module system the library would export itself there; here it becomes a global.
const BEFORE: &[u8] = b"var window = this;";
const SCRIPTS: [&[u8]; 3] = [include_bytes!("covariance.js"), include_bytes!("blocks.js"), include_bytes!("mandel.js")];
const MANDEL: u32 = 2;
const WHOLE: u32 = 256;
const SHORT: u32 = 512;
/// The beginnings of the functions; each function ends with a closing brace at the beginning of a
/// line.
const FUNCTIONS: [&[u8]; 3] = [b"jStat.sum = function", b"jStat.mean = function", b"jStat.covariance = function"];
const END: &[u8] = b"\n};";

unsafe extern "C" {
    fn engine_open() -> *mut c_void;
    fn engine_run(engine: *mut c_void, source: *const u8, length: u32) -> *const c_char;
    fn script_call(context: *mut c_void) -> i32;
}

fn main(start: Start) -> u32 {
    cofferdam_c::begin(start);
    memory::open(start.info);
    results::stretch(1);
    let status = application(start);
    results::stretch(0);
    interfere::stop();
    results::too_large(memory::largest_refused());
    status
}

/// Stretch 1: everything from the engine's start on.
#[inline(never)]
fn application(start: Start) -> u32 {
    probe_1_start();
    let status = work(start);
    probe_1_end();
    status
}

fn work(start: Start) -> u32 {
    // SAFETY: no precondition.
    let engine = unsafe { engine_open() };
    let choice = start.argument & !(WHOLE | SHORT);
    let count: &[u8] = if start.argument & SHORT != 0 { b"var count = 7500;" } else { b"var count = 75000;" };
    let Some(script) = SCRIPTS.get(choice as usize) else { return 1 };
    if engine.is_null() {
        return 2;
    }
    if choice != MANDEL && !(run(engine, count) && library(engine, start)) {
        return 4;
    }
    if run(engine, script) { 0 } else { 5 }
}

/// Loads of jStat what is asked for.
fn library(engine: *mut c_void, start: Start) -> bool {
    let Some(area) = start.info.area("jstat") else { return false };
    // SAFETY: the area is a constant file that this domain may read.
    let file = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    let library = file.split(|byte| matches!(byte, 0 | 0xff)).next().unwrap_or(&[]);
    if start.argument & WHOLE != 0 {
        return run(engine, BEFORE) && run(engine, library);
    }
    let function = |begin: &&[u8]| {
        let from = &library[position(library, begin)?..];
        Some(&from[..position(from, END)? + END.len()])
    };
    run(engine, b"var jStat = {};") && FUNCTIONS.iter().all(|name| function(name).is_some_and(|text| run(engine, text)))
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn run(engine: *mut c_void, source: &[u8]) -> bool {
    // SAFETY: the engine is open and the source as long as said.
    let message = unsafe { engine_run(engine, source.as_ptr(), source.len() as u32) };
    if message.is_null() {
        return true;
    }
    // SAFETY: the message ends with a zero byte and lives until the next call.
    println!("{}", unsafe { CStr::from_ptr(message) }.to_str().unwrap_or("error without readable message"));
    false
}

/// For `engine.c`: stretch 2, what a script has measured: it calls what is on top of the engine's stack.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn script_measure(context: *mut c_void) {
    results::stretch(2);
    probe_2_start();
    // SAFETY: the context is the one that called.
    unsafe { script_call(context) };
    probe_2_end();
    results::stretch(1);
}

/// For `engine.c`: one result.
#[unsafe(no_mangle)]
extern "C" fn script_result(value: f64) {
    results::report(value.to_bits());
}

/// For `engine.c`: ends the domain.
#[unsafe(no_mangle)]
extern "C" fn script_fatal(_message: *const c_char) {
    cofferdam::sys::exit(6);
}

fn adversary(start: Start) -> u32 {
    interfere::by_time(start, STRIDE)
}
