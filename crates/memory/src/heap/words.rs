//! A single piece of memory as a slice: for hosts, tests, and programs without `unsafe`.

use super::Memory;

/// A slice of words that is said to begin at an address.
#[derive(Debug)]
pub struct Words<'a> {
    base: u32,
    words: &'a mut [u32],
}

impl<'a> Words<'a> {
    /// The words from address `base`, a multiple of eight that is not zero.
    pub fn new(base: u32, words: &'a mut [u32]) -> Self {
        Words { base, words }
    }

    fn index(&self, at: u32) -> Option<usize> {
        let offset = at.checked_sub(self.base)?;
        if offset % 4 == 0 { Some(offset as usize / 4) } else { None }
    }
}

impl Memory for Words<'_> {
    fn load(&self, at: u32) -> Option<u32> {
        self.words.get(self.index(at)?).copied()
    }

    fn store(&mut self, at: u32, value: u32) -> Option<()> {
        let index = self.index(at)?;
        *self.words.get_mut(index)? = value;
        Some(())
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        let (from, to, count) = (self.index(from)?, self.index(to)?, bytes as usize / 4);
        if from + count > self.words.len() || to + count > self.words.len() {
            return None;
        }
        self.words.copy_within(from..from + count, to);
        Some(())
    }
}
