//! Regions of the demand area.

use crate::sys;
use abi::Error;

/// Frees so many regions of the demand area, one behind the other, from the one that begins at an address on.
///
/// # Errors
/// Those of `REGION_UNMAP`.
///
/// # Time complexity
/// One call behind RTMMU; with other MMUs one for each 16 pages.
pub fn unmap(mut place: u32, mut regions: u32) -> Result<(), Error> {
    while regions > 0 {
        (place, regions) = sys::region_unmap(place, regions)?;
    }
    Ok(())
}
