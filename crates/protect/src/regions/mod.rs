//! Region registers of any scheme: the table of the regions of paged memory, and the image of a domain's registers. A scheme brings its
//! [`Unit`].
//!
//! - [`pctrie`]: the path-compressed radix trie that finds the paged region of an address in a bounded number of steps.
//! - [`slots`]: the register image of a domain: pinned slots first, then the slots that cache paged regions.
//! - [`Shadow`]: the evaluator against which compilers, slots and the kernel's simulated processor are tested, and which observers keep; no image holds it.

mod attributes;
pub mod pctrie;
mod registers;
mod shadow;
pub mod slots;
mod unit;

pub use attributes::{Attributes, Policy};
pub(crate) use registers::share_a_byte;
pub use registers::{Key, Registers};
pub use shadow::{Attr, Bank, Denial, Permissions, Segment, Shadow, Unpredictable, Violation, default_attributes};
pub use unit::{Placement, Unit};

/// Region registers of a protection unit: 8 in the Cortex-M3, M4 and M7 (ARM DDI 0403 B3.5), and in the Cortex-M33 for each security state (DDI 0553 B10), as configured on the
/// boards here.
pub const REGIONS: usize = 8;

/// The finest granule that can be protected, in both schemes.
pub const GRANULE_BYTES: u32 = 32;

/// log2 of the smallest region that is paged. No instruction transfers more than 128 bytes (DDI 0403 A7.7: `VLDM` of 32 words), so its data lies in two
/// paged regions at most.
pub const LEAST_PAGED_LOG2: u32 = 8;
