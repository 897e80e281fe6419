//! Order statistics and histograms. Everything is exact: no sampling, no interpolation.

use std::io;

use serde::{Deserialize, Serialize};

/// Order statistics of a set of values, by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Smallest.
    pub min: u64,
    /// Value at rank ceil(n / 2).
    pub median: u64,
    /// Value at rank ceil(99 n / 100).
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// Classes into which values are counted to find one by its rank.
const CLASSES: u64 = 4096;

impl Quantiles {
    /// The statistics of so many values between `min` and `max`, which `values` yields as often as it is called. Nothing is sorted or held:
    /// counting into ever narrower classes finds a rank in at most six readings.
    ///
    /// # Errors
    /// What the source answers.
    pub fn select<I: Iterator<Item = io::Result<u64>>>(
        count: u64,
        min: u64,
        max: u64,
        values: impl Fn() -> io::Result<I>,
    ) -> io::Result<Quantiles> {
        let at = |percent: u64| ranked(rank(count, percent), (min, max), &values);
        Ok(Quantiles { min, median: at(50)?, p99: at(99)?, max })
    }
}

/// Place of a quantile among so many values in order, the first being 1.
fn rank(count: u64, percent: u64) -> u64 {
    (u128::from(count) * u128::from(percent)).div_ceil(100).max(1) as u64
}

/// The value of a rank, which lies between `low` and `high`.
fn ranked<I: Iterator<Item = io::Result<u64>>>(
    mut rank: u64,
    (mut low, mut high): (u64, u64),
    values: &impl Fn() -> io::Result<I>,
) -> io::Result<u64> {
    while low < high {
        let width = (high - low) / CLASSES + 1;
        let mut counts = vec![0u64; ((high - low) / width + 1) as usize];
        for value in values()? {
            let value = value?;
            if (low..=high).contains(&value) {
                counts[((value - low) / width) as usize] += 1;
            }
        }
        let mut below = 0;
        let class = counts.iter().position(|count| {
            let holds = below + count >= rank;
            below += if holds { 0 } else { *count };
            holds
        });
        let Some(class) = class else { return Ok(high) };
        rank -= below;
        low += class as u64 * width;
        high = high.min(low.saturating_add(width - 1));
    }
    Ok(low)
}

/// Most bins that a histogram has.
pub const MAX_BINS: usize = 24;

/// A histogram of signed values in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin, a multiple of `width`. A bin holds its lower edge and not its upper.
    pub start: i64,
    /// Width of a bin: 1, 2 or 5 times a power of ten.
    pub width: u64,
    /// How many values fell into each bin; the first and the last are not 0.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram for values between two, with the narrowest width that needs at most [`MAX_BINS`] bins.
    pub fn between(min: i64, max: i64) -> Histogram {
        let width = widths().find(|&width| bin(max, width) - bin(min, width) < MAX_BINS as i64).unwrap_or(i64::MAX);
        let first = bin(min, width);
        let counts = vec![0; (bin(max, width) - first + 1).max(1) as usize];
        Histogram { start: first.saturating_mul(width), width: width as u64, counts }
    }

    /// Lower edge of a bin; of the one behind the last, the last one's upper edge.
    pub fn edge(&self, index: usize) -> i64 {
        self.start + (index as u64 * self.width) as i64
    }

    /// Counts a value; one that lies outside counts at the nearer end.
    pub fn add(&mut self, value: i64) {
        self.add_many(value, 1);
    }

    /// Counts a value that was there so many times.
    pub fn add_many(&mut self, value: i64, times: u64) {
        let width = self.width as i64;
        let last = self.counts.len() as i64 - 1;
        let place = (bin(value, width) - bin(self.start, width)).clamp(0, last);
        self.counts[place as usize] += times;
    }
}

fn bin(value: i64, width: i64) -> i64 {
    value.div_euclid(width)
}

fn widths() -> impl Iterator<Item = i64> {
    (0..18).flat_map(|exponent| [1, 2, 5].map(|factor| factor * 10i64.pow(exponent)))
}
