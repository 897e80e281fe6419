//! How an access is checked.
//!
//! - [`pmsav7`]: the one checked compiler from byte ranges to region registers, and the evaluator that serves as its
//!   specification and as the shadow of the hardware in a simulator.
//! - [`placement`]: which sizes and alignments one region register can express; for whoever lays memory out.
//! - [`pctrie`]: the path-compressed radix trie that finds the paged region of an address in a bounded number of steps.
//! - [`slots`]: the register image of a domain: pinned slots first, then the slots that cache paged regions.
//! - [`abort`]: why a processor with page tables aborted an access.
//! - [`vmsa`]: page tables for processors with an MMU: descriptors, edits in bounded steps, identifiers of address spaces.
//!
//! Nothing here allocates, and nothing depends on the machine it runs on. Sources: Armv7-M Architecture Reference
//! Manual, ARM DDI 0403, section B3.5 (PMSAv7) and B3.1 (the system address map); Armv7-A and Armv7-R edition, ARM DDI 0406C,
//! sections B3.5 to B3.10 (VMSAv7).
#![no_std]
#![forbid(unsafe_code)]

pub mod abort;
pub mod pctrie;
pub mod placement;
pub mod pmsav7;
pub mod slots;
pub mod vmsa;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;
