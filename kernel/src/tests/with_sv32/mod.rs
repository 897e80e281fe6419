//! The tests of spaces, with page tables of two levels: the same files once more.
#![allow(clippy::duplicate_mod)]

#[path = "../basics.rs"]
mod basics;
#[path = "../demand.rs"]
mod demand;
#[path = "../many.rs"]
mod many;
#[path = "../spaces/mod.rs"]
mod spaces;

use system::build::Builder;

use super::sim::{Machine, Sv32 as Kind, boot_with};
use super::{OK, maps, refused, sim};
use crate::Kernel;

type Chip = Kernel<Machine<Kind>>;

fn boot(builder: &Builder) -> Chip {
    boot_with(builder, Machine { now: 1000, ..Machine::default() })
}
