//! The flash accelerator: keeps lines that were missed, and reads the next line ahead.
//!
//! Instructions and data come through the same port. The line in use costs nothing; a kept line nothing; the line being
//! read ahead what is left of its read; any other line a whole read, which waits for a read under way. Missed lines are
//! kept, lines that the read-ahead brought are not (they are cheap to come by again in sequence). Look-up is constant
//! time, a miss takes time proportional to the lines kept.

use alloc::vec;
use alloc::vec::Vec;

const ABSENT: u8 = 0;
const NO_LINE: u32 = u32::MAX;

/// How a request was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// From the line in use or a kept line.
    Hit,
    /// From the line being read ahead.
    Prefetched,
    /// By a read of the flash.
    Miss,
}

/// State of the accelerator. Lines are numbered from the start of the flash.
#[derive(Clone, Debug)]
pub struct Art {
    /// Slot + 1 of each line of the flash, 0 for a line that is not kept.
    slot_of: Vec<u8>,
    line_in: Vec<u32>,
    used: Vec<u64>,
    clock: u64,
    current: u32,
    ahead: u32,
    ahead_ready: u64,
    busy_until: u64,
    wait_states: u32,
    prefetch: bool,
}

impl Art {
    /// An empty accelerator over `flash_lines` lines, keeping `kept` of them (1 to 255), where a read takes
    /// `wait_states` cycles more than a hit.
    pub fn new(flash_lines: usize, kept: usize, wait_states: u32, prefetch: bool) -> Self {
        Self {
            slot_of: vec![ABSENT; flash_lines],
            line_in: vec![NO_LINE; kept],
            used: vec![0; kept],
            clock: 0,
            current: NO_LINE,
            ahead: NO_LINE,
            ahead_ready: 0,
            busy_until: 0,
            wait_states,
            prefetch,
        }
    }

    /// Requests `line` at time `now`: extra cycles, and how it was answered. Only an instruction fetch starts a
    /// read-ahead. A line beyond the flash is answered like a kept one.
    #[inline]
    pub fn access(&mut self, line: u32, now: u64, fetch: bool) -> (u32, Answer) {
        if line == self.current {
            return (0, Answer::Hit);
        }
        self.other_line(line, now, fetch)
    }

    fn other_line(&mut self, line: u32, now: u64, fetch: bool) -> (u32, Answer) {
        let Some(&slot) = self.slot_of.get(line as usize) else { return (0, Answer::Hit) };
        self.current = line;
        let (stall, answer) = if slot != ABSENT {
            self.clock += 1;
            self.used[slot as usize - 1] = self.clock;
            (0, Answer::Hit)
        } else if line == self.ahead {
            (self.ahead_ready.saturating_sub(now) as u32, Answer::Prefetched)
        } else {
            let start = now.max(self.busy_until);
            self.busy_until = start + u64::from(self.wait_states) + 1;
            self.keep(line);
            ((start - now) as u32 + self.wait_states, Answer::Miss)
        };
        if fetch && self.prefetch {
            self.read_ahead(line + 1, now + u64::from(stall));
        }
        (stall, answer)
    }

    fn read_ahead(&mut self, line: u32, now: u64) {
        let wanted = self.slot_of.get(line as usize) == Some(&ABSENT) && line != self.ahead;
        if wanted {
            let start = now.max(self.busy_until);
            self.busy_until = start + u64::from(self.wait_states) + 1;
            self.ahead = line;
            self.ahead_ready = self.busy_until;
        }
    }

    fn keep(&mut self, line: u32) {
        let Some((slot, _)) = self.used.iter().enumerate().min_by_key(|(_, used)| **used) else { return };
        if let Some(place) = self.slot_of.get_mut(self.line_in[slot] as usize) {
            *place = ABSENT;
        }
        self.clock += 1;
        self.used[slot] = self.clock;
        self.line_in[slot] = line;
        self.slot_of[line as usize] = slot as u8 + 1;
    }

    /// Forgets everything, as FLASH_ACR.ARTRST does.
    pub fn clear(&mut self) {
        self.slot_of.fill(ABSENT);
        self.line_in.fill(NO_LINE);
        self.used.fill(0);
        self.current = NO_LINE;
        self.ahead = NO_LINE;
    }
}

#[cfg(test)]
mod tests;
