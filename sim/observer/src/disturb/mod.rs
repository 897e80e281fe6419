//! Interference on request, as of another program that fills caches and TLBs: at a steady rate or when the program says so.

use record::{Interference, Watch};

/// When it comes next.
pub struct Disturbances {
    request: Option<Interference>,
    /// Mark with which it comes, and the only domain whose marks count.
    mark: Option<(u16, Option<u8>)>,
    /// Cycle of the next one; `u64::MAX` while none is due.
    pub next: u64,
    /// Cycles that were left when the domain concerned last stopped running.
    left: u64,
    /// How many there were.
    pub count: u64,
}

impl Disturbances {
    /// As requested.
    pub fn new(watch: &Watch) -> Self {
        let request = watch.interference.filter(|request| request.every_cycles > 0);
        let left = request.map_or(0, |request| request.every_cycles);
        let next = request.filter(|request| request.domain.is_none()).map_or(u64::MAX, |request| request.every_cycles);
        let mark = watch.interference.and_then(|asked| asked.mark.map(|mark| (mark, asked.domain)));
        Self { request, mark, next, left, count: 0 }
    }

    /// Whether it comes with this mark.
    pub fn is_marked(&mut self, number: u16, domain: u8) -> bool {
        let comes = self.mark.is_some_and(|(mark, of)| mark == number && of.is_none_or(|of| of == domain));
        self.count += u64::from(comes);
        comes
    }

    /// `domain` becomes the current one at `cycle`: only the time of the domain concerned counts.
    pub fn enter(&mut self, domain: u8, cycle: u64) {
        let Some(concerned) = self.request.and_then(|request| request.domain) else { return };
        if concerned == domain && self.next == u64::MAX {
            self.next = cycle + self.left;
        } else if concerned != domain && self.next != u64::MAX {
            self.left = self.next.saturating_sub(cycle);
            self.next = u64::MAX;
        }
    }

    /// Whether it is due: once, however late.
    pub fn is_due(&mut self, now: u64) -> bool {
        let (Some(request), true) = (self.request, now >= self.next) else { return false };
        let behind = (now - self.next) % request.every_cycles;
        self.next = now - behind + request.every_cycles;
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests;
