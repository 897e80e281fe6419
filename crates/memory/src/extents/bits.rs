//! A set of numbers with summaries: 32 words of each level have one word above them.

/// Levels. The highest is a single word, so sets have up to 2^25 numbers.
const LEVELS: usize = 5;

/// Words that [`super::Extents`] needs for a tree over `2^granules_log2` granules.
pub const fn words_for(granules_log2: u8) -> usize {
    let mut words = (1usize << (granules_log2 + 1)).div_ceil(32);
    let mut total = words;
    while words > 1 {
        words = words.div_ceil(32);
        total += words;
    }
    total
}

/// The set; level 0, the numbers themselves, comes first.
#[derive(Clone, Debug)]
pub(super) struct Bits<const WORDS: usize> {
    words: [u32; WORDS],
    /// First word of each level.
    first: [usize; LEVELS],
    levels: usize,
}

impl<const WORDS: usize> Bits<WORDS> {
    /// An empty set of numbers below `limit`; `None` when they do not fit.
    pub const fn new(limit: usize) -> Option<Self> {
        let (mut first, mut levels) = ([0; LEVELS], 1);
        let mut words = limit.div_ceil(32);
        let mut total = words;
        while words > 1 {
            if levels == LEVELS {
                return None;
            }
            first[levels] = total;
            levels += 1;
            words = words.div_ceil(32);
            total += words;
        }
        if total > WORDS { None } else { Some(Bits { words: [0; WORDS], first, levels }) }
    }

    fn word(&self, level: usize, index: usize) -> u32 {
        self.words.get(self.first[level] + index).copied().unwrap_or(0)
    }

    pub fn has(&self, number: usize) -> bool {
        self.word(0, number / 32) >> (number % 32) & 1 != 0
    }

    /// At most one word of each level.
    pub fn insert(&mut self, number: usize) {
        let mut index = number;
        for level in 0..self.levels {
            let Some(word) = self.words.get_mut(self.first[level] + index / 32) else { return };
            *word |= 1 << (index % 32);
            index /= 32;
        }
    }

    /// At most one word of each level.
    pub fn remove(&mut self, number: usize) {
        let mut index = number;
        for level in 0..self.levels {
            let Some(word) = self.words.get_mut(self.first[level] + index / 32) else { return };
            *word &= !(1 << (index % 32));
            if *word != 0 {
                return;
            }
            index /= 32;
        }
    }

    /// The lowest number from `from` on that is in the set. At most two words of each level.
    pub fn next(&self, from: usize) -> Option<usize> {
        let mut index = from;
        for level in 0..self.levels {
            let here = self.word(level, index / 32) & (u32::MAX << (index % 32));
            if here != 0 {
                return Some(self.lowest_below(level, index / 32 * 32 + here.trailing_zeros() as usize));
            }
            index = index / 32 + 1;
        }
        None
    }

    /// The highest number up to `last` that is in the set. At most two words of each level.
    pub fn previous(&self, last: usize) -> Option<usize> {
        let mut index = last;
        for level in 0..self.levels {
            let here = self.word(level, index / 32) & (u32::MAX >> (31 - index % 32));
            if here != 0 {
                return Some(self.highest_below(level, index / 32 * 32 + 31 - here.leading_zeros() as usize));
            }
            index = (index / 32).checked_sub(1)?;
        }
        None
    }

    /// The highest number under a mark of some level.
    fn highest_below(&self, level: usize, mark: usize) -> usize {
        let last = |below, mark| 31 - self.word(below, mark).leading_zeros() as usize;
        (0..level).rev().fold(mark, |mark, below| mark * 32 + last(below, mark))
    }

    /// The lowest number under a mark of some level.
    fn lowest_below(&self, level: usize, mark: usize) -> usize {
        (0..level).rev().fold(mark, |mark, below| mark * 32 + self.word(below, mark).trailing_zeros() as usize)
    }
}
