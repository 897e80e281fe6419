//! The data side of a core: level-1 data cache and store buffer over what lies below. Every core model uses it.

use crate::attr::MemAttr;
use crate::below::{Below, MemoryRequest, Served};
use crate::bus::{Memory, StoreBuffer};
use crate::cache::{Fill, is_foreign};
use crate::counters::Counters;
use crate::level1::Level1;

/// Bytes of a missed line that a load waits for; the rest follows behind the pipeline.
const NEEDED_BYTES: u32 = 8;

/// A store within one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put {
    pub addr: u32,
    pub size: u32,
    pub attr: MemAttr,
}

/// Level-1 data cache, store buffer, and what is below.
#[derive(Clone, Debug)]
pub(crate) struct DataSide {
    pub l1: Level1,
    pub stores: StoreBuffer,
    pub below: Below,
}

impl DataSide {
    /// Line number of an address.
    #[inline]
    pub fn line(&self, addr: u32) -> u32 {
        addr >> self.below.line_log2
    }

    /// Whether the level-1 cache serves the access without waiting. A store that writes through never is.
    #[inline]
    pub fn hit(&mut self, line: u32, store: bool, attr: MemAttr) -> bool {
        let keeps = attr.data_cacheable() && self.l1.on && (!store || attr.write_back);
        keeps && self.l1.cache.access(u64::from(line), store)
    }

    /// Makes caches and memories as bad as they can be: see [`crate::application::MemorySystem::spoil`].
    pub fn spoil(&mut self) {
        self.l1.spoil(true);
        if let Some(l2) = &mut self.below.l2 {
            l2.spoil();
        }
        self.below.memories.iter_mut().for_each(Memory::close_rows);
    }

    /// A load of a cacheable line: stall cycles, and what answered.
    pub fn load(
        &mut self,
        index: usize,
        addr: u32,
        now: u64,
        request: MemoryRequest,
        counters: &mut Counters,
    ) -> (u32, Served) {
        let line = self.line(addr);
        // The part of a straddling access that lies in this line may be there.
        if self.l1.cache.access(u64::from(line), false) {
            counters.dcache_hits += 1;
            return (0, Served::Level1);
        }
        counters.dcache_misses += 1;
        self.fill(index, line, false, now, request, counters)
    }

    /// A store to a cacheable line: stall cycles.
    pub fn store(&mut self, index: usize, put: Put, now: u64, request: MemoryRequest, counters: &mut Counters) -> u32 {
        let Put { addr, size, attr } = put;
        let line = self.line(addr);
        if self.l1.cache.access(u64::from(line), attr.write_back) {
            counters.dcache_hits += 1;
            return if attr.write_back { 0 } else { self.plain_store(index, addr, size, false, now, request) };
        }
        counters.dcache_misses += 1;
        if !(attr.write_allocate && attr.write_back) {
            return self.plain_store(index, addr, size, false, now, request);
        }
        // The line comes in behind the store, which waits in the buffer.
        let stall = self.stores.wait(now);
        let began = now + u64::from(stall);
        let (behind, _) = self.fill(index, line, true, began, request, counters);
        self.stores.push(began + u64::from(behind));
        stall
    }

    /// Cycles from `at` until what was asked for is there; the rest of the line and the write-back of what it replaces
    /// follow on the bus. A store needs the whole line.
    pub fn fill(
        &mut self,
        index: usize,
        line: u32,
        dirty: bool,
        at: u64,
        request: MemoryRequest,
        counters: &mut Counters,
    ) -> (u32, Served) {
        let bytes = 1u32 << self.below.line_log2;
        let needed = if dirty { bytes } else { NEEDED_BYTES };
        let answer = self.below.read(index, line << self.below.line_log2, needed, bytes, at, request);
        match self.l1.cache.fill(u64::from(line), dirty) {
            Fill::Placed { evicted: Some(old), .. } if old.dirty && is_foreign(old.line) => {
                counters.write_backs += 1;
                self.below.write_back_foreign(index, line << self.below.line_log2, at);
            }
            Fill::Placed { evicted: Some(old), .. } if old.dirty => _ = self.write_back(old.line, at, counters),
            _ => {}
        }
        answer
    }

    /// Writes a changed line to what is below, behind what its bus is doing. When it is done.
    pub fn write_back(&mut self, line: u64, at: u64, counters: &mut Counters) -> u64 {
        counters.write_backs += 1;
        self.below.write_back(line, at)
    }

    /// Writes a changed line through the store buffer: stall cycles.
    pub fn buffer_write_back(&mut self, line: u64, now: u64, counters: &mut Counters) -> u32 {
        let stall = self.stores.wait(now);
        let done = self.write_back(line, now + u64::from(stall), counters);
        self.stores.push(done);
        stall
    }

    /// Maintenance of one line of the level-1 cache: whether it has to be written back.
    pub fn maintain_line(&mut self, line: u64, clean: bool, invalidate: bool) -> bool {
        let cache = &mut self.l1.cache;
        let dirty = clean && cache.clean_line(line);
        if invalidate {
            cache.invalidate_line(line);
        }
        dirty
    }

    /// Maintenance by set and way, as the register's value names them: way in the uppermost bits, set above the line
    /// offset (DDI 0403 B4.8.7, DDI 0406 B4.2.1). The line that has to be written back.
    pub fn maintain_place(&mut self, set_way: u32, clean: bool, invalidate: bool) -> Option<u64> {
        let cache = &mut self.l1.cache;
        let way_bits = cache.ways().next_power_of_two().trailing_zeros();
        let way = if way_bits == 0 { 0 } else { set_way >> (32 - way_bits) };
        let set = (set_way >> self.below.line_log2) & (cache.sets() - 1);
        let held = cache.by_set_way(set, way, clean, invalidate)?;
        (held.dirty && clean).then_some(held.line)
    }

    /// A store that goes down by itself: stall cycles.
    pub fn plain_store(
        &mut self,
        index: usize,
        addr: u32,
        size: u32,
        ordered: bool,
        now: u64,
        request: MemoryRequest,
    ) -> u32 {
        let stall = self.stores.wait(now);
        let done = self.below.write(index, addr, size, now + u64::from(stall), request.outer);
        if ordered {
            return (done - now) as u32;
        }
        self.stores.push(done);
        stall
    }
}
