//! Requests beyond the envelope, to the memory manager: grants of extents, their release, and the steps of scrubbing.
//!
//! 1. extents of every size from 256 bytes to 64 KiB, each given back at once, when nothing else is granted;
//! 2. pages, request by request: the one that admits, and those that map piece by piece, of which there are none with region registers;
//! 3. a long random history, at most [`SLOTS`] extents live.
//!
//! Every request says `l2`: tables on the chip. (`l1` is an entry of the TLB that is kept where
//! there are page tables, and the Cortex-A9 has four of them.)
//!
//! `eval/bench/src/grants/mod.rs` measures between the labels `probe_manager_*`: a call through the manager's gate with all that it does.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // a function that holds a label is neither inlined nor a loop, so it stays single

use core::arch::asm;

use cofferdam::memory::{AccessLevel, Answer, Failure, Granted, Manager, Operation, Request, TemporalSpec};
use cofferdam::{Error, Start, sys};

/// Requests of the long history. The thread's argument says into how many parts these numbers are divided, of which one is made: 0, where a cycle is cheap, means
/// all of them.
const REQUESTS: u32 = 8_000;
/// Rounds for each size.
const ROUNDS: u32 = 24;
/// Rounds of requests one by one, and the unit of their sizes.
const STEPS: u32 = 160;
const PAGE: u32 = 4096;
/// Most live extents: the records that a client has.
const SLOTS: usize = 24;
const SMALLEST_LOG2: u32 = 8;
const LARGEST_LOG2: u32 = 16;

/// Marks: requests of the history, and how many the manager refused.
const COUNT: u32 = 0x31;
const FAILED: u32 = 0x20;
/// A mark: the rule by which the manager refused what it must not refuse here.
const REFUSED: u32 = 0x21;

cofferdam::entry!(main);

macro_rules! labelled {
    ($label:literal, $call:expr) => {{
        // SAFETY: a label, no instruction.
        unsafe {
            asm!(
                concat!(".global probe_manager_", $label, "_start"),
                concat!("probe_manager_", $label, "_start:"),
                options(nostack)
            )
        };
        let result = $call;
        // SAFETY: as above.
        unsafe {
            asm!(
                concat!(".global probe_manager_", $label, "_end"),
                concat!("probe_manager_", $label, "_end:"),
                options(nostack)
            )
        };
        result
    }};
}

/// The manager, and the specification that is asked for.
struct Client {
    manager: Manager,
    spec: u32,
}

/// The calls themselves, so that nothing of them is spread around the labels.
impl Client {
    #[inline(never)]
    fn grant(&self, bytes: u32) -> Result<Granted, Failure> {
        self.manager.grant(bytes, self.spec, 0)
    }

    #[inline(never)]
    fn release(&self, base: u32) -> Result<u32, Failure> {
        self.manager.release(base)
    }

    #[inline(never)]
    fn step(&self, base: u32) -> Result<u32, Failure> {
        self.manager.scrub(base)
    }

    #[inline(never)]
    fn ask(&self, request: &Request) -> Result<Answer, Failure> {
        self.manager.ask(request)
    }

    /// Release and all steps of scrubbing.
    #[inline(never)]
    fn free(&self, base: u32) -> Result<(), Failure> {
        self.manager.free(base)
    }
}

/// The same between labels, and what is made of them.
impl Client {
    #[inline(never)]
    fn size_grant(&self, bytes: u32) -> Result<Granted, Failure> {
        labelled!("size_grant", self.grant(bytes))
    }

    #[inline(never)]
    fn size_release(&self, base: u32) -> Result<u32, Failure> {
        labelled!("size_release", self.release(base))
    }

    #[inline(never)]
    fn size_free(&self, base: u32) -> Result<(), Failure> {
        labelled!("size_free", self.free(base))
    }

    #[inline(never)]
    fn history_grant(&self, bytes: u32) -> Result<Granted, Failure> {
        labelled!("history_grant", self.grant(bytes))
    }

    #[inline(never)]
    fn history_release(&self, base: u32) -> Result<u32, Failure> {
        labelled!("history_release", self.release(base))
    }

    #[inline(never)]
    fn scrub(&self, base: u32) -> Result<u32, Failure> {
        labelled!("scrub", self.step(base))
    }

    #[inline(never)]
    fn admit(&self, request: &Request) -> Result<Answer, Failure> {
        labelled!("admit", self.ask(request))
    }

    #[inline(never)]
    fn map_step(&self, request: &Request) -> Result<Answer, Failure> {
        labelled!("map_step", self.ask(request))
    }

    fn clear(&self, base: u32, mut left: u32) -> Result<(), Failure> {
        while left > 0 {
            left = self.scrub(base)?;
        }
        Ok(())
    }

    /// Every power of two, and two sizes between it and the next.
    fn sizes(&self, parts: u32) -> Result<(), Failure> {
        for log2 in SMALLEST_LOG2..=LARGEST_LOG2 {
            for round in 0..ROUNDS / parts {
                let size = 1u32 << log2;
                let bytes = (size + [0, size / 4 + 12, size / 2 + 4][round as usize % 3]).min(1 << LARGEST_LOG2);
                let base = self.size_grant(bytes)?.base;
                let left = self.size_release(base)?;
                self.clear(base, left)?;
                let base = self.grant(bytes)?.base;
                self.size_free(base)?;
            }
        }
        Ok(())
    }

    /// Pages from one to fifteen, each request of a grant by itself.
    fn steps(&self, parts: u32) -> Result<(), Failure> {
        for round in 0..STEPS / parts {
            let request = Request { bytes: PAGE * (1 + round % 15), spec: self.spec, ..Request::new(Operation::Grant) };
            let Answer::Granted(granted) = self.admit(&request)? else { return Err(Error::BadState.into()) };
            let mut left = granted.left;
            while left > 0 {
                let Answer::Done(rest) = self.map_step(&Request::new(Operation::Map).about(granted.base))? else {
                    return Err(Error::BadState.into());
                };
                left = rest;
            }
            self.free(granted.base)?;
        }
        Ok(())
    }

    /// A random history; the requests that were refused.
    fn history(&self, requests: u32) -> Result<u32, Failure> {
        let mut random = Random(0x2545_F491);
        let mut slots = [0; SLOTS];
        let mut refused = 0;
        for _ in 0..requests {
            let slot = &mut slots[random.below(SLOTS as u32) as usize];
            let power = 1 << (SMALLEST_LOG2 + random.below(LARGEST_LOG2 - SMALLEST_LOG2));
            let bytes = power + random.below(power + 1);
            match core::mem::take(slot) {
                0 => match self.history_grant(bytes) {
                    Ok(granted) => *slot = granted.base,
                    Err(Failure::Refused(_)) => refused += 1,
                    Err(failed) => return Err(failed),
                },
                base => {
                    let left = self.history_release(base)?;
                    self.clear(base, left)?;
                }
            }
        }
        slots.iter().filter(|base| **base != 0).try_for_each(|base| self.free(*base))?;
        Ok(refused)
    }
}

/// xorshift32 (Marsaglia 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }
}

fn main(start: Start) -> u32 {
    match run(start.argument.max(1)) {
        Ok(()) => 0,
        Err(Failure::Refused(refused)) => {
            // The system has no console; the marks are in the trace.
            let _ = sys::mark(REFUSED, refused.rule);
            1
        }
        Err(Failure::Failed(_)) => 2,
    }
}

fn run(parts: u32) -> Result<(), Failure> {
    let manager = Manager::find().ok_or(Failure::Failed(Error::BadHandle))?;
    let client = Client { manager, spec: TemporalSpec::level(AccessLevel::L2).bits() };
    client.sizes(parts)?;
    client.steps(parts)?;
    let refused = client.history(REQUESTS / parts)?;
    sys::mark(COUNT, REQUESTS / parts)?;
    sys::mark(FAILED, refused)?;
    Ok(())
}
