//! Pairs of numbers that one domain hands to another: word 0 holds their count, stored last; from word 2 on, two words
//! (little-endian IEEE 754 double) for each number, first and second of each pair in turn.

use crate::Words;

/// Name under which `store` shares the series.
pub const SERIES: &str = "series";
/// Its bytes: [`Series`] of up to 10 239 pairs.
pub const SERIES_BYTES: u32 = 160 * 1024;

const COUNT: usize = 0;
const FIRST: usize = 2;
const PAIR: usize = 4;

/// A series in shared memory.
pub struct Series<W> {
    memory: W,
}

impl<W: Words> Series<W> {
    /// The series in this memory.
    pub fn new(memory: W) -> Self {
        Series { memory }
    }

    /// How many pairs fit.
    pub fn capacity(&self) -> usize {
        self.memory.words().saturating_sub(FIRST) / PAIR
    }

    /// Stores the pair at `index`; false when it does not fit.
    pub fn set(&self, index: usize, pair: [f64; 2]) -> bool {
        if index >= self.capacity() {
            return false;
        }
        for (part, value) in pair.into_iter().enumerate() {
            let at = FIRST + index * PAIR + part * 2;
            self.memory.write(at, value.to_bits() as u32);
            self.memory.write(at + 1, (value.to_bits() >> 32) as u32);
        }
        true
    }

    /// Makes the first `count` pairs visible.
    pub fn publish(&self, count: usize) {
        self.memory.write(COUNT, count as u32);
    }

    /// How many pairs are visible; never more than fit, whatever the writer claims.
    pub fn count(&self) -> usize {
        (self.memory.read(COUNT) as usize).min(self.capacity())
    }

    /// The pair at `index`, whatever it holds at this moment.
    pub fn get(&self, index: usize) -> [f64; 2] {
        core::array::from_fn(|part| {
            let at = FIRST + index * PAIR + part * 2;
            f64::from_bits(u64::from(self.memory.read(at)) | u64::from(self.memory.read(at + 1)) << 32)
        })
    }
}
