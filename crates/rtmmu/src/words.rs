//! Memory in words. A table may be a slice, or memory that hardware reads.

/// Memory that is read and written by the word.
pub trait Words {
    /// The word at `index`.
    ///
    /// # Panics
    /// May panic when there is no such word.
    fn get(&self, index: usize) -> u32;

    /// Writes the word at `index`. Hardware may read it from then on, so that writes keep their order.
    ///
    /// # Panics
    /// May panic when there is no such word.
    fn set(&mut self, index: usize, word: u32);

    /// Entries were removed: hardware that keeps copies of some drops them. Nothing else here has to be told, because no entry is changed in another way,
    /// and none is kept of a page that was not mapped.
    fn forget(&mut self) {}
}

impl Words for [u32] {
    fn get(&self, index: usize) -> u32 {
        self[index]
    }
    fn set(&mut self, index: usize, word: u32) {
        self[index] = word;
    }
}

impl<const N: usize> Words for [u32; N] {
    fn get(&self, index: usize) -> u32 {
        self[index]
    }
    fn set(&mut self, index: usize, word: u32) {
        self[index] = word;
    }
}

impl<W: Words + ?Sized> Words for &mut W {
    fn get(&self, index: usize) -> u32 {
        (**self).get(index)
    }
    fn set(&mut self, index: usize, word: u32) {
        (**self).set(index, word);
    }
}

#[cfg(test)]
pub mod counting {
    //! Memory that counts its accesses.

    use core::cell::Cell;
    use std::vec::Vec;

    use super::Words;

    /// Accesses since the last reset.
    #[derive(Default)]
    pub struct Counts {
        reads: Cell<u64>,
        writes: Cell<u64>,
    }

    impl Counts {
        /// Reads.
        pub fn reads(&self) -> u64 {
            self.reads.get()
        }
        /// Writes.
        pub fn writes(&self) -> u64 {
            self.writes.get()
        }
        /// Counts from 0 again.
        pub fn reset(&self) {
            self.reads.set(0);
            self.writes.set(0);
        }
    }

    /// Words, and where their accesses are counted.
    pub struct Counting<'a> {
        words: Vec<u32>,
        counts: &'a Counts,
    }

    impl<'a> Counting<'a> {
        /// Counts from now on.
        pub fn new(words: Vec<u32>, counts: &'a Counts) -> Self {
            Self { words, counts }
        }
    }

    impl Words for Counting<'_> {
        fn get(&self, index: usize) -> u32 {
            self.counts.reads.set(self.counts.reads.get() + 1);
            self.words[index]
        }
        fn set(&mut self, index: usize, word: u32) {
            self.counts.writes.set(self.counts.writes.get() + 1);
            self.words[index] = word;
        }
    }
}
