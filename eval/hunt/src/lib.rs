//! Hunts for time that somebody stole: random systems ([`Plan`]) that `check` admits run on a board from programs that are built once, and
//! [`harms`] says from the report of a run whether anybody but the culprit was harmed.
//!
//! A system is determined by its seed. A [`Drive`] runs it; [`Board`] is the one that runs QEMU
//! here.
#![forbid(unsafe_code)]

mod board;
mod generate;
mod handlers;
mod herds;
mod judge;
mod minimise;
mod parts;
mod plan;
mod random;
mod record;
mod strategy;
mod tighten;

pub use board::{Board, Drive, Ran};
pub use generate::{arm, generate};
pub use judge::{Harm, Victim, harms, victims};
pub use minimise::minimise;
pub use plan::{Act, Budget, Domain, Gate, Job, Pace, Plan, Thread};
pub use random::Random;
pub use record::{Record, hash};
pub use tighten::{TIGHT, tighten};

#[cfg(test)]
mod tests;
