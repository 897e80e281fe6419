//! A small seeded generator for property tests: the same seed gives the same sequence on every machine. Tests only; nothing else depends
//! on it.
#![no_std]
#![forbid(unsafe_code)]

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"): enough variety for tests, and
/// reproducible without a dependency.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator; any seed will do.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// 64 bits. The upper ones are the better.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `0..n`.
    ///
    /// # Panics
    /// When `n` is 0.
    pub const fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    /// True once in so many times.
    ///
    /// # Panics
    /// When `one_in` is 0.
    pub const fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

#[cfg(test)]
mod tests;
