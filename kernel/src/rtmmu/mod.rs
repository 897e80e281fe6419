//! Protection of a domain on a processor with RTMMU: a space of its own, whose regions are what it may access. Operations are those of
//! [`rtmmu::Space`]: they take the same time whatever the size of a region, but for mapping its pages. With the page tables that RTMMU is compared with
//! ([`rtmmu::flat`]) a release visits the pages of a region, so many in a step.
//!
//! The hardware keeps nothing of the tables, so that a change holds from its store on, and no identifier tells domains apart.

mod arch;
mod boot;
mod demand;
mod mapping;
mod mmu;
mod protection;
mod words;

pub use arch::{Loaded, RtmmuArch};
pub use demand::CLEAR_BYTES;
use demand::Demand;
pub use mapping::Mapping;
pub use mmu::{Direct, Mmu, Rtmmu, Sv32, TableMemory};
use words::DomainSpace;
pub use words::TableWords;

/// The space of one domain. The entry code loads the first three words.
#[repr(C)]
pub struct Spaces<A: RtmmuArch> {
    /// Number of its first entry in each table.
    first: u32,
    pages_log2: u32,
    /// 1; of the idle loop 0: nothing is translated.
    on: u32,
    /// The idle loop has none, because nothing is translated then.
    space: Option<DomainSpace<A>>,
    /// Its pages that are mapped at their first touch.
    demand: Option<Demand<A>>,
}

/// Offsets at which the entry code finds the space of a domain, in bytes.
pub mod layout {
    /// Number of the first entry.
    pub const FIRST: usize = 0;
    /// Base-two logarithm of the pages.
    pub const PAGES_LOG2: usize = 4;
    /// Nonzero if anything is translated.
    pub const ON: usize = 8;
}

/// How far a mapping has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Its region, or what is left of it, begins here. `None`: it is yet to be made, or all of it
    /// is gone.
    region: Option<rtmmu::Page>,
    mapped: u32,
}

/// Costs of steps, in tens of instructions, roughly: they decide how many steps one kernel entry
/// takes (`edit`).
mod cost {
    /// A look at a region, and making or freeing one.
    pub const REGION: u32 = 12;
    /// Mapping [`super::PAGES`] pages.
    pub const PAGES: u32 = 60;
}

/// Pages of a step of a mapping.
const PAGES: u32 = 8;
