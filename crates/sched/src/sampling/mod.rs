//! Random intervals between looks. A look sees whether a direct handler runs, which interrupts
//! reach without the kernel. Each look that meets one charges [`MEAN_TICKS`].
//!
//! The intervals approximate the exponential distribution, because that has no memory: how long ago
//! the last look was says nothing of when the next one comes, but for [`SHORTEST_TICKS`]. With
//! fixed intervals a handler that runs from just behind each look to just before the next would be
//! charged nothing.

/// Upper bound on the mean of the intervals; the mean of the draws is up to 5 % less.
pub const MEAN_TICKS: u32 = 1000;
/// The longest interval: a handler can run at most so long before the first look.
pub const LONGEST_TICKS: u32 = 4 * MEAN_TICKS;
/// The shortest interval, because the timer is not armed for less.
pub const SHORTEST_TICKS: u32 = 200;

/// -ln(1 - (i + 1/2) / 64), in 256ths.
const EXPONENTIAL: [u16; 64] = [
    2, 6, 10, 14, 19, 23, 27, 32, 36, 41, 46, 51, 56, 61, 66, 71, 76, 82, 87, 93, 99, 105, 111, 117, 124, 130, 137,
    144, 151, 159, 166, 174, 182, 190, 199, 208, 217, 226, 236, 246, 257, 268, 279, 291, 304, 317, 330, 345, 360, 376,
    393, 412, 431, 452, 475, 500, 528, 560, 595, 637, 688, 754, 850, 1242,
];

/// Pace of the sampler: any `n` intervals in a row are at least `n * PACE_TICKS - LENT_TICKS`
/// together, so that admission can count the looks in a window. An interval that would make them
/// less is lengthened. That is so rare that handlers learn nothing from it (see the tests).
pub const PACE_TICKS: u32 = 700;
/// How far intervals in a row may fall short of the pace: see [`PACE_TICKS`].
pub const LENT_TICKS: u32 = 4 * MEAN_TICKS;

/// Mean of the intervals beside a counter. There looks charge nothing, so intervals need not be
/// exponential. They are even between [`SHORTEST_TICKS`] and [`LONGEST_TICKS`]: there are fewer
/// looks so, and none comes later than before.
pub const COUNTED_MEAN_TICKS: u32 = (SHORTEST_TICKS + LONGEST_TICKS) / 2;
/// The pace of these intervals: see [`PACE_TICKS`].
pub const COUNTED_PACE_TICKS: u32 = 1400;
/// How far these may fall short of their pace: see [`LENT_TICKS`].
pub const COUNTED_LENT_TICKS: u32 = 2 * LONGEST_TICKS;

/// Weight of counted time against looks. Beside a counter, each look that meets a handler adds its
/// mean interval to a doubt, and what was counted since the last look takes this many times its
/// length off. So handlers that set their counter back can use this many times what is counted
/// without being found. Admission counts that for a domain that is declared hostile.
pub const COUNTED_WEIGHS: u32 = 2;
/// Doubt, in mean intervals, at which the counter is not believed any more. A handler that is
/// counted rightly comes to that once in 10^12 looks (see the tests).
pub const DOUBTS: u32 = 24;

/// Doubt, in mean intervals, above which each look that meets a handler charges its interval,
/// beside what is counted. A handler that is counted rightly comes to that once in 1000 rises of
/// the doubt.
pub const CHARGED_DOUBTS: u32 = 6;
/// Ticks that handlers can use in a window beyond [`COUNTED_WEIGHS`] times what they are charged,
/// whatever they do to their counter, until looks charge or stop them. It holds in 999 of 1000
/// lives (see the tests).
pub const COUNTED_HIDDEN_TICKS: u32 = 23 * COUNTED_MEAN_TICKS;
/// Ticks by which handlers that are sampled can exceed what they are charged in a window, beyond
/// [`LONGEST_TICKS`] for each spending, because looks miss them by chance. It holds in 998 of 1000
/// windows (see the tests).
pub const SAMPLED_HIDDEN_TICKS: u32 = 8 * MEAN_TICKS;

/// The generator of intervals: xorshift (Marsaglia 2003), and by how much the last intervals fell
/// short of the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Its state, not 0.
    pub seed: u32,
    /// Ticks by which the last intervals fell short of the pace: if this would exceed what may be
    /// lent, the next one is made longer.
    pub lent: u32,
}

impl Intervals {
    /// The next interval, in ticks.
    ///
    /// # Time complexity
    /// O(1).
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let unit = u32::from(EXPONENTIAL[(self.random() >> 26) as usize]);
        let ticks = (unit * MEAN_TICKS / 256).clamp(SHORTEST_TICKS, LONGEST_TICKS);
        self.keep_pace(ticks, PACE_TICKS, LENT_TICKS)
    }

    /// The next interval beside a counter.
    ///
    /// # Time complexity
    /// O(1).
    #[inline]
    pub fn draw_counted(&mut self) -> u32 {
        const RANGE: u32 = LONGEST_TICKS - SHORTEST_TICKS;
        let ticks = SHORTEST_TICKS + (((self.random() >> 16) * (RANGE + 1)) >> 16);
        self.keep_pace(ticks, COUNTED_PACE_TICKS, COUNTED_LENT_TICKS)
    }

    #[inline(always)]
    fn random(&mut self) -> u32 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 17;
        self.seed ^= self.seed << 5;
        self.seed
    }

    #[inline(always)]
    fn keep_pace(&mut self, ticks: u32, pace: u32, most: u32) -> u32 {
        let ticks = ticks.max((self.lent + pace).saturating_sub(most));
        self.lent = (self.lent + pace).saturating_sub(ticks);
        ticks
    }
}

/// The most looks in a window of so many ticks, one at each end included.
pub const fn looks_in(window: u64) -> u64 {
    looks_at(PACE_TICKS, LENT_TICKS, window)
}

/// The same beside a counter.
pub const fn counted_looks_in(window: u64) -> u64 {
    looks_at(COUNTED_PACE_TICKS, COUNTED_LENT_TICKS, window)
}

const fn looks_at(pace: u32, lent: u32, window: u64) -> u64 {
    window.saturating_add(lent as u64).div_ceil(pace as u64).saturating_add(1)
}

#[cfg(test)]
mod tests;
