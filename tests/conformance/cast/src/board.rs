//! Memory that everybody shares: which row is performed, when it starts, where things are, and what came of it.

use cofferdam::{Info, Shared, shared};
use conformance::{ACTORS, Actor, Dom, Record};

/// Words.
mod word {
    /// Number of the row and 1; 0: none yet.
    pub const ROW: usize = 0;
    /// Start of the row in ticks, low word.
    pub const START: usize = 1;
    /// Address of the pool, on chips with physical addresses only.
    pub const POOL: usize = 3;
    /// Addresses that the domains tell, by domain: initialised word, zeroed word, information block.
    pub const TOLD: usize = 4;
    /// Records, by actor.
    pub const RECORDS: usize = 32;
}

/// The addresses that a domain tells of itself.
#[derive(Clone, Copy)]
pub struct Told {
    /// Address of its initialised word.
    pub initial: u32,
    /// Address of its zeroed word.
    pub zeroed: u32,
    /// Address of its information block.
    pub info: u32,
}

/// The shared area `board`.
#[derive(Clone, Copy)]
pub struct Board(Shared);

impl Board {
    /// Finds it.
    pub fn find(info: Info) -> Option<Board> {
        shared(info, "board").map(Board)
    }

    /// The row that is performed.
    pub fn row(self) -> Option<u32> {
        self.0.read(word::ROW).checked_sub(1)
    }

    /// When it starts; 0: that is not known yet.
    pub fn start(self) -> u64 {
        u64::from(self.0.read(word::START)) | u64::from(self.0.read(word::START + 1)) << 32
    }

    /// Another row is to be performed.
    pub fn set(self, row: u32) {
        for index in word::RECORDS..word::RECORDS + ACTORS * Record::WORDS {
            self.0.write(index, 0);
        }
        self.set_start(0);
        self.0.write(word::ROW, row + 1);
    }

    /// It starts then.
    pub fn set_start(self, start: u64) {
        self.0.write(word::START, start as u32);
        self.0.write(word::START + 1, (start >> 32) as u32);
    }

    /// Address of the pool.
    pub fn pool(self) -> u32 {
        self.0.read(word::POOL)
    }

    /// The pool was found.
    pub fn set_pool(self, base: u32) {
        self.0.write(word::POOL, base);
    }

    /// A domain tells where its memory is.
    pub fn tell(self, domain: u32, told: Told) {
        for (index, value) in [told.initial, told.zeroed, told.info].into_iter().enumerate() {
            self.0.write(word::TOLD + 3 * domain as usize + index, value);
        }
    }

    /// The addresses that a domain told.
    pub fn told(self, dom: Dom) -> Told {
        let word = |index| self.0.read(word::TOLD + 3 * dom as usize + index);
        Told { initial: word(0), zeroed: word(1), info: word(2) }
    }

    /// The record of an actor.
    pub fn record(self, actor: Actor) -> Record {
        let word = |index| self.0.read(word::RECORDS + Record::WORDS * actor as usize + index);
        Record { lives: word(0), done: word(1), wrong: word(2), got: word(3) }
    }

    /// Notes it.
    pub fn note(self, actor: Actor, record: Record) {
        let words = [record.lives, record.done, record.wrong, record.got];
        for (index, value) in words.into_iter().enumerate() {
            self.0.write(word::RECORDS + Record::WORDS * actor as usize + index, value);
        }
    }
}
