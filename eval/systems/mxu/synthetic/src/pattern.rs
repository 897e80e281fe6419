//! The four orders in which memory is read, as indices of words.

/// Words of the memory that is read: 64 KiB, as in the paper; where page tables check, all that a level-2 cache holds.
pub const WORDS: u32 = if cfg!(target_feature = "mclass") { 16 * 1024 } else { 128 * 1024 };
/// Rows and columns of the matrix: 64 KiB.
const SIDE: u32 = 128;
/// Words between two strides.
const STRIDE: u32 = 1024;
/// Words read at each stride.
const RUN: u32 = 16;

/// An endless order of indices below [`WORDS`].
pub trait Pattern: Default {
    /// The next index.
    fn next(&mut self) -> u32;
}

/// One word after the other.
#[derive(Default)]
pub struct Sequential(u32);

impl Pattern for Sequential {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        let index = self.0 % WORDS;
        self.0 += 1;
        index
    }
}

/// Any word, by a linear congruential generator.
#[derive(Default)]
pub struct Random(u32);

impl Pattern for Random {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % WORDS
    }
}

/// Sixteen words every 4 KiB; each time round the next sixteen.
#[derive(Default)]
pub struct Strided(u32);

impl Pattern for Strided {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        let (word, step) = (self.0 % RUN, self.0 / RUN);
        let (stop, round) = (step % (WORDS / STRIDE), step / (WORDS / STRIDE));
        self.0 += 1;
        (stop * STRIDE + round * RUN + word) % WORDS
    }
}

/// A matrix multiplied by itself: a word of a row and a word of a column in turn.
#[derive(Default)]
pub struct Matrix {
    step: u32,
}

impl Pattern for Matrix {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        let (column_turn, k) = (self.step % 2, self.step / 2 % SIDE);
        let (j, i) = (self.step / 2 / SIDE % SIDE, self.step / 2 / SIDE / SIDE % SIDE);
        self.step += 1;
        if column_turn == 0 { i * SIDE + k } else { k * SIDE + j }
    }
}

/// The same indices, but each in another region of 8 KiB than the seven before.
#[derive(Default)]
pub struct Missing<P> {
    pattern: P,
    turn: u32,
}

impl<P: Pattern> Pattern for Missing<P> {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        const REGION: u32 = 2048;
        self.turn = (self.turn + 1) % (WORDS / REGION);
        self.pattern.next() % REGION + self.turn * REGION
    }
}
