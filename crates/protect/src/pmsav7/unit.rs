//! The scheme, as code asks for it that serves every scheme with region registers.

use super::placement::{Placement, placement_for};
use super::{RegionRegs, cover, cover_count, exact};
use crate::regions::{GRANULE_BYTES, Placement as Places, Unit};
use crate::{Access, MemType, Span};

/// PMSAv7.
#[derive(Clone, Copy, Debug)]
pub struct Pmsav7;

impl Unit for Pmsav7 {
    type Regs = RegionRegs;
    type Placement = Placement;
    const MOST_KEYS: usize = 4;
    const BEGINS_ANYWHERE: bool = false;

    fn exact(asked: Span, access: Access, memory: MemType) -> Option<RegionRegs> {
        exact(asked, access, memory)
    }

    fn cover(asked: Span, access: Access, memory: MemType, out: &mut [RegionRegs]) -> Option<usize> {
        cover(asked, access, memory, out).ok()
    }

    fn cover_count(asked: Span) -> Option<usize> {
        cover_count(asked)
    }

    fn without(region: RegionRegs, eighths: u32) -> Option<RegionRegs> {
        Some(RegionRegs { rasr: region.rasr | eighths << 8, ..region })
    }

    /// A region of at least eight times the alignment begins at a multiple of it, because regions
    /// begin at multiples of their eighth.
    fn placement(bytes: u64, align: u64) -> Option<Placement> {
        placement_for(if align > GRANULE_BYTES.into() { bytes.max(8 * align) } else { bytes })
    }
}

impl Places for Placement {
    fn bytes(&self) -> u64 {
        self.size_bytes
    }

    fn next_base(&self, from: u64) -> Option<u64> {
        Placement::next_base(*self, from)
    }
}
