//! Intervals between looks at whether handlers run that interrupts reach without the kernel. Each look that meets one charges [`MEAN_TICKS`].
//!
//! Intervals are drawn from a geometric approximation of the exponential distribution: how long ago the last look was says nothing of the next, but for
//! [`SHORTEST_TICKS`]. With fixed intervals a handler that runs from just behind each look to just before the next would be charged nothing.

/// Mean of the intervals, at most: that of the draws is up to 5 % less.
pub const MEAN_TICKS: u32 = 1000;
/// The longest: so long does a handler run, at most, before the first look.
pub const LONGEST_TICKS: u32 = 4 * MEAN_TICKS;
/// The shortest: timers are not armed for less.
pub const SHORTEST_TICKS: u32 = 200;

/// -ln(1 - (i + 1/2) / 64), in 256ths.
const EXPONENTIAL: [u16; 64] = [
    2, 6, 10, 14, 19, 23, 27, 32, 36, 41, 46, 51, 56, 61, 66, 71, 76, 82, 87, 93, 99, 105, 111, 117, 124, 130, 137,
    144, 151, 159, 166, 174, 182, 190, 199, 208, 217, 226, 236, 246, 257, 268, 279, 291, 304, 317, 330, 345, 360, 376,
    393, 412, 431, 452, 475, 500, 528, 560, 595, 637, 688, 754, 850, 1242,
];

/// The next state of the generator (xorshift, Marsaglia 2003; not 0), and the interval that it means.
///
/// # Time complexity
/// O(1).
#[inline]
pub fn draw(mut seed: u32) -> (u32, u32) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    let unit = u32::from(EXPONENTIAL[(seed >> 26) as usize]);
    (seed, (unit * MEAN_TICKS / 256).clamp(SHORTEST_TICKS, LONGEST_TICKS))
}

#[cfg(test)]
mod tests;
