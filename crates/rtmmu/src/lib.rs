//! Virtual memory in constant time: regions of pages are made, touched and released in a number of memory accesses that depends on the size
//! of the address space alone, not on the sizes of regions, on what is mapped, or on the past.
//!
//! Source: `docs/references.md`, key RTMMU, sections II.C and IV. The hardware that reads these tables is `rtl/mmu/mmu_rtmmu.sv`.
//!
//! - [`page`]: pages, and the rights to them.
//! - [`space`]: an address space: regions, in whatever tables the processor translates with.
//! - [`translation`]: the interface of these tables.
//! - [`tables`]: the five of RTMMU: `c`, `sp`, `h`, `s`, `d`.
//! - [`flat`]: those that RTMMU is compared with: an entry for each page.
//! - [`tree`]: the virtual regions tree: to which region a page belongs.
//! - [`frames`]: frames that are free, and one list of frames for each region, which a release splices back.
//! - [`words`]: memory in words, wherever it lies.
#![no_std]
#![forbid(unsafe_code)]

pub mod flat;
pub mod frames;
pub mod page;
pub mod space;
pub mod tables;
pub mod translation;
pub mod tree;
pub mod words;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;

pub use frames::{Frame, Frames, Owner, Taken};
pub use page::{Access, Page, Rights};
pub use space::{Error, Freed, Mapped, Region, Space};
pub use tables::Tables;
pub use translation::Translation;
pub use tree::Tree;
pub use words::Words;
