//! A histogram of fixed size: exact below 16, then eight classes to each power of two.

use record::Spread;

const CLASSES: usize = 16 + 60 * 8;

/// Counts by class, with the exact extremes.
pub struct Histogram {
    classes: Box<[u64; CLASSES]>,
    count: u64,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { classes: Box::new([0; CLASSES]), count: 0, min: u64::MAX, max: 0 }
    }
}

fn class(value: u64) -> usize {
    if value < 16 {
        return value as usize;
    }
    let log2 = value.ilog2() as usize;
    16 + (log2 - 4) * 8 + (value >> (log2 - 3)) as usize % 8
}

/// The largest value of a class.
fn top(class: usize) -> u64 {
    if class < 16 {
        return class as u64;
    }
    let (log2, eighth) = ((class - 16) / 8 + 4, (class - 16) as u64 % 8);
    let width = 1u64 << (log2 - 3);
    ((8 + eighth) << (log2 - 3)) + (width - 1)
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.classes[class(value)] += 1;
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The distribution in short; the median is the top of its class.
    pub fn spread(&self) -> Spread {
        if self.count == 0 {
            return Spread::default();
        }
        let mut below = 0;
        let middle = self.classes.iter().position(|count| {
            below += count;
            below * 2 >= self.count
        });
        let median = middle.map_or(self.max, top).clamp(self.min, self.max);
        Spread { count: self.count, min: self.min, median, max: self.max }
    }
}

#[cfg(test)]
mod tests;
