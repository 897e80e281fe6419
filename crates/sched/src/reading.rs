//! Reading words that an exception writes, which may interrupt the reader at any instruction: whole, in one attempt, and with nothing masked.
//!
//! The reader leaves a note, reads, and looks whether the note is still there. The writer runs to its end whenever it comes. If it finds the note, it keeps
//! for the reader what it has written, and takes the note away. Nobody writes what was kept before the next reading.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

/// The note between one reader and one writer. The reader never interrupts the writer.
#[derive(Debug, Default)]
pub struct Reading(AtomicU32);

impl Reading {
    /// Nobody reads.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The reader: reads this. `None`: the writer has come meanwhile. It has kept what was to be read, and what `look` has found may be parts of two states.
    ///
    /// # Time complexity
    /// One `look`, whatever the writer does.
    #[inline]
    pub fn read<T>(&self, what: u32, look: impl FnOnce() -> T) -> Option<T> {
        self.0.store(what + 1, Relaxed);
        compiler_fence(SeqCst);
        let found = look();
        compiler_fence(SeqCst);
        let is_whole = self.0.load(Relaxed) != 0;
        self.0.store(0, Relaxed);
        is_whole.then_some(found)
    }

    /// The writer, each time when it has written: keeps what is being read.
    #[inline]
    pub fn keep(&self, keep: impl FnOnce(u32)) {
        if let Some(what) = self.0.load(Relaxed).checked_sub(1) {
            keep(what);
            self.0.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
