//! First fit at addresses that region registers can express.

use manifest::resolved::Item;
use protect::pmsav7::placement::{Placement, placement_for};

use crate::allocate::Space;
use crate::error::PlaceError;

impl Space {
    /// Takes an area of at least `bytes` that one region covers exactly; returns base and size.
    pub(crate) fn area(&mut self, what: &Item, bytes: u64, at: Option<u32>) -> Result<(u32, u32), PlaceError> {
        let placement = placement_for(bytes.max(32)).ok_or_else(|| self.full(what, bytes))?;
        if let Some(address) = at {
            return self.fixed(what, placement, address);
        }
        let fits = |gap: &(u64, u64)| placement.next_base(gap.0).filter(|base| base + placement.size_bytes <= gap.1);
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full(what, placement.size_bytes))?;
        self.take(base, base + placement.size_bytes);
        Ok((base as u32, placement.size_bytes as u32))
    }

    fn fixed(&mut self, what: &Item, placement: Placement, address: u32) -> Result<(u32, u32), PlaceError> {
        let base = u64::from(address);
        let fail = |reason: String| PlaceError::At { what: what.clone(), address, reason };
        if !placement.fits_at(base) {
            let next = placement.next_base(base).map_or("none".into(), |next| format!("{next:#010x}"));
            return Err(fail(format!(
                "a region of {} bytes cannot start there (the next address that works is {next})",
                placement.size_bytes
            )));
        }
        if !self.is_free(base, base + placement.size_bytes) {
            let space = format!("`{}` from {:#010x} to {:#010x}", self.name, self.base(), self.end);
            return Err(fail(format!("{} bytes there are not all free in {space}", placement.size_bytes)));
        }
        self.take(base, base + placement.size_bytes);
        Ok((address, placement.size_bytes as u32))
    }
}
