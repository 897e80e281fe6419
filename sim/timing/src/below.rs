//! The hierarchy below the level-1 caches: memories, and on application cores the level-2 cache before some of them.

use alloc::vec::Vec;

use crate::attr::Outer;
use crate::bus::Memory;
use crate::cache::{Evicted, Fill, foreign, is_foreign};
use crate::pl310::{Master, Pl310};
use crate::profile::Interface;

/// The cache or memory that answered a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Served {
    /// The level-1 data cache.
    Level1,
    /// A locked way of the level-2 cache.
    LockedWay,
    /// The memory beside the level-2 cache: on-chip RAM.
    BesideL2,
    /// Another way of the level-2 cache, from which anybody's access may evict the line.
    Level2,
    /// A memory behind the caches.
    Memory,
}

/// A master's request for memory with these outer attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryRequest {
    pub outer: Outer,
    pub master: Master,
}

impl MemoryRequest {
    /// A data access that no level-2 cache may serve.
    pub const PLAIN: Self = Self { outer: Outer::NonCacheable, master: Master::Data };
}

/// Memories and the cache before them.
#[derive(Clone, Debug)]
pub(crate) struct Below {
    pub memories: Vec<Memory>,
    pub l2: Option<Pl310>,
    pub line_log2: u32,
}

impl Below {
    /// Index of the memory that holds `addr`; `hint` is tried first.
    #[inline]
    pub fn find(&self, addr: u32, hint: usize) -> Option<usize> {
        match self.memories.get(hint) {
            Some(memory) if memory.holds(addr) => Some(hint),
            _ => self.memories.iter().position(|memory| memory.holds(addr)),
        }
    }

    /// Whether the level-2 cache may serve this request.
    fn through_l2(&self, index: usize, outer: Outer) -> bool {
        let before = self.memories[index].interface == Interface::Axi;
        before && outer.cacheable() && self.l2.as_ref().is_some_and(|l2| l2.on)
    }

    /// Reads `total` bytes at `addr` in memory `index` at time `at`, of which the first `needed` are waited for. Extra
    /// cycles, and what answered. `total` is a line when the level-2 cache is to keep it.
    pub fn read(
        &mut self,
        index: usize,
        addr: u32,
        needed: u32,
        total: u32,
        at: u64,
        request: MemoryRequest,
    ) -> (u32, Served) {
        if !self.through_l2(index, request.outer) {
            let beside = self.memories[index].interface == Interface::BesideL2;
            let cycles = self.memories[index].read(addr, needed, total, at);
            return (cycles, if beside { Served::BesideL2 } else { Served::Memory });
        }
        let Some(l2) = &mut self.l2 else { return (0, Served::Memory) };
        let line = u64::from(addr >> self.line_log2);
        let cycles = l2.port.read(0, needed, total, at);
        if let Some(locked) = l2.look_up(line, false, request.master) {
            return (cycles, if locked { Served::LockedWay } else { Served::Level2 });
        }
        // The level-2 cache asks for a whole line whatever was asked of it.
        let bytes = 1u32 << self.line_log2;
        let behind = self.memories[index].read(addr, needed, bytes, at + u64::from(cycles));
        let fill = l2.fill(line, false, request.master);
        self.retire(fill, (index, addr), at + u64::from(cycles));
        (cycles + behind, Served::Memory)
    }

    /// Writes `bytes` of a single store. When it is done.
    pub fn write(&mut self, index: usize, addr: u32, bytes: u32, at: u64, outer: Outer) -> u64 {
        if self.through_l2(index, outer)
            && let Some(l2) = &mut self.l2
            && l2.look_up(u64::from(addr >> self.line_log2), outer.write_back(), Master::Data).is_some()
        {
            let done = l2.port.write(0, bytes, at);
            if outer.write_back() {
                return done;
            }
        }
        self.memories[index].write(addr, bytes, at)
    }

    /// Takes a changed line that a level-1 cache gives up, starting at `at`. When it is done.
    ///
    /// The level-2 cache takes it when it is on: a changed line keeps the outer attributes that it was filled with, which are
    /// taken to be write-back here.
    pub fn write_back(&mut self, line: u64, at: u64) -> u64 {
        let addr = (line << self.line_log2) as u32;
        let Some(index) = self.find(addr, 0) else { return at };
        let bytes = 1u32 << self.line_log2;
        if !self.through_l2(index, Outer::WriteBackAllocate) {
            return self.memories[index].write(addr, bytes, at);
        }
        let Some(l2) = &mut self.l2 else { return at };
        if l2.look_up(line, true, Master::Data).is_some() {
            return l2.port.write(0, bytes, at);
        }
        match l2.fill(line, true, Master::Data) {
            Fill::Bypassed => self.memories[index].write(addr, bytes, at),
            placed @ Fill::Placed { .. } => {
                let done = l2.port.write(0, bytes, at);
                self.retire(placed, (index, addr), at);
                done
            }
        }
    }

    /// Takes a changed foreign line that a level-1 cache gives up for the line at `addr` in memory `index`. Its address is not known: it is
    /// one that holds that memory up most, in another row of the same bank, and that the level-2 cache does not hold.
    pub fn write_back_foreign(&mut self, index: usize, addr: u32, at: u64) {
        let bytes = 1u32 << self.line_log2;
        let elsewhere = self.memories[index].elsewhere(addr);
        if !self.through_l2(index, Outer::WriteBackAllocate) {
            self.memories[index].write(elsewhere, bytes, at);
            return;
        }
        let Some(l2) = &mut self.l2 else { return };
        let placed = l2.fill(foreign(u64::from(addr >> self.line_log2)), true, Master::Data);
        l2.port.write(0, bytes, at);
        match placed {
            Fill::Bypassed => _ = self.memories[index].write(elsewhere, bytes, at),
            placed @ Fill::Placed { .. } => self.retire(placed, (index, addr), at),
        }
    }

    /// Writes what a fill of the level-2 cache for the line at a place threw out, if it was changed, behind what its memory is doing.
    fn retire(&mut self, fill: Fill, (index, addr): (usize, u32), at: u64) {
        let Fill::Placed { evicted: Some(Evicted { line, dirty: true }), .. } = fill else { return };
        if is_foreign(line) {
            let elsewhere = self.memories[index].elsewhere(addr);
            self.memories[index].write(elsewhere, 1 << self.line_log2, at);
        } else {
            self.past_level2(line, at);
        }
    }

    /// Writes a line past the level-2 cache. When it is done.
    pub fn past_level2(&mut self, line: u64, at: u64) -> u64 {
        let addr = (line << self.line_log2) as u32;
        match self.find(addr, 0) {
            Some(index) => self.memories[index].write(addr, 1 << self.line_log2, at),
            None => at,
        }
    }
}
