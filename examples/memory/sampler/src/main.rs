//! Allocates with each specification once, is refused once, shares samples with a domain in C, and gives memory back.
#![no_std]
#![no_main]

use core::ptr::NonNull;

use cofferdam::memory::{self, AccessLevel, Failure, Granted, Manager, SharedWanted, TemporalSpec, access};
use cofferdam::{Notification, Start, println};

/// Samples that are shared, and under which name.
const SAMPLES: u32 = 1000;
const NAME: &str = "samples";

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    match run(start) {
        Ok(()) => 0,
        Err(failure) => {
            println!("{}", failure.explained());
            1
        }
    }
}

fn run(start: Start) -> Result<(), Failure> {
    within_the_envelopes()?;
    beyond_the_envelopes()?;
    used_again()?;
    shared(start)
}

/// Prints the promise about a piece of memory.
fn tell(what: &str, granted: &Granted) {
    let Granted { base, cycles, method, .. } = *granted;
    let (spec, level) = (TemporalSpec::from_bits(granted.spec).unwrap_or_default(), granted.level);
    let level = AccessLevel::from_number(level).unwrap_or_default().text();
    match method {
        0 => println!("{what} at {base:#010x}: asked for `{spec}`, checked at {level} without a bound"),
        _ => println!("{what} at {base:#010x}: asked for `{spec}`, checked at {level} within {cycles} cycles"),
    }
}

/// The arenas of the manifest: no call leaves the domain, none can be refused.
fn within_the_envelopes() -> Result<(), Failure> {
    // A chip that keeps it only in part may do so.
    let independent = TemporalSpec { independent: true, allow_partial: true, ..TemporalSpec::level(AccessLevel::L1) };
    for (spec, bytes) in [
        (TemporalSpec::level(AccessLevel::Deterministic), 512),
        (independent, 2048),
        (TemporalSpec::level(AccessLevel::BestEffort), 16 * 1024),
    ] {
        let block = memory::malloc(bytes, spec)?;
        tell("arena", &memory::query(block.as_ptr() as u32)?);
        // SAFETY: nobody has used the block.
        unsafe { memory::free(block)? };
    }
    Ok(())
}

/// The manager grants extents, or says why not and what would do.
fn beyond_the_envelopes() -> Result<(), Failure> {
    let large = memory::malloc(40 * 1024, TemporalSpec::level(AccessLevel::L2))?;
    tell("extent", &memory::query(large.as_ptr() as u32)?);
    for (bytes, level) in [(1024, AccessLevel::L3), (512 * 1024, AccessLevel::L2)] {
        match memory::malloc(bytes, TemporalSpec::level(level)) {
            Ok(block) => println!("{bytes} bytes at {:p}", block.as_ptr()),
            Err(refusal) => println!("{bytes} bytes {}", refusal.explained()),
        }
    }
    // SAFETY: nobody uses it.
    unsafe { memory::free(large) }
}

/// Memory that was released is granted again only when it has been cleared.
fn used_again() -> Result<(), Failure> {
    let spec = TemporalSpec::level(AccessLevel::L1).bits();
    let manager = Manager::find().ok_or(Failure::Failed(cofferdam::Error::BadHandle))?;
    let first = manager.grant(16 * 1024, spec, 0)?;
    fill(&first, 0xabab_abab);
    let mut left = manager.release(first.base)?;
    let while_dirty = manager.grant(16 * 1024, spec, first.base);
    println!("while it is dirty: {}", if while_dirty.is_err() { "refused" } else { "granted" });
    let mut steps = 0;
    while left > 0 {
        left = manager.scrub(first.base)?;
        steps += 1;
    }
    let again = memory::malloc_at(first.base, 16 * 1024, TemporalSpec::level(AccessLevel::L1))?;
    println!("after {steps} steps of scrubbing: {} words are not zero", dirty_words(again, first.bytes));
    // SAFETY: nobody uses it.
    unsafe { memory::free(again) }
}

fn words(base: u32, bytes: u32) -> impl Iterator<Item = *mut u32> {
    (0..bytes / 4).map(move |index| (base + index * 4) as *mut u32)
}

fn fill(memory: &Granted, value: u32) {
    // SAFETY: the memory was granted to this domain.
    words(memory.base, memory.bytes).for_each(|word| unsafe { word.write_volatile(value) });
}

fn dirty_words(memory: NonNull<u8>, bytes: u32) -> usize {
    // SAFETY: the memory was granted to this domain.
    words(memory.as_ptr() as u32, bytes).filter(|word| unsafe { word.read_volatile() } != 0).count()
}

/// Shares samples with the domain `filter`, to read, and takes them away again.
fn shared(start: Start) -> Result<(), Failure> {
    let manager = Manager::find().ok_or(Failure::Failed(cofferdam::Error::BadHandle))?;
    let (ready, taken) = (Notification::named(start.info, "ready"), Notification::named(start.info, "taken"));
    let (Some(ready), Some(taken)) = (ready, taken) else { return Err(cofferdam::Error::BadHandle.into()) };
    let spec = TemporalSpec::level(AccessLevel::L2).bits();
    let access = access::READ | access::WRITE;
    let wanted = SharedWanted { name: NAME, bytes: SAMPLES * 4, alignment: 0, spec, access };
    let samples = memory::shmget(&wanted)?;
    for (index, word) in words(samples.as_ptr() as u32, SAMPLES * 4).enumerate() {
        // SAFETY: the memory was granted to this domain; the other one does not have it yet.
        unsafe { word.write_volatile(index as u32) };
    }
    manager.permit(NAME, "filter", access::READ)?;
    ready.signal(1)?;
    taken.wait(1)?;
    // SAFETY: nobody uses it; the manager says so, too, as long as the other domain has it mapped.
    match unsafe { memory::free(samples) } {
        Ok(()) => println!("freed what is still shared"),
        Err(refusal) => println!("{refusal}"),
    }
    manager.revoke(NAME)?;
    println!("revoked");
    ready.signal(1)?;
    // SAFETY: nobody uses it.
    unsafe { memory::free(samples) }
}
