//! The flash accelerator: keeps lines that were missed, and reads the next line ahead.
//!
//! Instructions and data come through the same port. The line in use costs nothing; a kept line nothing; the line being
//! read ahead what is left of its read; any other line a whole read, which waits for a read under way. A read-ahead that
//! has not begun when another line is wanted is given up, so that no request waits for more than one read. A line that
//! was waited for is kept, be it that its read had to begin or had not ended: it was not there when it was wanted, which is
//! what ST's manuals call a miss (README, "The flash accelerator"). A line that the read-ahead brought in time is not kept; in sequence it comes in time again. Accelerators
//! of other vendors keep it ([`Art::keeping_ahead`]).
//! Look-up is constant time, and so is a miss: the kept lines stand in a doubly linked list in order of use.

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

/// One kept line, in the ring of slots ordered by use.
#[derive(Clone, Copy, Debug)]
struct Slot {
    line: u32,
    older: u8,
    newer: u8,
}

/// The ring of `kept` empty slots: the slot older than the last one is the first.
fn ring(kept: u8) -> Vec<Slot> {
    let previous = |n: u8| if n == 0 { kept - 1 } else { n - 1 };
    let next = |n: u8| if n + 1 == kept { 0 } else { n + 1 };
    (0..kept).map(|n| Slot { line: NO_LINE, older: next(n), newer: previous(n) }).collect()
}

/// State of the accelerator. Lines are numbered from the start of the flash.
#[derive(Clone, Debug)]
pub struct Art {
    /// Slot + 1 of each line of the flash, 0 for a line that is not kept.
    slot_of: Vec<u8>,
    slots: Vec<Slot>,
    /// Slot used last; going on from there by `older` passes all slots.
    newest: u8,
    current: u32,
    ahead: u32,
    ahead_start: u64,
    ahead_ready: u64,
    busy_until: u64,
    wait_states: u32,
    prefetch: bool,
    /// Whether a line that was read ahead in time is kept, too.
    keeps_ahead: bool,
}

impl Art {
    /// An empty accelerator over `flash_lines` lines, keeping `kept` of them (1 to 255), where a read takes
    /// `wait_states` cycles more than a hit.
    pub fn new(flash_lines: usize, kept: u8, wait_states: u32, prefetch: bool) -> Self {
        Self {
            slot_of: vec![ABSENT; flash_lines],
            slots: ring(kept.max(1)),
            newest: 0,
            current: NO_LINE,
            ahead: NO_LINE,
            ahead_start: 0,
            ahead_ready: 0,
            busy_until: 0,
            wait_states,
            prefetch,
            keeps_ahead: false,
        }
    }

    /// The same, which keeps lines that were read ahead in time, too, when they are used.
    pub fn keeping_ahead(self, keeps_ahead: bool) -> Self {
        Self { keeps_ahead, ..self }
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
            self.use_slot(slot - 1);
            (0, Answer::Hit)
        } else if line == self.ahead {
            let stall = self.ahead_ready.saturating_sub(now) as u32;
            if stall > 0 || self.keeps_ahead {
                self.keep(line);
            }
            (stall, Answer::Prefetched)
        } else {
            let start = self.begin(now);
            self.keep(line);
            ((start - now) as u32 + self.wait_states, Answer::Miss)
        };
        if fetch && self.prefetch {
            self.read_ahead(line + 1, now + u64::from(stall));
        }
        (stall, answer)
    }

    /// Begins a read wanted at time `now`: when it starts. A read-ahead that has not begun makes way.
    fn begin(&mut self, now: u64) -> u64 {
        if self.ahead != NO_LINE && self.ahead_start > now {
            self.ahead = NO_LINE;
            self.busy_until = self.ahead_start;
        }
        let start = now.max(self.busy_until);
        self.busy_until = start + u64::from(self.wait_states) + 1;
        start
    }

    fn read_ahead(&mut self, line: u32, now: u64) {
        let wanted = self.slot_of.get(line as usize) == Some(&ABSENT) && line != self.ahead;
        if wanted {
            let start = self.begin(now);
            self.ahead = line;
            self.ahead_start = start;
            // A hit in the last cycle of the read gets the line at its end.
            self.ahead_ready = start + u64::from(self.wait_states);
        }
    }

    /// Keeps `line` in place of the line unused for longest.
    fn keep(&mut self, line: u32) {
        // The ring closes: the slot newer than the newest is the oldest.
        let oldest = self.slots[usize::from(self.newest)].newer;
        let slot = &mut self.slots[usize::from(oldest)];
        if let Some(place) = self.slot_of.get_mut(slot.line as usize) {
            *place = ABSENT;
        }
        slot.line = line;
        self.slot_of[line as usize] = oldest + 1;
        self.newest = oldest;
    }

    /// Moves a slot to the front of the ring.
    fn use_slot(&mut self, slot: u8) {
        if slot == self.newest {
            return;
        }
        let Slot { older, newer, .. } = self.slots[usize::from(slot)];
        self.slots[usize::from(newer)].older = older;
        self.slots[usize::from(older)].newer = newer;
        let oldest = self.slots[usize::from(self.newest)].newer;
        self.slots[usize::from(slot)].older = self.newest;
        self.slots[usize::from(slot)].newer = oldest;
        self.slots[usize::from(self.newest)].newer = slot;
        self.slots[usize::from(oldest)].older = slot;
        self.newest = slot;
    }

    /// As somebody else leaves it who has fetched from elsewhere: nothing of use is kept, and a read-ahead has just begun.
    pub fn spoil(&mut self, now: u64) {
        for slot in &mut self.slots {
            if let Some(place) = self.slot_of.get_mut(slot.line as usize) {
                *place = ABSENT;
            }
            slot.line = NO_LINE;
        }
        self.current = NO_LINE;
        self.ahead = NO_LINE;
        if self.prefetch {
            self.busy_until = self.busy_until.max(now + u64::from(self.wait_states) + 1);
        }
    }

    /// Forgets everything, as FLASH_ACR.ARTRST does.
    pub fn clear(&mut self) {
        self.slot_of.fill(ABSENT);
        self.slots = ring(self.slots.len() as u8);
        self.newest = 0;
        self.current = NO_LINE;
        self.ahead = NO_LINE;
    }
}

#[cfg(test)]
mod tests;
