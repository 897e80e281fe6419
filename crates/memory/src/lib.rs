//! Allocators of memory.
//!
//! - [`demand`]: the heap of [`heap`] over pages that have frames only while they are in use.
//! - [`extents`]: memory of a pool in pieces that one region register covers.
//! - [`frames`]: what each range of physical memory is used for, and the rules by which that changes.
//! - [`heap`]: blocks of any size in constant time, and how much memory makes refusals impossible.
//! - [`pieces`]: memory of a pool in pages that need not be next to each other.
#![no_std]
#![forbid(unsafe_code)]

pub mod demand;
pub mod extents;
pub mod frames;
pub mod heap;
pub mod pieces;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;
