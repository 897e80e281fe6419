//! PMSAv7 region registers (ARM DDI 0403 B3.5): fields, the exact compiler, and the evaluator.
//!
//! - [`encode_one`], [`cover`]: the one checked compiler from byte ranges to region registers.
//! - [`Shadow`]: the evaluator with this scheme's registers.
//! - [`placement`]: which sizes and alignments one region register can express, for code that
//!   places memory.
//!
//! Nothing is translated: an address is virtual and physical at once, and here it is the word of 32 bits that a register holds.

mod bank;
mod encode;
pub mod placement;
mod regs;
mod unit;

pub use bank::{Bank, Shadow};
pub use encode::{MAX_COVER, Nearest, RegionError, Rule, cover, cover_count, encode_one, exact};
pub use regs::{RBAR_VALID, RegionRegs, SUBREGION_MIN_LOG2, span_of};
pub use unit::Pmsav7;

#[cfg(test)]
mod tests;
