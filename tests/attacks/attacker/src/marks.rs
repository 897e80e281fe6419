//! Markers in the trace, from which the suite reads what happened when.

use cofferdam::sys;

/// An attack begins; the value is its line in the order file.
pub const ATTACK: u32 = 2;
/// A register that held something of somebody else's; the value is what it held. 0 when nothing was found.
pub const LEAK: u32 = 4;
/// So many random calls were made since the last such marker.
pub const CALLS: u32 = 6;
/// A case of `fuzzing` begins: its kind in bits 28 to 31, its number in the life in bits 20 to 27, the life in the rest.
pub const CASE: u32 = 10;
/// The two halfwords, or the address, that the case is about.
pub const ENCODING: u32 = 11;

/// Writes a marker.
pub fn mark(id: u32, value: u32) {
    let _ = sys::mark(id, value);
}
