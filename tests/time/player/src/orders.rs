//! A caller's orders to a gate, its first argument; the second is the time to compute for first, in ticks.

/// Return.
pub const RETURN: u32 = 0;
/// Never return.
pub const STAY: u32 = 1;
/// Fault.
pub const FAULT: u32 = 2;
