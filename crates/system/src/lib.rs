//! The validated tables that host and kernel share.
//!
//! The host writes one block of words into flash ([`build::Builder`]); the kernel reads it back through [`System::parse`], which
//! checks every index, range and alignment once, so that boot code can trust what it holds. The block is position
//! independent: addresses in it are the addresses of what it describes, never of the block itself.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "build")]
extern crate alloc;

mod areas;
mod block;
#[cfg(feature = "build")]
pub mod build;
pub mod direct;
pub mod objects;
mod records;
pub mod regions;
pub mod rtmmu;
mod scheme;
mod section;
mod validate;
pub mod vmsav7;

pub use areas::{areas_of, attributes, can_be_mapped};
pub use block::{
    HEADER_WORDS, MAGIC, MAX_ENTRIES, Record, System, TABLES, Table, TableError, VERSION, Words, checksum,
};
pub use records::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, Thread, area, frames, policy};
pub use regions::NotExact;
pub use rtmmu::Hardware as TableMemory;
pub use section::{AnyScheme, Known, Scheme, Section};

#[cfg(test)]
mod tests;
