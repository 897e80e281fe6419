//! The virtual regions tree: a set of page numbers, the headers of regions, in which the nearest one before or behind a page is found in a
//! bounded number of steps.
//!
//! Its structure is static: one bit for each page, above that one bit for each word of 32 bits which says whether the word has a bit set,
//! and so on, up to one word. Places of nodes are computed, so that no node holds a pointer.
//!
//! ```text
//! level 2                    1                        one word
//! level 1        1 0 . . . . . . . . . 1              a bit for each word below
//! level 0   0010 0000 . . . . . . . . 1000            a bit for each page
//! ```
//!
//! The paper's tree (section IV.A.5) has clusters of the square root of the pages and O(log log N) steps. This one has words of 32 and
//! [`levels`] steps: for 2^20 pages, four, where log2 log2 N is 4.3; and it is smaller: 135 300 bytes, where the paper has 143 756.

use crate::words::Words;

const WORD_LOG2: u32 = u32::BITS.ilog2();

/// Most pages of a tree, as a logarithm.
pub const MAX_PAGES_LOG2: u8 = 20;

/// Levels of a tree of 2^`pages_log2` pages: 1 to 4.
pub const fn levels(pages_log2: u8) -> u32 {
    let levels = (pages_log2 as u32).div_ceil(WORD_LOG2);
    if levels == 0 { 1 } else { levels }
}

/// Words of a tree of 2^`pages_log2` pages.
pub const fn words_for(pages_log2: u8) -> usize {
    first_word_of(pages_log2, levels(pages_log2))
}

/// The number of words of the levels below `level`.
const fn first_word_of(pages_log2: u8, level: u32) -> usize {
    let (mut words, mut below) = (0, 0);
    while below < level {
        words += (1_usize << pages_log2).div_ceil(1 << (WORD_LOG2 * (below + 1)));
        below += 1;
    }
    words
}

/// A set of pages. All bounds count accesses to the tree's memory, with `L` = [`levels`].
#[derive(Clone, Debug)]
pub struct Tree<W> {
    words: W,
    pages_log2: u8,
    /// The first word of each level.
    first: [usize; 4],
}

impl<W: Words> Tree<W> {
    /// An empty set over 2^`pages_log2` pages, in the first [`words_for`] of `words`.
    ///
    /// # Panics
    /// When `pages_log2` is above [`MAX_PAGES_LOG2`], or `words` has too few.
    ///
    /// # Time complexity
    /// One write for each word: linear in the address space, once in its life.
    pub fn new(mut words: W, pages_log2: u8) -> Self {
        assert!(pages_log2 <= MAX_PAGES_LOG2);
        for index in 0..words_for(pages_log2) {
            words.set(index, 0);
        }
        let first = core::array::from_fn(|level| first_word_of(pages_log2, level as u32));
        Self { words, pages_log2, first }
    }

    /// Returns true if `page` is in the set.
    ///
    /// # Time complexity
    /// One read.
    pub fn contains(&self, page: u32) -> bool {
        self.words.get(page as usize >> WORD_LOG2) >> (page % u32::BITS) & 1 == 1
    }

    /// Puts `page` into the set.
    ///
    /// # Panics
    /// When the address space has no such page.
    ///
    /// # Time complexity
    /// At most `L` reads and `L` writes.
    pub fn insert(&mut self, page: u32) {
        assert!(page >> self.pages_log2 == 0);
        let mut place = page;
        for level in 0..levels(self.pages_log2) {
            let (index, bit) = self.place(level, place);
            let word = self.words.get(index);
            self.words.set(index, word | bit);
            if word != 0 {
                return;
            }
            place >>= WORD_LOG2;
        }
    }

    /// Takes `page` out of the set.
    ///
    /// # Panics
    /// When the address space has no such page.
    ///
    /// # Time complexity
    /// At most `L` reads and `L` writes.
    pub fn remove(&mut self, page: u32) {
        assert!(page >> self.pages_log2 == 0);
        let mut place = page;
        for level in 0..levels(self.pages_log2) {
            let (index, bit) = self.place(level, place);
            let word = self.words.get(index) & !bit;
            self.words.set(index, word);
            if word != 0 {
                return;
            }
            place >>= WORD_LOG2;
        }
    }

    /// The greatest page of the set that is at or before `page`.
    ///
    /// # Time complexity
    /// At most `2 L - 1` reads.
    pub fn at_or_before(&self, page: u32) -> Option<u32> {
        // Bits up to and with the page's own; above level 0 only whole words before it are left.
        self.search(page, |bit| u32::MAX >> (u32::BITS - 1 - bit), |bit| (1 << bit) - 1, |word| word.ilog2())
    }

    /// The least page of the set that is behind `page`.
    ///
    /// # Time complexity
    /// At most `2 L - 1` reads.
    pub fn after(&self, page: u32) -> Option<u32> {
        let behind = |bit: u32| (u32::MAX << bit) & !(1 << bit);
        self.search(page, behind, behind, u32::trailing_zeros)
    }

    /// Goes up until a word has a bit under the mask, then down to the nearest page.
    fn search(
        &self,
        page: u32,
        lowest: impl Fn(u32) -> u32,
        higher: impl Fn(u32) -> u32,
        nearest: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let mut place = page;
        for level in 0..levels(self.pages_log2) {
            let bit = place % u32::BITS;
            let mask = if level == 0 { lowest(bit) } else { higher(bit) };
            let word = self.words.get(self.place(level, place).0) & mask;
            place >>= WORD_LOG2;
            if word != 0 {
                let mut found = place << WORD_LOG2 | nearest(word);
                for below in (0..level).rev() {
                    let word = self.words.get(self.first[below as usize] + found as usize);
                    found = found << WORD_LOG2 | nearest(word);
                }
                return Some(found);
            }
        }
        None
    }

    /// The word and the bit of a place of a level.
    fn place(&self, level: u32, place: u32) -> (usize, u32) {
        (self.first[level as usize] + (place >> WORD_LOG2) as usize, 1 << (place % u32::BITS))
    }
}

#[cfg(test)]
mod tests;
