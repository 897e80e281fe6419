//! Numbers from a fixed seed: Marsaglia's xorshift32.

/// The generator.
pub struct Random(u32);

impl Random {
    /// One that begins with `seed`, which is not 0.
    pub const fn new(seed: u32) -> Random {
        Random(seed)
    }

    /// Any word.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(limit)) >> 32) as u32
    }

    /// One of some.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
}
