//! Attacks that a hostile domain can try with nothing but a thread, a console and a gate of its
//! own. Two lists: [`refused::ATTACKS`] end in an error or have no effect, [`lethal::ATTACKS`] end
//! in a fault, which costs the domain a life each.
//!
//! The results of these functions are not evidence: a run's record is (faults, refusals, hashes of
//! the other domains' memory, deadlines).
#![no_std]

pub mod lethal;
mod places;
pub mod refused;
pub mod trap;

pub use places::{Chip, Places};
