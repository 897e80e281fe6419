//! Data accesses.

use super::Machine;
use crate::attr::MemAttr;
use crate::cache::Fill;
use crate::profile::{Interface, MemoryKind};

impl Machine {
    /// One data access of `size` bytes (1 to 32) at `addr`: the cycles that it adds to those of the instruction. What
    /// goes to tightly coupled memory, and what the data cache holds, adds none unless a load is unaligned.
    ///
    /// An access that straddles two lines is charged for both. An access outside all memories of the profile adds
    /// nothing and is counted.
    #[inline]
    pub fn data(&mut self, addr: u32, size: u32, store: bool, attr: MemAttr) -> u32 {
        if store {
            self.counters.stores += 1;
        } else {
            self.counters.loads += 1;
        }
        let mut extra = self.params.mpu_check;
        if !store && addr & (size.min(4) - 1) != 0 {
            extra += self.params.unaligned_load;
        }
        let line = addr >> self.line_log2;
        let within = addr.wrapping_add(size - 1) >> self.line_log2 == line;
        if within && self.hit(addr, line, store, attr) {
            self.spend(extra)
        } else {
            self.data_slow(addr, size, store, attr, extra)
        }
    }

    /// Whether the access is served without waiting.
    #[inline]
    fn hit(&mut self, addr: u32, line: u32, store: bool, attr: MemAttr) -> bool {
        if addr.wrapping_sub(self.tcm.0) < self.tcm.1 {
            return true;
        }
        // A store that writes through has to go on to memory in any case.
        let keeps = attr.data_cacheable() && self.dcache.on && (!store || attr.write_back);
        if keeps && self.dcache.cache.access(u64::from(line), store) {
            self.counters.dcache_hits += 1;
            return true;
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn data_slow(&mut self, addr: u32, size: u32, store: bool, attr: MemAttr, extra: u32) -> u32 {
        let mut spent = self.spend(extra);
        let next_line = ((addr >> self.line_log2) + 1) << self.line_log2;
        let here = next_line.wrapping_sub(addr).min(size);
        spent += self.part(addr, here, store, attr);
        if here < size {
            let line = next_line >> self.line_log2;
            if !self.hit(next_line, line, store, attr) {
                spent += self.part(next_line, size - here, store, attr);
            }
        }
        spent
    }

    /// An access within one line that was not served at once.
    fn part(&mut self, addr: u32, size: u32, store: bool, attr: MemAttr) -> u32 {
        let Some(index) = self.find_memory(addr, self.data_memory) else {
            self.counters.outside += 1;
            return 0;
        };
        self.data_memory = index;
        let memory = &self.memories[index];
        let cached = memory.cacheable && attr.data_cacheable() && self.dcache.on;
        let stall = match (memory.interface, memory.kind) {
            (Interface::Tcm, MemoryKind::Flash) if self.art.is_some() => self.flash_data(index, addr, store),
            _ if cached && store => self.cached_store(index, addr, size, attr),
            _ if cached => self.cached_load(index, addr),
            _ if store => self.plain_store(index, addr, size, attr.strongly_ordered),
            _ => {
                self.counters.uncached += 1;
                // A device load waits for the stores before it to the same bus, which `read` sees as a busy bus.
                let now = self.now;
                self.memories[index].read(addr, size, size, now)
            }
        };
        self.counters.data_stalls += u64::from(stall);
        self.spend(stall)
    }

    /// A literal or a table in flash goes through the accelerator; a store there is none of its business.
    fn flash_data(&mut self, index: usize, addr: u32, store: bool) -> u32 {
        let line = addr.wrapping_sub(self.memories[index].base) >> self.line_log2;
        match &mut self.art {
            Some(art) if !store => {
                let (stall, answer) = art.access(line, self.now, false);
                self.counters.flash(answer);
                stall
            }
            _ => 0,
        }
    }

    fn cached_load(&mut self, index: usize, addr: u32) -> u32 {
        let line = addr >> self.line_log2;
        // The part of a straddling access that lies in this line may be there.
        if self.dcache.cache.access(u64::from(line), false) {
            self.counters.dcache_hits += 1;
            return 0;
        }
        self.counters.dcache_misses += 1;
        self.line_fill(index, line, false)
    }

    fn cached_store(&mut self, index: usize, addr: u32, size: u32, attr: MemAttr) -> u32 {
        let line = addr >> self.line_log2;
        if self.dcache.cache.access(u64::from(line), attr.write_back) {
            self.counters.dcache_hits += 1;
            return if attr.write_back { 0 } else { self.plain_store(index, addr, size, false) };
        }
        self.counters.dcache_misses += 1;
        if !(attr.write_allocate && attr.write_back) {
            return self.plain_store(index, addr, size, false);
        }
        // The line comes in behind the store, which waits in the buffer.
        let stall = self.stores.wait(self.now);
        let began = self.now + u64::from(stall);
        let behind = self.line_fill_at(index, line, true, began);
        self.stores.push(began + u64::from(behind));
        stall
    }

    /// Brings a line in and waits for the first word asked for.
    fn line_fill(&mut self, index: usize, line: u32, dirty: bool) -> u32 {
        self.line_fill_at(index, line, dirty, self.now)
    }

    /// Cycles from `at` until what was asked for is there; the rest of the line and the write-back of what it replaces
    /// follow on the bus. A store needs the whole line.
    fn line_fill_at(&mut self, index: usize, line: u32, dirty: bool, at: u64) -> u32 {
        let bytes = 1u32 << self.line_log2;
        let needed = if dirty { bytes } else { 8 };
        let stall = self.memories[index].read(line << self.line_log2, needed, bytes, at);
        match self.dcache.cache.fill(u64::from(line), dirty) {
            Fill::Placed { evicted: Some(old), .. } if old.dirty => _ = self.write_back(old.line, at),
            _ => {}
        }
        stall
    }

    /// Writes a changed line to its memory, behind what its bus is doing. When it is done.
    pub(super) fn write_back(&mut self, line: u64, at: u64) -> u64 {
        self.counters.write_backs += 1;
        let addr = (line << self.line_log2) as u32;
        match self.find_memory(addr, self.data_memory) {
            Some(index) => self.memories[index].write(addr, 1 << self.line_log2, at),
            None => at,
        }
    }

    /// A store that goes to memory by itself.
    fn plain_store(&mut self, index: usize, addr: u32, size: u32, ordered: bool) -> u32 {
        let stall = self.stores.wait(self.now);
        let at = self.now + u64::from(stall);
        let done = self.memories[index].write(addr, size, at);
        if ordered {
            return (done - self.now) as u32;
        }
        self.stores.push(done);
        stall
    }
}
