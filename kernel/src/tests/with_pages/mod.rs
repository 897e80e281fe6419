//! Behaviour that does not depend on how memory is protected, with page tables: the same files of
//! tests once more.
#![allow(clippy::duplicate_mod)]

#[path = "../attacks.rs"]
mod attacks;
#[path = "../basics.rs"]
mod basics;
#[path = "../many.rs"]
mod many;
#[path = "../short.rs"]
mod short;

use system::build::Builder;

use super::sim::{Machine, Pager as Kind, boot_with};
use super::{OK, refused};
use crate::Kernel;

type Chip = Kernel<Machine<Kind>>;

fn boot(builder: &Builder) -> Chip {
    boot_with(builder, Machine { now: 1000, ..Machine::default() })
}
