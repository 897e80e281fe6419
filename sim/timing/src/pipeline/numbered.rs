//! Pipelines by number: each state that was met has one. A block or a branch that meets a state again knows the number of the state behind
//! it, and nothing is computed, compared or copied but numbers.
//!
//! Nothing of this shows in a result: what is remembered depends on the state alone, and what was forgotten is computed again.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicU32, Ordering};

use super::{CostTable, Scoreboard};
use crate::insn::InsnInfo;

/// States kept; when there are more, all but the current one are forgotten. Tests forget often.
const MOST: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };
/// Places of the hash table, of which at most half are taken.
const PLACES: usize = 2 * MOST;

/// Tells apart the states of one index: another pipeline's, or those before all were forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Generation(u32);

/// A state's place among those of its generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index(u32);

/// A state's number. No two states ever have the same, not even in two pipelines, as a block that remembers numbers may run through several; pipelines
/// that one block runs through are used by one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub generation: Generation,
    pub index: Index,
}

impl Generation {
    /// No state is of this one.
    pub const NONE: Self = Self(0);

    /// One in which no number was given yet. A load and a store, because not every target adds in one step: two threads can get the same one, which
    /// then never meet in a block.
    fn begin() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let next = LAST.load(Ordering::Relaxed).wrapping_add(1).max(1);
        LAST.store(next, Ordering::Relaxed);
        Self(next)
    }
}

impl Index {
    /// Of a state that has no number yet.
    pub const NONE: Self = Self(u32::MAX);
    /// Of nothing: it is equal to that of no pipeline.
    pub const UNUSED: Self = Self(u32::MAX - 1);

    const fn place(self) -> usize {
        self.0 as usize
    }
}

/// Effect of a branch with this penalty on a state. Penalties and cycles of a branch are short, by the profile's check.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// The state behind it; [`Index::UNUSED`] until it was computed.
    after: Index,
    penalty: u16,
    cycles: u16,
}

/// All that decides, beside the penalty, the effect of a branch on a state: see [`Scoreboard::turn`].
const fn kind(taken: bool, penalty: u32, wrong: bool) -> usize {
    if penalty == 0 { taken as usize } else { 2 + wrong as usize }
}

/// A pipeline, and the states in which it has been.
#[derive(Debug)]
pub struct Pipeline {
    /// The state, where it has no number yet.
    board: Scoreboard,
    /// The state; [`Index::NONE`] where it has no number yet.
    now: Index,
    generation: Generation,
    states: Vec<Scoreboard>,
    /// Effects of branches on each state, by [`kind`]. They lie apart, as they are looked at most.
    turns: Vec<[Turn; 4]>,
    /// Index of a state plus one, at the state's hash or behind it; 0: free.
    places: Vec<u32>,
}

impl Clone for Pipeline {
    /// The copy goes its own way and gives its own numbers.
    fn clone(&self) -> Self {
        Self { board: *self.board(), ..Self::new() }
    }
}

impl Pipeline {
    /// An empty pipeline.
    pub(crate) fn new() -> Self {
        Self {
            board: Scoreboard::new(),
            now: Index::NONE,
            generation: Generation::begin(),
            states: Vec::with_capacity(MOST),
            turns: Vec::with_capacity(MOST),
            places: vec![0; PLACES],
        }
    }

    /// The state.
    pub(crate) fn board(&self) -> &Scoreboard {
        self.states.get(self.now.place()).unwrap_or(&self.board)
    }

    /// A state that was not forgotten since.
    pub(crate) fn recall(&self, number: Number) -> Option<&Scoreboard> {
        if number.generation == self.generation { self.states.get(number.index.place()) } else { None }
    }

    /// Forgets what is under way, as an exception does.
    pub(crate) fn clear(&mut self) {
        (self.board, self.now) = (Scoreboard::new(), Index::NONE);
    }

    /// Issues one instruction: [`Scoreboard::issue`].
    pub(crate) fn issue(&mut self, table: &CostTable, insn: &InsnInfo) -> u32 {
        if let Some(board) = self.states.get(self.now.place()) {
            (self.board, self.now) = (*board, Index::NONE);
        }
        self.board.issue(table, insn)
    }

    /// Effect of a branch: [`Scoreboard::turn`].
    #[inline]
    pub(crate) fn turn(&mut self, table: &CostTable, taken: bool, penalty: u32, wrong: bool) -> u32 {
        let turns = self.turns.get(self.now.place());
        match turns.map(|turns| turns[kind(taken, penalty, wrong)]) {
            Some(turn) if turn.after != Index::UNUSED && u32::from(turn.penalty) == penalty => {
                self.now = turn.after;
                u32::from(turn.cycles)
            }
            _ => self.turn_anew(table, taken, penalty, wrong),
        }
    }

    /// A branch that such a state has not met, or the exact mode, which numbers none.
    #[inline(never)]
    fn turn_anew(&mut self, table: &CostTable, taken: bool, penalty: u32, wrong: bool) -> u32 {
        if self.now == Index::NONE {
            return self.board.turn(table, taken, penalty, wrong);
        }
        let mut board = *self.board();
        let before = self.begin();
        let cycles = board.turn(table, taken, penalty, wrong);
        let after = self.end(&board);
        if let (Ok(penalty), Ok(short)) = (u16::try_from(penalty), u16::try_from(cycles)) {
            let turn = Turn { after: after.index, penalty, cycles: short };
            self.turns[before.index.place()][kind(taken, u32::from(penalty), wrong)] = turn;
        }
        cycles
    }

    /// Number of the state, with [`Index::NONE`] if it has none yet.
    #[inline]
    pub(crate) fn now(&self) -> Number {
        Number { generation: self.generation, index: self.now }
    }

    /// Goes on in a state of the generation of [`Self::now`].
    #[inline]
    pub(crate) fn enter(&mut self, index: Index) {
        self.now = index;
    }

    /// Gives the state a number. The next state keeps it known.
    pub(crate) fn begin(&mut self) -> Number {
        let board = *self.board();
        if self.states.len() + 2 > MOST {
            self.generation = Generation::begin();
            self.states.clear();
            self.turns.clear();
            self.places.fill(0);
        }
        self.end(&board)
    }

    /// Goes on in this state, which follows one that [`Self::begin`] has numbered.
    pub(crate) fn end(&mut self, board: &Scoreboard) -> Number {
        self.now = self.find_or_add(board);
        self.now()
    }

    /// The place of a state, a new one if it was not met.
    fn find_or_add(&mut self, board: &Scoreboard) -> Index {
        let mut hasher = Mix(0);
        board.hash(&mut hasher);
        let mut place = hasher.finish() as usize % PLACES;
        loop {
            let index = match self.places[place] {
                0 => break,
                taken => taken - 1,
            };
            if self.states[index as usize] == *board {
                return Index(index);
            }
            place = (place + 1) % PLACES;
        }
        let index = self.states.len() as u32;
        self.states.push(*board);
        self.turns.push([Turn { after: Index::UNUSED, penalty: 0, cycles: 0 }; 4]);
        self.places[place] = index + 1;
        Index(index)
    }
}

/// Multiplies and folds, eight bytes at a time.
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            self.0 = mixed ^ mixed >> 29;
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
