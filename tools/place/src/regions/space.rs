//! First fit at addresses that region registers can express.

use manifest::resolved::Item;
use protect::regions::{Placement, Unit};

use crate::allocate::Space;
use crate::error::PlaceError;

impl Space {
    /// Takes an area of at least `bytes` that one region covers exactly, and that begins at a multiple of `align`, a power of two; returns base
    /// and size.
    pub(crate) fn area<U: Unit>(
        &mut self,
        what: &Item,
        bytes: u64,
        at: Option<u32>,
        align: u32,
    ) -> Result<(u32, u32), PlaceError> {
        let placement = U::placement(bytes.max(32)).ok_or_else(|| self.full(what, bytes))?;
        if let Some(address) = at {
            return self.fixed(what, &placement, address);
        }
        let fits = |gap: &(u64, u64)| next_base(&placement, *gap, align.max(1).into());
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full(what, placement.bytes()))?;
        self.take(base, base + placement.bytes());
        Ok((base as u32, placement.bytes() as u32))
    }

    fn fixed(&mut self, what: &Item, placement: &impl Placement, address: u32) -> Result<(u32, u32), PlaceError> {
        let base = u64::from(address);
        let fail = |reason: String| PlaceError::At { what: what.clone(), address, reason };
        if !placement.fits_at(base) {
            let next = placement.next_base(base).map_or("none".into(), |next| format!("{next:#010x}"));
            return Err(fail(format!(
                "a region of {} bytes cannot start there (the next address that works is {next})",
                placement.bytes()
            )));
        }
        if !self.is_free(base, base + placement.bytes()) {
            let space = format!("`{}` from {:#010x} to {:#010x}", self.name, self.base(), self.end);
            return Err(fail(format!("{} bytes there are not all free in {space}", placement.bytes())));
        }
        self.take(base, base + placement.bytes());
        Ok((address, placement.bytes() as u32))
    }
}

/// The first address in a gap at which a region can begin that fits into it, and that is a multiple of `align`.
fn next_base(placement: &impl Placement, (start, end): (u64, u64), align: u64) -> Option<u64> {
    let after = |base: u64| placement.next_base(base.next_multiple_of(align));
    let bases = std::iter::successors(after(start), |base| after(base + 1));
    bases.take_while(|base| base + placement.bytes() <= end).find(|base| base.is_multiple_of(align))
}
