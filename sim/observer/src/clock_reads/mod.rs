//! The rate of the kernel's clock, from what the kernel reads: kernel and host believe the board's file, and this does not.

use record::{ClockSeen, ClockWatch};

/// A clock, and the reads of it.
#[derive(Debug, Default)]
pub struct ClockReads {
    watch: Option<ClockWatch>,
    /// Value and cycle of the read before.
    last: Option<(u32, u64)>,
    seen: ClockSeen,
}

impl ClockReads {
    pub fn new(watch: Option<ClockWatch>) -> Self {
        Self { watch, ..Self::default() }
    }

    /// A device's register was loaded at a cycle. Reads are never so far apart that the clock goes round.
    pub fn loaded(&mut self, at: u32, value: u32, cycle: u64) {
        let Some(watch) = self.watch.filter(|watch| watch.register == at) else { return };
        self.seen.reads += 1;
        if let Some((before, since)) = self.last.replace((value, cycle)) {
            let counts = if watch.down { before.wrapping_sub(value) } else { value.wrapping_sub(before) };
            self.seen.counts += u64::from(counts);
            self.seen.cycles += cycle.saturating_sub(since);
        }
    }

    /// All reads together, if they were watched.
    pub fn seen(&self) -> Option<ClockSeen> {
        self.watch.map(|_| self.seen)
    }
}

#[cfg(test)]
mod tests;
