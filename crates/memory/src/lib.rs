//! Where bytes live.
//!
//! - [`extents`]: memory of a pool in pieces that one region register covers.
//! - [`frames`]: what each range of physical memory is used for, and the rules by which that changes.
//! - [`heap`]: blocks of any size in constant time, and how much memory makes refusals impossible.
#![no_std]
#![forbid(unsafe_code)]

pub mod extents;
pub mod frames;
pub mod heap;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;
