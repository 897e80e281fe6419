//! Times and sizes that all rows share.

/// Times of a row on a slow processor are so many times as long as rows say, and so are those of the manifest that is made for it: its threads'
/// arguments tell, in the byte above the number of the actor.
pub const fn stretch(argument: u32) -> u32 {
    (argument >> 8 & 0xff) + 1
}

/// Rows that the argument of the lead's thread selects: the number of the first and how many. The upper half of 0 selects all.
pub const fn selected(argument: u32) -> (usize, usize) {
    let count = (argument >> 24) as usize;
    ((argument >> 16 & 0xff) as usize, if count == 0 { usize::MAX } else { count })
}

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
