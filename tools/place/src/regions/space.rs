//! First fit at addresses that region registers can express.

use manifest::resolved::Item;
use protect::regions::{Placement, Unit};

use crate::allocate::Space;
use crate::error::PlaceError;

impl Space {
    /// Takes an area of at least `bytes` that one region covers exactly; returns base and size.
    pub(crate) fn area<U: Unit>(&mut self, what: &Item, bytes: u64, at: Option<u32>) -> Result<(u32, u32), PlaceError> {
        self.aligned_area::<U>(what, bytes, 1, at)
    }

    /// As [`Space::area`], at a multiple of `align`, a power of two.
    pub(crate) fn aligned_area<U: Unit>(
        &mut self,
        what: &Item,
        bytes: u64,
        align: u32,
        at: Option<u32>,
    ) -> Result<(u32, u32), PlaceError> {
        let placement = U::placement(bytes.max(32), align.into()).ok_or_else(|| self.full(what, bytes))?;
        if let Some(address) = at {
            return self.fixed(what, &placement, address);
        }
        let fits = |gap: &(u64, u64)| placement.next_base(gap.0).filter(|base| base + placement.bytes() <= gap.1);
        let full = || self.full_of(what, placement.bytes(), align.into());
        let base = self.gaps().iter().find_map(fits).ok_or_else(full)?;
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
        if let Some(gate) = self.crossing(base, base + placement.bytes()) {
            let reason = "handlers use memory of one memory protection controller, and another's begins at";
            return Err(fail(format!("{reason} {gate:#010x}")));
        }
        if !self.is_free(base, base + placement.bytes()) {
            let space = format!("`{}` from {:#010x} to {:#010x}", self.name, self.base(), self.end);
            return Err(fail(format!("{} bytes there are not all free in {space}", placement.bytes())));
        }
        self.take(base, base + placement.bytes());
        Ok((address, placement.bytes() as u32))
    }
}
