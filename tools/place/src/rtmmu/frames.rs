//! Physical memory, in whole pages.

use manifest::resolved::Item;
use system::rtmmu::PAGE;

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::spot::Range;

/// Bytes of an area: whole pages.
pub(super) fn room(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(u64::from(PAGE))
}

/// Takes whole pages.
pub(super) fn pages(space: &mut Space, what: &Item, bytes: u64) -> Result<Range, PlaceError> {
    let bytes = room(bytes);
    Ok((space.plain(what, bytes, PAGE.into())?, bytes as u32))
}
