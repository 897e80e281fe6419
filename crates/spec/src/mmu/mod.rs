//! The same vocabulary on a chip whose accesses are checked by an MMU: page tables that lie where the level says, and TLB entries
//! that are locked.
//!
//! What is different from region registers: the check is made by hardware, so that there are no misses to pay for and no slots to keep
//! free; what runs out is shared by the whole chip (lock slots, memory on the chip, ways of a cache); memory need not be in one
//! piece; and the TLB is shared between domains, so that independence is kept in part only.

mod admit;
mod bytes;
mod change;
mod ledger;
mod platform;

pub use bytes::block_bytes;
pub use ledger::{Account, Budget, Constant, Grant, Ledger, Range, Request};
pub use platform::{Costs, Independence, Meaning, Platform, TablePlace};
