//! Page tables of Armv7-A (short descriptors) as plain data: what a descriptor says, where tables lie, and edits in bounded
//! steps that cannot be finished without the invalidations that they owe.
//!
//! - [`First`] and [`Second`]: typed descriptors (ARM DDI 0406C B3.5). A page that can be written and executed has no encoding.
//! - [`Tables`]: the tables of one domain over a [`TableMemory`], with memory for second-level tables given at run time.
//! - [`Owed`]: what a step owes the TLBs. Its outcome is only to be had by [`Owed::settle`].
//! - [`Shape`]: how many entries of which size a mapping takes, before it is made, for its
//!   admission.
//! - [`abort`]: why a processor aborted an access.
//! - [`lockdown`]: the sequences that lock TLB entries and ways of the second-level cache, as data.
//!
//! # Addresses
//! They say whether they are virtual or physical where they enter and leave this module. Inside, and in lists of instructions
//! ([`lockdown`]), they are the words of 32 bits that descriptors and registers hold.
//!
//! # Setting
//! The MMU with TEX remap and the access flag off (`SCTLR.TRE = 0`, `SCTLR.AFE = 0`), security extensions unused by the tables
//! (`NS = 0`), and one access domain: every mapping is in domain [`DOMAIN`], which is a client ([`DACR`]); permissions alone
//! decide. `TTBR0` with `TTBCR.N` translates the lower part for the domain that runs, `TTBR1` the upper part for the
//! kernel (B3.5.4). Walks must see the data cache (`TTBR.IRGN` write-back, as the tables themselves are mapped), or
//! [`Maintenance::publish`] cleans what was written.

pub mod abort;
mod attributes;
mod descriptor;
mod edit;
pub mod lockdown;
mod memory;
mod owed;
mod shape;
mod tables;
mod walk;
mod work;

pub use attributes::{Attributes, Privilege, Rights};
pub use descriptor::{Base, First, Malformed, Second};
pub use memory::{Placement, TableMemory};
pub use owed::{Asid, Maintenance, Owed};
pub use shape::{Shape, Unit};
pub use tables::{Split, Tables};
pub use walk::{Found, Next, SEARCH_ENTRIES};
pub use work::{Progress, Refused, WINDOWS};

/// The access domain of every mapping.
pub const DOMAIN: u32 = 0;
/// `DACR` that makes [`DOMAIN`] a client, and gives no access to any other domain.
pub const DACR: u32 = 1 << (2 * DOMAIN);
/// log2 of the bytes of a small page.
pub const PAGE_LOG2: u32 = 12;
/// Bytes of a small page.
pub const PAGE_BYTES: u32 = 1 << PAGE_LOG2;
/// Bytes of a second-level table, and its alignment.
pub const TABLE_BYTES: u32 = 1024;
/// Entries of a second-level table.
pub const TABLE_ENTRIES: u32 = TABLE_BYTES / 4;
/// Entries of the main TLB that can be locked, for the whole chip (ARM DDI 0388I 4.3.15).
pub const LOCK_SLOTS: usize = 4;

#[cfg(test)]
mod tests;
