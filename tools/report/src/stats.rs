//! Order statistics and histograms. Everything is exact: no sampling, no interpolation.

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

impl Quantiles {
    /// The statistics of `values`, or `None` when there are none. Sorts in place.
    pub fn of(values: &mut [u64]) -> Option<Quantiles> {
        values.sort_unstable();
        let rank = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Quantiles { min, median: rank(50), p99: rank(99), max })
    }
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
    /// The histogram of `values` with the narrowest width that needs at most [`MAX_BINS`] bins.
    pub fn of(values: &[i64]) -> Histogram {
        let (Some(&min), Some(&max)) = (values.iter().min(), values.iter().max()) else {
            return Histogram { start: 0, width: 1, counts: Vec::new() };
        };
        let width = widths().find(|&width| bin(max, width) - bin(min, width) < MAX_BINS as i64).unwrap_or(i64::MAX);
        let first = bin(min, width);
        let mut counts = vec![0; (bin(max, width) - first + 1) as usize];
        for &value in values {
            counts[(bin(value, width) - first) as usize] += 1;
        }
        Histogram { start: first.saturating_mul(width), width: width as u64, counts }
    }
}

fn bin(value: i64, width: i64) -> i64 {
    value.div_euclid(width)
}

fn widths() -> impl Iterator<Item = i64> {
    (0..18).flat_map(|exponent| [1, 2, 5].map(|factor| factor * 10i64.pow(exponent)))
}
