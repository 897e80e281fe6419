//! A memory manager that has gone mad: it holds frames and domains as the real one does, and makes random kernel calls with
//! random arguments and those at the borders of the valid ones. It writes to all memory that it is
//! granted. The kernel has to refuse everything else: the run's witness hashes the memory of every
//! other domain, and the shadow of region registers or page tables sees each access.
//!
//! After the calls it reads kernel memory, one address in each of its lives: every one of these reads has to be its last.
//!
//! Names: every capability that it has been given, `frames` of the kind frames first; the gate `console`.
#![no_std]
#![no_main]

mod handles;
mod random;

use cofferdam::abi::{Call, Mapping, access};
use cofferdam::{Info, Start, println, sys};
use handles::Handles;
use random::Random;
use repertoire::Chip;

/// Calls in the first life.
const CALLS: u32 = 100_000;

/// Kernel memory that is read in the lives after the first, one address each.
fn kernel(Chip { foreign, core }: Chip) -> [u32; 8] {
    let (code, data) = (foreign.kernel_code, foreign.kernel_objects);
    let registers = [foreign.kernel_timer, core.vectors, core.protection];
    [code, code + 0x3ffc, data, data + 0xffc, foreign.kernel_tables, registers[0], registers[1], registers[2]]
}

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let Some(chip) = Chip::find(start.info) else { return 2 };
    let kernel = kernel(chip);
    match (start.restarts as usize).checked_sub(1) {
        None => {
            rampage(start.info, chip);
            println!("reading kernel memory");
            peek(kernel[0])
        }
        Some(life) => match kernel.get(life + 1) {
            Some(address) => peek(*address),
            None => {
                println!("{} reads of kernel memory, none survived", kernel.len());
                0
            }
        },
    }
}

/// Reads a word that no domain may read; the exit code tells that it came back.
fn peek(address: u32) -> u32 {
    // SAFETY: none; this is an attack. The kernel has to stop it.
    let word = unsafe { (address as *const u32).read_volatile() };
    println!("read {word:#010x} at {address:#010x}");
    200
}

/// Attempts and successes, by call.
#[derive(Default)]
struct Tally {
    tried: [u32; Call::NodesGive as usize + 1],
    done: [u32; Call::NodesGive as usize + 1],
    written: u32,
}

fn rampage(info: Info, chip: Chip) {
    let handles = Handles::of(info);
    let Some(pool) = handles.pool(chip.foreign.heaps) else { return println!("no pool") };
    let mut random = Random::new(0x1234_5678, pool);
    let mut tally = Tally::default();
    for _ in 0..CALLS {
        let call = random.call();
        let arguments = random.arguments(call, &handles);
        let index = call as usize;
        tally.tried[index] += 1;
        // SAFETY: the calls that write this domain's memory are not among those that are made.
        let (status, _, _) = unsafe { sys::any(call as u32, arguments) };
        if status == 0 {
            tally.done[index] += 1;
            random.succeeded(call, arguments);
            tally.written += u32::from(call == Call::FramesMap && scribble(&handles, arguments));
        }
    }
    for (index, tried) in tally.tried.iter().enumerate().filter(|(_, tried)| **tried > 0) {
        println!("call {index}: {tried} tried, {} done", tally.done[index]);
    }
    println!("{CALLS} calls, {} regions written", tally.written);
}

/// Writes to the first and the last word of each page that it has just been given, if it was given to this domain to write.
fn scribble(handles: &Handles, arguments: [u32; 4]) -> bool {
    let Mapping { target, at, access, bytes, .. } = Mapping::of(arguments);
    if u32::from(target) != handles.own || access & access::WRITE == 0 {
        return false;
    }
    for part in (at..at + bytes).step_by(0x1000) {
        for word in [part, part + (at + bytes - part).min(0x1000) - 4] {
            // SAFETY: the kernel has just said that this domain may write there.
            unsafe { (word as *mut u32).write_volatile(0xbad0_bad0) };
        }
    }
    true
}
