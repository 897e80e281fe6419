//! A heap whose pages have frames only while blocks lie in them, for memory that is mapped at its first touch and released at once, whatever its size
//! (`docs/references.md`, key RTMMU, section IV). It is the heap of [`crate::heap`], which says what is free; this module says to the kernel, by
//! [`Regions`], which pages are in use.
//!
//! | operation | calls of the kernel | beyond the heap's own |
//! | --- | --- | --- |
//! | [`DemandHeap::alloc`], [`DemandHeap::alloc_aligned`] | at most one | counts of two pages |
//! | [`DemandHeap::free`] | at most one | counts of two pages |
//! | [`DemandHeap::resize`] | none | nothing |
//!
//! ```text
//!   block:            [ header . . . . . . . . . . . . . . . . . . ]
//!   pages:      |  first  |  those between  ...  |  last  |
//!   regions:    a region     one region            a region       made with the first block of a page, freed with the last one
//! ```
//!
//! The first and the last page of a block may hold other blocks, too: each is a region of its own and has a count of the blocks that begin or end in
//! it. Pages between belong to the block alone and are one region, which is made and freed with it. So no region is ever divided while something of it is
//! mapped, and an operation makes or frees three at most, one behind the other.

mod kept;
mod layout;
mod operations;
mod pages;
mod storage;

#[cfg(test)]
mod tests;

pub use kept::{Below, KeptHeap};
pub use layout::{Layout, PAGE};
pub use operations::DemandHeap;
pub use pages::{Counts, Made};
pub use storage::Deferred;

/// The kernel has refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Regions of pages, as the kernel makes and frees them. Pages are numbered from the beginning of the heap's piece.
pub trait Regions {
    /// Makes free pages, from `made.first` on, regions.
    ///
    /// # Errors
    /// [`Refused`]; nothing has changed.
    fn map(&mut self, made: Made) -> Result<(), Refused>;

    /// Frees `count` regions, one behind the other, from the one that begins with page `first` on.
    ///
    /// # Errors
    /// As for [`Regions::map`].
    fn unmap(&mut self, first: u32, count: u32) -> Result<(), Refused>;
}
