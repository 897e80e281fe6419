//! Random calls whose arguments are often nearly right.

use cofferdam::PAGES;
use cofferdam::abi::{Call, Mapping};

use crate::handles::Handles;

/// Base addresses of this system's frames and of other things around them.
const BASES: &[u32] = &[
    0,
    0x0020_0000,
    0x2000_0000,
    0x2001_0000,
    0x2002_0000,
    0x4000_0000,
    0x6000_0000,
    0x60ff_ff00,
    0xe000_e000,
    0xffff_ff00,
];
const SIZES: &[u32] = &[0, 1, 31, 32, 33, 256, 512, 4096, 0x1_0000, 0x8_0000, 0x10_0000, 0x8000_0000, u32::MAX];
/// The calls: those of a memory manager often, others seldom. None that ends or stops the caller, or writes its memory.
const CALLS: &[Call] = &[
    Call::FramesRetype,
    Call::FramesRetype,
    Call::FramesMap,
    Call::FramesMap,
    Call::FramesMap,
    Call::FramesUnmap,
    Call::FramesUnmap,
    Call::FramesClean,
    Call::FramesClean,
    Call::NodesGive,
    Call::CapCopy,
    Call::CapGrant,
    Call::GateReturn,
    Call::InterruptAck,
    Call::FaultNext,
    Call::DomainRestart,
];

/// xorshift32 (Marsaglia 2003).
pub struct Random {
    state: u32,
    /// Arguments of mappings that were made: they have to be unmapped with the same arguments.
    mapped: [[u32; 4]; 32],
    next_mapped: usize,
    /// Parts of the pool that can be mapped: offset and bytes.
    typed: [[u32; 2]; 16],
    next_typed: usize,
    pool: u32,
}

impl Random {
    /// `pool` is the first address of the frames that most regions are taken from.
    pub const fn new(seed: u32, pool: u32) -> Random {
        let typed = [[0, 0x1000]; 16];
        Random { state: seed, mapped: [[0; 4]; 32], next_mapped: 0, typed, next_typed: 0, pool }
    }

    /// Remembers a call that succeeded, to build on it.
    pub fn succeeded(&mut self, call: Call, arguments: [u32; 4]) {
        if call == Call::FramesMap {
            self.mapped[self.next_mapped] = arguments;
            self.next_mapped = (self.next_mapped + 1) % self.mapped.len();
        }
        if call == Call::FramesRetype {
            self.typed[self.next_typed] = [arguments[1], arguments[2]];
            self.next_typed = (self.next_typed + 1) % self.typed.len();
        }
    }

    fn word(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.word() >> 4) % limit
    }

    fn of(&mut self, values: &[u32]) -> u32 {
        values[self.below(values.len() as u32) as usize]
    }

    /// The next call.
    pub fn call(&mut self) -> Call {
        CALLS[self.below(CALLS.len() as u32) as usize]
    }

    fn frames(&mut self, handles: &Handles) -> u32 {
        if self.below(16) == 0 { self.of(&[0, 1, 5, 31, 32, u32::MAX]) } else { self.of(&handles.frames) }
    }

    fn domain(&mut self, handles: &Handles) -> u32 {
        match self.below(16) {
            0 => self.of(&[0, 1, 5, 31, 32, 0xffff]),
            1..=6 => handles.own & 0xffff,
            _ => self.of(&handles.domains),
        }
    }

    /// An offset or a size: small multiples of what regions, or pages and their tables, are made of, most of the time.
    fn amount(&mut self) -> u32 {
        match self.below(8) {
            0 => self.of(SIZES),
            1 => self.word(),
            2 => self.below(0x1_0000),
            3 | 4 if PAGES => self.below(16) * 1024,
            _ if PAGES => self.below(64) * 4096,
            3 | 4 => self.below(256) * 32,
            _ => self.below(256) * 256,
        }
    }

    /// An address to ask for memory that lies at an offset in its frames.
    fn at(&mut self, offset: u32) -> u32 {
        match self.below(16) {
            0 => self.of(BASES).wrapping_add(self.below(0x20_0000)),
            1 => self.word(),
            2 if !PAGES => self.pool + self.below(0x4_0000),
            _ if PAGES => self.pool + self.below(64) * 0x1000,
            _ => self.pool.wrapping_add(offset),
        }
    }

    /// A part of memory that can be mapped, mostly: a power of two, a run of its eighths or of pages, or any part.
    fn part(&mut self) -> [u32; 2] {
        let [offset, bytes] = self.typed[self.below(16) as usize];
        if self.below(4) == 0 {
            return [self.amount(), self.amount()];
        }
        if PAGES {
            return [offset.next_multiple_of(0x1000), 0x1000 * (1 + self.below((bytes / 0x1000).clamp(1, 256)))];
        }
        // Around memory that can be mapped, so that more than the first check is tried.
        let log2 = (31u32.saturating_sub(bytes.max(256).leading_zeros()).min(16) - self.below(2)).max(8);
        let base = (offset + (1 << log2) - 1) >> log2 << log2;
        let (eighth, first) = (1 << (log2 - 3), self.below(8));
        if self.below(2) == 0 {
            [base, 1 << log2]
        } else {
            [base + first * eighth, (1 + self.below(8 - first)) * eighth]
        }
    }

    fn mapping(&mut self, handles: &Handles) -> [u32; 4] {
        let access = self.of(&[1, 3, 3, 3, 5, 7, 9, 11, 19, 0, 2, 15, 16, 31]);
        let (target, frames) = (self.domain(handles) as u16, self.frames(handles) as u16);
        let [offset, bytes] = self.part();
        Mapping { target, frames, at: self.at(offset), access, offset, bytes }.words()
    }

    /// Arguments for a call.
    pub fn arguments(&mut self, call: Call, handles: &Handles) -> [u32; 4] {
        match call {
            Call::FramesRetype | Call::FramesClean => [self.frames(handles), self.amount(), self.amount(), self.word()],
            Call::FramesMap => self.mapping(handles),
            Call::FramesUnmap if self.below(4) == 0 => self.mapping(handles),
            Call::FramesUnmap => self.mapped[self.below(32) as usize],
            Call::NodesGive => [self.domain(handles), self.frames(handles), self.amount(), self.amount()],
            Call::CapCopy => [self.below(40), handles.table + self.below(16), self.below(10), self.word()],
            Call::CapGrant => [self.domain(handles), self.below(40), handles.table + self.below(16), self.below(10)],
            // A running domain is not restarted; a gate that was not entered is not left.
            _ => [self.of(&[u32::MAX, 0x1_0000, 40, 63]), self.word(), self.word(), self.word()],
        }
    }
}
