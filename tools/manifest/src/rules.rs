//! A rule of a file that belongs to the installation.

/// Cycles of a path or of a change of tables, at most: more is a slip of the pen, and sums of these stay far below 64 bits.
pub(crate) const MOST_CYCLES: u64 = 10_000_000;

/// Whether a rule is kept; otherwise the key, the value, and the limit.
pub(crate) type Kept = Result<(), String>;

/// The rule that something holds.
pub(crate) fn require(holds: bool, why: impl FnOnce() -> String) -> Kept {
    if holds { Ok(()) } else { Err(why()) }
}
