//! PMSAv7 region registers (ARM DDI 0403 B3.5): fields, the exact compiler, and the evaluator.

mod encode;
mod regs;
mod shadow;

pub use encode::{MAX_COVER, Nearest, RegionError, Rule, cover, cover_count, encode_one};
pub use regs::{
    Access, Data, GRANULE_BYTES, MemType, RBAR_VALID, REGIONS, RegionRegs, SUBREGION_MIN_LOG2, Span, span_of,
};
pub use shadow::{AccessKind, Attr, Denial, Shadow, Unpredictable, Violation};

#[cfg(test)]
mod tests;
