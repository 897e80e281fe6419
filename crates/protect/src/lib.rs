//! How an access is checked.
//!
//! [`AccessKind`], [`Access`], [`MemType`] and [`Span`] are the words that all schemes have in common, and [`regions`] is everything that schemes with region
//! registers have in common. Each scheme is a module with its encoding, its tables, and
//! whatever finds an entry in them:
//! - [`pmsav7`]: region registers of powers of two (Armv7-M).
//! - [`pmsav8`]: region registers with base and limit (Armv8-M).
//! - [`vmsav7`]: page tables with short descriptors (Armv7-A).
//!
//! [`attribution`] is the other half of it on Armv8-M: which addresses are Secure.
//!
//! Nothing here allocates, and nothing depends on the machine it runs on. Sources: Armv7-M Architecture Reference
//! Manual, ARM DDI 0403, section B3.5 (PMSAv7) and B3.1 (the system address map); Armv8-M, ARM DDI 0553, sections B8 (attribution) and B10 (PMSAv8); Armv7-A and Armv7-R edition, ARM DDI 0406C,
//! sections B3.5 to B3.10 (VMSAv7).
#![no_std]
#![forbid(unsafe_code)]

mod access;
pub mod attribution;
pub mod pmsav7;
pub mod pmsav8;
pub mod regions;
mod span;
pub mod vmsav7;

pub use access::{Access, AccessKind, Data, MemType};
pub use span::Span;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;
