//! Writes to the system control coprocessor and to the level-2 controller.

use super::MemorySystem;
use crate::cp15::{CacheOperation, Operation};
use crate::pl310;
use crate::vmsa::{Tables, walk};

impl MemorySystem {
    /// Performs a write to the system control coprocessor and returns its cycles beyond those of the instruction. Cache
    /// operations by address take the address that `tables` translate it to.
    pub fn operate(&mut self, operation: Operation, tables: &impl Tables) -> u32 {
        match operation {
            Operation::Control(value) => {
                self.side.l1.on = value & 1 << 2 != 0;
                self.icache.on = value & 1 << 12 != 0;
            }
            Operation::AuxiliaryControl(value) => {
                self.prefetcher.on = value & 1 << 2 != 0;
                self.coherent = value & 1 << 6 != 0;
            }
            Operation::ContextId(_) | Operation::Table0(_) | Operation::Table1(_) => self.prefetcher.stop(),
            Operation::SyncBarrier => {
                self.mmu.operate(operation);
                self.prefetcher.stop();
                return self.drain();
            }
            Operation::Cache(operation) => return self.maintain(operation, tables),
            _ => {}
        }
        self.mmu.operate(operation);
        if matches!(operation, Operation::Tlb(_)) { self.spend(self.maintenance) } else { 0 }
    }

    /// Waits until every buffered store is done.
    pub(super) fn drain(&mut self) -> u32 {
        let stall = self.side.stores.drain(self.now);
        self.counters.drain_stalls += u64::from(stall);
        self.spend(stall)
    }

    /// The physical address of a virtual one by the tables as they stand; none when it has no translation. Nothing is charged.
    pub fn physical(&self, addr: u32, tables: &impl Tables) -> Option<u32> {
        let registers = self.mmu.registers();
        if !registers.enabled {
            return Some(addr);
        }
        let mapping = walk(registers, tables, addr).outcome.ok()?;
        Some(mapping.translate(addr))
    }

    fn physical_line(&self, addr: u32, tables: &impl Tables) -> Option<u64> {
        self.physical(addr, tables).map(|addr| u64::from(self.side.line(addr)))
    }

    fn maintain(&mut self, operation: CacheOperation, tables: &impl Tables) -> u32 {
        self.counters.maintenance += 1;
        let spent = self.spend(self.maintenance);
        let written = match operation {
            CacheOperation::InstructionAll => {
                self.icache.cache.invalidate_all();
                None
            }
            CacheOperation::InstructionLine(addr) => {
                if let Some(line) = self.physical_line(addr, tables) {
                    self.icache.cache.invalidate_line(line);
                }
                None
            }
            CacheOperation::DataLine { addr, clean, invalidate } => {
                let line = self.physical_line(addr, tables);
                line.filter(|&line| self.side.maintain_line(line, clean, invalidate))
            }
            CacheOperation::DataSetWay { set_way, clean, invalidate } => {
                self.side.maintain_place(set_way, clean, invalidate)
            }
        };
        let Some(line) = written else { return spent };
        let stall = self.side.buffer_write_back(line, self.now, &mut self.counters);
        spent + self.spend(stall)
    }

    /// Performs a store to a register of the level-2 controller and returns the cycles waited for it. Write-backs go on
    /// behind it until [`pl310::Operation::Sync`].
    pub fn control_l2(&mut self, operation: pl310::Operation) -> u32 {
        let Some(l2) = &mut self.side.below.l2 else { return 0 };
        match operation {
            pl310::Operation::Enable(on) => l2.on = on,
            pl310::Operation::Lockdown { master, mask } => l2.lock(master, mask),
            pl310::Operation::Sync => {
                let stall = self.controller_done.saturating_sub(self.now) as u32;
                return self.spend(stall);
            }
            pl310::Operation::Line { addr, clean, invalidate } => {
                let line = u64::from(addr >> self.side.below.line_log2);
                if l2.maintain_line(line, clean, invalidate) {
                    self.retire(line);
                }
            }
            pl310::Operation::Ways { mask, clean, invalidate } => self.maintain_ways(mask, clean, invalidate),
        }
        0
    }

    fn maintain_ways(&mut self, mask: u32, clean: bool, invalidate: bool) {
        let Some((sets, ways)) = self.side.below.l2.as_ref().map(|l2| (l2.cache().sets(), l2.cache().ways())) else {
            return;
        };
        for way in (0..ways).filter(|way| mask & 1 << way != 0) {
            for set in 0..sets {
                let l2 = self.side.below.l2.as_mut();
                if let Some(line) = l2.and_then(|l2| l2.maintain_place(set, way, clean, invalidate)) {
                    self.retire(line);
                }
            }
        }
    }

    fn retire(&mut self, line: u64) {
        self.controller_done = self.controller_done.max(self.side.below.past_level2(line, self.now));
    }
}
