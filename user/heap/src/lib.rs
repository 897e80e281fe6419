//! The heap of a protection domain: [`Arena`]s over its memory, in constant time (`memory::heap`), for Rust's global allocator
//! (the feature `heap` of `cofferdam-user`) and for C's `malloc` (the feature `malloc`) alike.
//!
//! Everything here stays within the domain: no system call unless a thread has to wait for another.
//! A program error is returned to the caller. The default arena ends the thread with a message
//! instead, because C's `free` cannot return an error.
//!
//! The run-time that links this crate provides two functions: `cof_heap_wait`, which lets less important threads run for a
//! moment and is false in a gate, where nothing may wait, and `cof_heap_fault`, which reports a program error and does not return; with the feature `demand` `cof_heap_map` and `cof_heap_unmap`, too,
//! which call the kernel.
#![no_std]

mod arena;
mod default;
#[cfg(feature = "demand")]
pub mod demand;
mod envelope;
#[cfg(feature = "malloc")]
mod malloc;
mod raw;
mod turn;

pub use arena::{Arena, Records};
pub use default::{DEFAULT, alloc, begin, fault, free, realloc};
pub use envelope::EnvelopeArena;
pub use memory::heap::{Error, GRANULE, Usage, record_bytes, worst_case_bytes};
