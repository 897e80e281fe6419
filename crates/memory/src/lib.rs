//! Where bytes live.
//!
//! - [`frames`]: what each range of physical memory is used for, and the rules by which that changes.
//! - [`scrub`]: clearing recycled memory in bounded steps that can be interrupted.
#![no_std]
#![forbid(unsafe_code)]

pub mod frames;
pub mod scrub;

#[cfg(test)]
extern crate std;

#[cfg(test)]
pub(crate) mod testing;
