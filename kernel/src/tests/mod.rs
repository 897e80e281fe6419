//! The kernel on a simulated processor, of which there are several kinds.

mod areas;
mod attacks;
mod basics;
#[cfg(test)]
mod collude;
#[cfg(test)]
mod conformance;
mod edits;
mod frames;
pub mod fuzz;
mod lives;
mod many;
mod maps;
#[cfg(test)]
mod objects;
mod pages;
mod paging;
mod rich;
mod short;
mod sim;
#[cfg(test)]
mod time;
mod watch;
mod with_direct;
mod with_pages;
mod with_spaces;
mod with_sv32;

use abi::Error;

use crate::Kernel;
use sim::{Registers as Kind, Sim, boot};

type Chip = Kernel<Sim>;

const OK: Option<(u32, [u32; 2])> = Some((0, [0, 0]));

fn refused(error: Error) -> Option<(u32, [u32; 2])> {
    Some((error.status(), [0; 2]))
}
