//! Asks for memory of each of its envelopes by its specification: as much as the envelope has, of all at once, and gives it back. At last it reads what it
//! gave back, which stops it.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::ptr::NonNull;

use cofferdam::memory::{self, Failure, TemporalSpec};
use cofferdam::{Error, Notification, Start, println};

cofferdam::entry!(main);

/// A word is written in each of these many bytes, more than one in each page.
const STEP: u32 = 1024;

type Block = NonNull<u8>;

/// Blocks of one envelope.
struct Held {
    spec: TemporalSpec,
    bytes: u32,
    blocks: Vec<Block>,
}

fn main(start: Start) -> u32 {
    match run(start) {
        Ok(given_back) => {
            // SAFETY: it is not: the block was freed, and the fault is what this is for.
            unsafe { given_back.as_ptr().cast::<u32>().read_volatile() };
            2
        }
        Err(failure) => {
            println!("{}", failure.explained());
            1
        }
    }
}

fn run(start: Start) -> Result<Block, Failure> {
    let mut all = Vec::new();
    for envelope in start.info.envelopes() {
        let spec = TemporalSpec::from_bits(envelope.spec).unwrap_or_default();
        let asked = (0..envelope.live / envelope.largest).map(|_| memory::malloc(envelope.largest, spec));
        let blocks = asked.collect::<Result<Vec<Block>, Failure>>()?;
        all.push(Held { spec, bytes: envelope.largest, blocks });
    }
    all.iter().for_each(fill);
    for held in &all {
        let granted = memory::query(held.blocks[0].as_ptr() as u32)?;
        let (kept, method) = (held.blocks.iter().filter(|block| holds(**block, held.bytes)).count(), granted.method);
        println!("`{}`: {kept} of {} hold, method {method}", held.spec, held.blocks.len());
    }
    let last = all[all.len() - 1].blocks[0];
    for held in &mut all {
        exceed(held);
        give_back(held)?;
    }
    Notification::named(start.info, "done").ok_or(Error::BadHandle)?.signal(1)?;
    Ok(last)
}

fn words(block: Block, bytes: u32) -> impl Iterator<Item = *mut u32> {
    (0..bytes).step_by(STEP as usize).map(move |at| (block.as_ptr() as u32 + at) as *mut u32)
}

fn fill(held: &Held) {
    let all = held.blocks.iter().flat_map(|block| words(*block, held.bytes));
    // SAFETY: a word of a block that nobody else uses.
    all.for_each(|word| unsafe { word.write_volatile(word as u32) });
}

fn holds(block: Block, bytes: u32) -> bool {
    // SAFETY: as above.
    words(block, bytes).all(|word| unsafe { word.read_volatile() } == word as u32)
}

/// Beyond an envelope with `constant-time` the manager is asked, which refuses.
fn exceed(held: &mut Held) {
    while held.spec.constant_time {
        match memory::malloc(held.bytes, held.spec) {
            Ok(block) => held.blocks.push(block),
            Err(failure) => {
                println!("`{}`: after {}: {}", held.spec, held.blocks.len(), failure.explained());
                return;
            }
        }
    }
}

/// All blocks go back, once, and as many can be had again.
fn give_back(held: &Held) -> Result<(), Failure> {
    for block in &held.blocks {
        // SAFETY: nobody uses it any more.
        unsafe { memory::free(*block) }?;
    }
    // SAFETY: as above.
    let twice = unsafe { memory::free(held.blocks[0]) };
    println!("`{}`: freed twice: {}", held.spec, twice.map_or_else(code, |()| 0));
    let again = held.blocks.iter().map(|_| memory::malloc(held.bytes, held.spec));
    for block in again.collect::<Result<Vec<Block>, Failure>>()? {
        // SAFETY: as above.
        unsafe { memory::free(block) }?;
    }
    Ok(())
}

/// The status of a failure without a rule.
fn code(failure: Failure) -> i32 {
    match failure {
        Failure::Failed(error) => error as i32,
        Failure::Refused(_) => i32::MAX,
    }
}
