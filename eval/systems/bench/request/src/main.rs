//! `rt_malloc` and `rt_free` within an envelope whose pages come at their first touch, which `cofferdam bench` measures over a random history; see `../caller`.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; a function that holds one is neither inlined nor a loop, so it stays single

use core::ptr::NonNull;

use bench_probe::probe;
use cofferdam::memory::{self, Failure, TemporalSpec};
use cofferdam::{Error, Notification, Start};

/// Allocations that are measured, as rounds in `../caller`.
const ROUNDS: u32 = 1100;
/// Blocks at a time, the envelope's.
const BLOCKS: usize = 32;
const PAGE: usize = 4096;

cofferdam::entry!(main);

type Block = NonNull<u8>;

fn main(start: Start) -> u32 {
    run(start).map_or(1, |()| 0)
}

fn run(start: Start) -> Result<(), Failure> {
    let go = Notification::named(start.info, "request").ok_or(Error::BadHandle)?;
    let envelope = start.info.envelopes().next().ok_or(Error::BadState)?;
    let spec = TemporalSpec::from_bits(envelope.spec).map_err(|_| Error::BadArgument)?;
    go.wait(1)?;
    use_all_frames(envelope.largest, spec)?;
    history(envelope.largest, spec)
}

/// Otherwise some rounds would clear frames that nobody has had yet, which is a row of its own.
fn use_all_frames(largest: u32, spec: TemporalSpec) -> Result<(), Failure> {
    let mut held = [None; BLOCKS];
    for slot in &mut held {
        // Beyond the frames there is no manager to ask.
        let Ok(block) = memory::malloc(largest, spec) else { break };
        for at in (0..largest as usize).step_by(PAGE) {
            // SAFETY: a byte of the block.
            unsafe { block.as_ptr().add(at).write_volatile(1) };
        }
        *slot = Some(block);
    }
    held.into_iter().flatten().try_for_each(release)
}

/// Blocks of 16 bytes to the envelope's largest, each power of two as likely as the next, come and go in a random order.
fn history(largest: u32, spec: TemporalSpec) -> Result<(), Failure> {
    let mut held = [None; BLOCKS];
    let (mut state, mut rounds) = (1_u32, 0);
    while rounds < ROUNDS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let slot = &mut held[(state >> 24) as usize % BLOCKS];
        match slot.take() {
            Some(block) => release(block)?,
            None => {
                let most = largest >> (state >> 8 & 7);
                *slot = Some(request(most / 2 + (state >> 11) % (most / 2) + 1, spec)?);
                rounds += 1;
            }
        }
    }
    held.into_iter().flatten().try_for_each(release)
}

#[inline(never)]
fn request(bytes: u32, spec: TemporalSpec) -> Result<Block, Failure> {
    probe!("probe_request_start", begins);
    let block = memory::malloc(bytes, spec)?;
    probe!("probe_request_end"); // where only success leads, so that the compiler does not double it
    Ok(block)
}

#[inline(never)]
fn release(block: Block) -> Result<(), Failure> {
    probe!("probe_free_start", begins);
    // SAFETY: nobody uses the block any more.
    unsafe { memory::free(block) }?;
    probe!("probe_free_end"); // as above
    Ok(())
}
