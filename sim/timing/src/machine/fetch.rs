//! Instruction fetch, line by line.

use super::Machine;
use crate::art::Answer;
use crate::attr::MemAttr;

use crate::profile::{Interface, MemoryKind};

/// Bytes that one fetch request brings where nothing caches: the width of the fetch port.
const FETCH_BYTES: u32 = 8;

impl Machine {
    /// Fetches the line of instructions with this number: stall cycles, already added to the clock.
    pub(super) fn fetch_attributed(&mut self, line: u32, attr: MemAttr) -> u32 {
        let addr = line << self.line_log2;
        let Some(index) = self.side.below.find(addr, self.fetch_memory) else {
            self.counters.outside += 1;
            return 0;
        };
        self.fetch_memory = index;
        let memory = &mut self.side.below.memories[index];
        let addr = memory.home(addr);
        let stall = match (memory.interface, memory.kind, &mut self.art) {
            (Interface::Tcm | Interface::Ahb, MemoryKind::Flash, Some(art)) => {
                let line = addr.wrapping_sub(memory.base) >> self.line_log2;
                let (stall, answer) = art.access(line, self.now, true);
                self.counters.flash(answer);
                stall
            }
            (Interface::Axi, _, _) if attr.cacheable && memory.cacheable && self.icache.on => {
                if self.icache.cache.access(u64::from(line), false) {
                    self.counters.icache_hits += 1;
                    return 0;
                }
                self.counters.icache_misses += 1;
                self.icache.cache.fill(u64::from(line), false);
                memory.read(addr, FETCH_BYTES, 1 << self.line_log2, self.now)
            }
            _ => {
                // MemoryRequest after request, as the fetch port has no line to keep the rest in.
                let requests = (1u32 << self.line_log2) / FETCH_BYTES;
                let mut stall = 0;
                for request in 0..requests {
                    let now = self.now + u64::from(stall);
                    stall += memory.read(addr + request * FETCH_BYTES, FETCH_BYTES, FETCH_BYTES, now);
                }
                stall
            }
        };
        self.counters.fetch_stalls += u64::from(stall);
        self.spend(stall)
    }
}

impl crate::counters::Counters {
    pub(super) fn flash(&mut self, answer: Answer) {
        match answer {
            Answer::Hit => self.flash_hits += 1,
            Answer::Prefetched => self.flash_prefetched += 1,
            Answer::Miss => self.flash_misses += 1,
        }
    }
}
