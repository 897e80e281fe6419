//! Random numbers that a seed determines.

/// `SplitMix64` (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Those of a system: `number` of a hunt with `seed`.
    pub fn of(seed: u64, number: u64) -> Random {
        // Mixed first: seeds that differ by a multiple of what `next` adds give the same sequence, shifted.
        let first = Random(seed).word();
        Random(Random(first ^ number).word())
    }

    /// Others, which take none from these.
    pub fn apart(&self) -> Random {
        Random(Random(self.0 ^ 0x517c_c1b7_2722_0a95).word())
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.word() % (high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, of_hundred: u64) -> bool {
        self.word() % 100 < of_hundred
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[(self.word() % all.len() as u64) as usize]
    }
}
