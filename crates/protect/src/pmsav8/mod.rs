//! PMSAv8 region registers (ARM DDI 0553 B10): fields, the exact compiler, the evaluator, and the places that they can express.
//!
//! A region has a base and a limit, both in granules of 32 bytes: it is exactly what was asked, and nothing is rounded. Two enabled regions that have a byte
//! in common make every access to it a fault, so that no paged region may overlap a pinned one ([`regions`](crate::regions) sees to it).
//!
//! An access that a region contains is checked by that region for privileged code, too: what unprivileged code may only read, the kernel may
//! only read. A kernel that writes there turns the unit off first.

mod bank;
mod placement;
mod regs;
mod unit;

pub use bank::{Bank, Shadow};
pub use placement::{Placement, placement_for};
pub use regs::{MAIR, RegionRegs, exact};
pub use unit::Pmsav8;

#[cfg(test)]
mod tests;
