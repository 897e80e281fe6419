//! Data accesses.

use super::Machine;
use crate::attr::MemAttr;
use crate::below::MemoryRequest;
use crate::profile::{Interface, MemoryKind};
use crate::side::Put;

impl Machine {
    /// One data access of `size` bytes (1 to 32) at `addr`: the cycles that it adds to those of the instruction. An access
    /// to tightly coupled memory, or to a line of the data cache, adds none unless it is an unaligned load.
    ///
    /// An access that straddles two lines is charged for both. An access outside all memories of the profile adds
    /// nothing and is counted.
    #[inline(always)]
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
    #[inline(always)]
    fn hit(&mut self, addr: u32, line: u32, store: bool, attr: MemAttr) -> bool {
        if addr.wrapping_sub(self.tcm.0) < self.tcm.1 {
            return true;
        }
        let hit = self.side.hit(line, store, attr);
        self.counters.dcache_hits += u64::from(hit);
        hit
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
        let Some(index) = self.side.below.find(addr, self.data_memory) else {
            self.counters.outside += 1;
            return 0;
        };
        self.data_memory = index;
        let memory = &self.side.below.memories[index];
        let addr = memory.home(addr);
        let cached = memory.cacheable && attr.data_cacheable() && self.side.l1.on;
        let (now, counters) = (self.now, &mut self.counters);
        let stall = match (memory.interface, memory.kind) {
            (Interface::Tcm | Interface::Ahb, MemoryKind::Flash) if self.art.is_some() => {
                self.flash_data(index, addr, store)
            }
            _ if cached && store => {
                self.side.store(index, Put { addr, size, attr }, now, MemoryRequest::PLAIN, counters)
            }
            _ if cached => self.side.load(index, addr, now, MemoryRequest::PLAIN, counters).0,
            _ if store => self.side.plain_store(index, addr, size, attr.strongly_ordered, now, MemoryRequest::PLAIN),
            _ => {
                self.counters.uncached += 1;
                // A device load waits for the stores before it to the same bus, which `read` sees as a busy bus.
                self.side.below.memories[index].read(addr, size, size, now)
            }
        };
        self.counters.data_stalls += u64::from(stall);
        self.spend(stall)
    }

    /// A literal or a table in flash goes through the accelerator; a store there is none of its business.
    fn flash_data(&mut self, index: usize, addr: u32, store: bool) -> u32 {
        let line = addr.wrapping_sub(self.side.below.memories[index].base) >> self.line_log2;
        match &mut self.art {
            Some(art) if !store => {
                let (stall, answer) = art.access(line, self.now, false);
                self.counters.flash(answer);
                stall
            }
            _ => 0,
        }
    }
}
