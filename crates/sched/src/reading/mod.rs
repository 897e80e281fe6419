//! Reads several words that an exception writes, as one consistent whole. The exception may
//! interrupt the reader at any instruction. The reader needs one attempt and masks nothing: a loop
//! that tries again would have no bound, and masking would hold the exception off.
//!
//! The reader leaves a note, reads, and looks whether the note is still there. The writer runs to
//! its end whenever it comes. If it finds the note, it keeps a copy for the reader of what it has
//! written, and takes the note away. The copy stays unchanged until the next reading.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

/// The note between one reader and one writer. The reader never interrupts the writer.
#[derive(Debug, Default)]
pub struct Reading(AtomicU32);

impl Reading {
    /// No reading is under way.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// For the reader: reads by `look`. Returns `None` if the writer has come meanwhile. Then
    /// `look` may have found parts of two states, and the writer has kept the words that were to be
    /// read.
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

    /// Keeps the words for the reader if it is reading them. The writer calls this each time after
    /// it has written, because it cannot know when the reader began.
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
