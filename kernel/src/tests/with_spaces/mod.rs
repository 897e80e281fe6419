//! Behaviour that does not depend on how memory is protected, with RTMMU: the same files of tests once more.
#![allow(clippy::duplicate_mod)]

#[path = "../attacks.rs"]
mod attacks;
#[path = "../basics.rs"]
mod basics;
#[path = "../demand.rs"]
mod demand;
#[path = "../many.rs"]
mod many;
#[path = "../short.rs"]
mod short;
#[path = "../spaces/mod.rs"]
mod spaces;

use system::build::Builder;

use super::sim::{Machine, Rtmmu as Kind, boot_with};
use super::{OK, maps, refused, sim};
use crate::Kernel;

type Chip = Kernel<Machine<Kind>>;

fn boot(builder: &Builder) -> Chip {
    boot_with(builder, Machine { now: 1000, ..Machine::default() })
}
