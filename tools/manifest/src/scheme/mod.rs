//! How accesses are checked on a board, and what follows from it for whoever prepares and observes a system. A scheme is a file here, its
//! name, and a line of `known.rs`; no other code asks which scheme a board has.

mod described;
mod known;
mod name;
mod regions;
mod rtmmu;
mod vmsav7;

pub use described::{Facts, Fixed, Scheme};
pub(crate) use known::read;
pub use name::SchemeName;
pub(crate) use regions::LEAST_PAGE_BYTES;
