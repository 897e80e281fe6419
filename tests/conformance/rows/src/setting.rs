//! Times and sizes that all rows share.

/// Period of every budget of the cast, in microseconds.
pub const PERIOD_US: u32 = 5_000;
/// From a replenishment to the start of a row, in microseconds.
pub const START_US: u32 = 50;
/// How often a thread looks whether the start of its row is known by now, in microseconds.
pub const NOTICE_US: u32 = 400;
/// How long a row lasts from its start, in microseconds.
pub const LENGTH_US: u32 = 9_500;
/// Bytes of the pool that are untyped when a row starts: all but the last page, which one row gives away for good.
pub const UNTYPED_BYTES: u32 = 0xf000;
/// The initialised word of every domain, [`Place::Initial`].
pub const INITIAL: u32 = 0x600d_da7a;
