//! The witness: whether the memory of others changes while a hostile domain runs.

use record::{DomainWatch, MemoryWindow, Range, ViolationKind, Watch, Witness};

use crate::Target;
use crate::block::InsnInfo;
use crate::family::Family;
use crate::observer::CoreObserver;

/// Guest memory is read in pieces of this size, which the host's nearest cache holds.
const PIECE_BYTES: u32 = 1 << 14;
/// Independent parts of a hash: a host computes so many at a time.
const LANES: usize = 8;

/// What the witness knows.
pub struct Witnesses {
    domains: Vec<DomainWatch>,
    windows: Vec<MemoryWindow>,
    every: u64,
    seen: Witness,
    /// Index of the hostile domain that runs.
    current: Option<usize>,
    /// Hashes when its slice began, in the order of the other domains' ranges; `None`: this slice is not compared.
    before: Option<Vec<u64>>,
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
            is_watching: false,
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

    /// Where the kernel reads a range of memory.
    fn seen_by_kernel(&self, range: Range) -> Range {
        let holds = |window: &&MemoryWindow| window.range.holds(range.start, range.end - range.start);
        let Some(window) = self.windows.iter().find(holds) else { return range };
        let start = window.at + (range.start - window.range.start);
        Range { start, end: start + (range.end - range.start) }
    }
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

impl<F: Family> CoreObserver<F> {
    /// The current domain begins to run: remembers what the others' memory holds, if it is hostile.
    pub(crate) fn enter_slice(&mut self) {
        let domain = self.domain;
        let witness = &mut self.witness;
        witness.current = witness.domains.iter().position(|other| other.domain == domain && other.hostile);
        witness.is_watching = witness.current.is_some();
        let Some(hostile) = witness.current else { return };
        witness.seen.slices += 1;
        if (witness.seen.slices - 1).is_multiple_of(witness.every) {
            witness.before = witness.hash(hostile, &mut *self.target);
        }
    }

    /// The current domain stops running: compares.
    pub(crate) fn leave_slice(&mut self, pc: u32) {
        self.witness.is_watching = false;
        let (Some(hostile), Some(before)) = (self.witness.current.take(), self.witness.before.take()) else { return };
        let Some(after) = self.witness.hash(hostile, &mut *self.target) else { return };
        self.witness.seen.checked_slices += 1;
        let ranges = self.witness.others(hostile);
        let changed = ranges.into_iter().zip(before.iter().zip(&after)).filter(|(_, (before, after))| before != after);
        let changed: Vec<_> = changed.map(|(range, _)| range).collect();
        self.witness.seen.changed_slices += u64::from(!changed.is_empty());
        for (victim, range) in changed {
            self.violation(ViolationKind::MemoryChanged, pc, range.start, range.end - range.start, Some(victim));
        }
    }

    /// A hostile domain stored.
    #[cold]
    pub(crate) fn hostile_store(&mut self, insn: &InsnInfo, address: u32, len: u32) {
        let Some(hostile) = self.witness.current.map(|index| &self.witness.domains[index]) else { return };
        let is_inside = hostile.ram.iter().chain(&hostile.may_store).any(|range| range.holds(address, len));
        self.witness.seen.stores += 1;
        if !is_inside {
            self.witness.seen.stores_outside += 1;
            self.violation(ViolationKind::HostileStore, insn.pc(), address, len, None);
        }
    }
}

#[cfg(test)]
mod tests;
