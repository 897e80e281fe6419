//! The scheme, as code asks for it that serves every scheme with region registers.

use super::{Placement, RegionRegs, exact, placement_for};
use crate::regions::Unit;
use crate::{Access, MemType, Span};

/// PMSAv8.
#[derive(Clone, Copy, Debug)]
pub struct Pmsav8;

impl Unit for Pmsav8 {
    type Regs = RegionRegs;
    type Placement = Placement;
    const MOST_KEYS: usize = 9;
    const BEGINS_ANYWHERE: bool = true;

    fn exact(asked: Span, access: Access, memory: MemType) -> Option<RegionRegs> {
        exact(asked, access, memory)
    }

    fn cover(asked: Span, access: Access, memory: MemType, out: &mut [RegionRegs]) -> Option<usize> {
        *out.first_mut()? = exact(asked, access, memory)?;
        Some(1)
    }

    fn cover_count(asked: Span) -> Option<usize> {
        exact(asked, Access::RO, MemType::WriteBack).map(|_| 1)
    }

    /// A region has no eighths.
    fn without(region: RegionRegs, eighths: u32) -> Option<RegionRegs> {
        (eighths == 0).then_some(region)
    }

    fn placement(bytes: u64, align: u64) -> Option<Placement> {
        placement_for(bytes, align)
    }
}
