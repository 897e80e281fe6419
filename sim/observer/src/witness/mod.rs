//! The witness: whether the memory of others changes while a hostile domain runs.

use abi::trace::Event;
use record::{DomainWatch, MemoryWindow, Range, RunEvent, Watch, Witness};

use crate::Target;
use asked::Asked;

mod asked;

/// Guest memory is read in pieces of this size, which the host's nearest cache holds.
const PIECE_BYTES: u32 = 1 << 14;
/// Independent parts of a hash: a host computes so many at a time.
const LANES: usize = 8;
const GATE_ENTER: u8 = Event::GateEnter as u8;
const GATE_EXIT: u8 = Event::GateExit as u8;

/// The domains that are watched, and the hashes of the slice that goes on.
pub struct Witnesses {
    domains: Vec<DomainWatch>,
    windows: Vec<MemoryWindow>,
    every: u64,
    seen: Witness,
    /// Index of the hostile domain that runs.
    current: Option<usize>,
    /// Hashes when its slice began, in the order of the other domains' ranges; `None`: this slice is not compared.
    before: Option<Vec<u64>>,
    /// The slice that goes on has changed memory of another domain.
    changed: bool,
    asked: Asked,
    /// Whether a hostile domain is current.
    pub is_watching: bool,
}

impl Witnesses {
    /// As requested, nothing seen.
    pub fn new(watch: &Watch) -> Self {
        Self {
            domains: watch.domains.clone(),
            windows: watch.windows.clone(),
            every: u64::from(watch.witness_every.max(1)),
            seen: Witness::default(),
            current: None,
            before: None,
            changed: false,
            asked: Asked::default(),
            is_watching: false,
        }
    }

    /// A record of the kernel's that names a thread; `from`: the domain that was current. Told after the slice before it is over.
    pub fn recorded(&mut self, event: &RunEvent, from: u8) {
        match event.event {
            GATE_ENTER => self.asked.entered(event.detail, from),
            GATE_EXIT => self.asked.left(event.detail),
            _ => self.asked.switched(event.detail),
        }
    }

    /// For the summary.
    pub fn seen(&self) -> Witness {
        self.seen
    }

    fn others(&self, hostile: usize) -> Vec<(u8, Range)> {
        let others = self.domains.iter().enumerate().filter(|(index, _)| *index != hostile);
        others.flat_map(|(_, other)| other.ram.iter().map(|range| (other.domain, *range))).collect()
    }

    /// The hash of each range; `None` when one cannot be read.
    fn hash(&mut self, hostile: usize, target: &mut dyn Target) -> Option<Vec<u64>> {
        let ranges = self.others(hostile);
        self.seen.hashed_bytes += ranges.iter().map(|(_, range)| u64::from(range.end - range.start)).sum::<u64>();
        ranges.iter().map(|(_, range)| hash_range(self.seen_by_kernel(*range), target)).collect()
    }

    /// The range at which the kernel reads a range of memory.
    fn seen_by_kernel(&self, range: Range) -> Range {
        let holds = |window: &&MemoryWindow| window.range.holds(range.start, range.end - range.start);
        let Some(window) = self.windows.iter().find(holds) else { return range };
        let start = window.at + (range.start - window.range.start);
        Range { start, end: start + (range.end - range.start) }
    }
}

/// Whether each byte lies in one of the ranges; they may follow one another in several.
#[cold]
fn is_within<'a, I: Iterator<Item = &'a Range>>(ranges: impl Fn() -> I, address: u32, len: u32) -> bool {
    let (mut at, end) = (address, address.saturating_add(len));
    while at < end {
        let Some(range) = ranges().find(|range| range.holds(at, 1)) else { return false };
        at = range.end;
    }
    true
}

fn hash_range(range: Range, target: &mut dyn Target) -> Option<u64> {
    let mut state = FRESH;
    let mut at = range.start;
    while at < range.end {
        let len = (range.end - at).min(PIECE_BYTES);
        hash_into(&mut state, target.memory(at, len as usize)?);
        at += len;
    }
    Some(state.into_iter().fold(0, |all: u64, lane| (all ^ lane).wrapping_mul(MULTIPLIER).rotate_left(29)))
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const FRESH: [u64; LANES] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Independent lanes of eight bytes; every step is a bijection of the lane, so that one changed word always shows.
fn hash_into(state: &mut [u64; LANES], bytes: &[u8]) {
    let mut blocks = bytes.chunks_exact(8 * LANES);
    for block in &mut blocks {
        for (lane, word) in state.iter_mut().zip(block.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
            *lane = (*lane ^ word).wrapping_mul(MULTIPLIER).rotate_left(31);
        }
    }
    for byte in blocks.remainder() {
        state[0] = (state[0] ^ u64::from(*byte)).wrapping_mul(MULTIPLIER).rotate_left(31);
    }
}

impl Witnesses {
    /// `domain` begins to run: remembers the bytes of the others' memory, if it is hostile.
    pub fn enter(&mut self, domain: u8, target: &mut dyn Target) {
        self.current = self.domains.iter().position(|other| other.domain == domain && other.hostile);
        self.is_watching = self.current.is_some();
        let Some(hostile) = self.current else { return };
        self.changed = false;
        self.seen.slices += 1;
        if (self.seen.slices - 1).is_multiple_of(self.every) {
            self.before = self.hash(hostile, target);
        }
    }

    /// The domain stops running: the ranges of others that have changed, and whose they are.
    pub fn leave(&mut self, target: &mut dyn Target) -> Vec<(u8, Range)> {
        self.seen.checked_slices += u64::from(self.before.is_some());
        let changed = self.compare(target);
        (self.is_watching, self.current, self.before) = (false, None, None);
        changed
    }

    /// The domain calls the kernel, or, without a number, another exception is taken or the kernel is left. What has changed until then and was not asked
    /// for, if one of the calls, before and behind this moment, changes memory of others by right.
    pub fn calls(&mut self, number: Option<usize>, target: &mut dyn Target) -> Vec<(u8, Range)> {
        let compared = Asked::concerns(number) || self.asked.may_change();
        let changed = if compared { self.compare(target) } else { Vec::new() };
        self.asked.calls(number);
        changed
    }

    /// What has changed since the hashes that are kept and was not asked for; from now on compared with what is there.
    fn compare(&mut self, target: &mut dyn Target) -> Vec<(u8, Range)> {
        let (Some(hostile), Some(before)) = (self.current, self.before.take()) else { return Vec::new() };
        let Some(after) = self.hash(hostile, target) else { return Vec::new() };
        let ranges = self.others(hostile).into_iter().zip(before.iter().zip(&after));
        let changed = ranges.filter(|(_, (before, after))| before != after).map(|(range, _)| range);
        let changed: Vec<_> = changed.filter(|(victim, _)| !self.asked.permits(*victim)).collect();
        self.before = Some(after);
        self.seen.changed_slices += u64::from(!changed.is_empty() && !self.changed);
        self.changed |= !changed.is_empty();
        changed
    }

    /// The current domain stores, while it is watched: bytes that follow one another physically. Whether one of them is outside of what it may
    /// store to.
    pub fn stores_outside(&mut self, address: u32, len: u32) -> bool {
        let Some(hostile) = self.current.map(|index| &self.domains[index]) else { return false };
        let own = || hostile.ram.iter().chain(&hostile.may_store);
        let is_inside = own().any(|range| range.holds(address, len)) || is_within(own, address, len);
        self.seen.stores += 1;
        self.seen.stores_outside += u64::from(!is_inside);
        !is_inside
    }
}

/// For an observer that is told of each store: nothing is hashed.
impl Witnesses {
    /// The current domain calls the kernel; or, without a number, the kernel is left.
    pub fn follow_call(&mut self, number: Option<usize>) {
        self.asked.calls(number.filter(|_| self.is_watching));
    }

    /// `domain` begins to run.
    pub fn follow(&mut self, domain: u8) {
        self.current = self.domains.iter().position(|other| other.domain == domain && other.hostile);
        self.is_watching = self.current.is_some();
        self.changed = false;
        self.seen.slices += u64::from(self.is_watching);
        self.seen.checked_slices += u64::from(self.is_watching);
    }

    /// The kernel stores on behalf of the current domain: whose memory that is, if it is another one's and this one is watched.
    pub fn stored_for(&mut self, address: u32) -> Option<u8> {
        let hostile = self.current?;
        let mut others = self.domains.iter().enumerate().filter(|(index, _)| *index != hostile);
        let (_, victim) = others.find(|(_, other)| other.ram.iter().any(|range| range.holds(address, 1)))?;
        if self.asked.permits(victim.domain) {
            return None;
        }
        self.seen.changed_slices += u64::from(!self.changed);
        self.changed = true;
        Some(victim.domain)
    }
}

#[cfg(test)]
mod tests;
