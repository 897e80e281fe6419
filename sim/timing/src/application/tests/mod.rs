mod calibration;
mod core;
mod level2;
mod spoil;
mod walks;

use super::{Access, Charge, MemorySystem};
use crate::cp15::{CacheOperation, Operation, TlbOperation};
use crate::pl310;
use crate::profile::tests::xc7z020;
use crate::vmsa::tests::Shadow;

/// First-level table in DRAM, as are all addresses below 0x4000_0000 (1 GiB).
const DDR_ROOT: u32 = 0x0100_0000;
/// Its second-level table, in another row of the same bank.
const DDR_PAGES: u32 = 0x0200_0000;
/// Both in on-chip RAM.
const OCM_ROOT: u32 = 0xFFFC_0000;
const OCM_PAGES: u32 = 0xFFFC_8000;
/// Walks look into the level-1 data cache and the level-2 cache: IRGN and RGN write-back, write-allocate.
const CACHED_WALKS: u32 = 0x48;
/// Into the level-2 cache only.
const OUTER_WALKS: u32 = 0x08;
/// Past both.
const UNCACHED_WALKS: u32 = 0;

/// 256 small pages at VIRT, from physical 0x0300_0000: normal memory, write-back, write-allocate (TEX 001, C, B).
const VIRT: u32 = 0x4000_0000;
const DATA: u32 = 0x0300_0000;
const PAGE: u32 = 1 << 6 | 0b11 << 4 | 0b1110;
/// Sections: the same memory type.
const SECTION: u32 = 1 << 12 | 0b11 << 10 | 0b1110;

/// A memory system whose tables an observer keeps.
struct Rig {
    system: MemorySystem,
    tables: Shadow,
    root: u32,
    pages: u32,
}

impl Rig {
    /// Caches and translation on, the prefetcher off, nothing locked, tables at `root` and `pages`. DRAM is mapped by
    /// sections where it is, too.
    fn new(root: u32, pages: u32, walks: u32) -> Self {
        let mut tables = Shadow::default();
        tables.set(root + 0x1000, pages | 1);
        for n in 0..256 {
            tables.set(pages + n * 4, (DATA + n * 0x1000) | PAGE);
        }
        for n in 0..0x400 {
            tables.set(root + n * 4, n << 20 | SECTION);
        }
        tables.set(root + 0x3FFC, 0xFFF0_0000 | SECTION);
        let system = MemorySystem::new(&xc7z020()).unwrap();
        let mut rig = Self { system, tables, root, pages };
        rig.system.control_l2(pl310::Operation::Enable(true));
        rig.operate(Operation::Table0(root | walks));
        rig.operate(Operation::ContextId(1));
        rig.operate(Operation::Control(1 << 12 | 1 << 2 | 1));
        rig
    }

    fn ddr() -> Self {
        Self::new(DDR_ROOT, DDR_PAGES, CACHED_WALKS)
    }

    fn operate(&mut self, operation: Operation) -> u32 {
        self.system.operate(operation, &self.tables)
    }

    fn access(&mut self, virt: u32, size: u32, store: bool) -> Charge {
        self.system.data(Access { virt, phys: None, beyond: None, size, store }, &self.tables)
    }

    /// Cycles of a word load, long after everything before it.
    fn load(&mut self, virt: u32) -> u32 {
        self.system.idle(100_000);
        let charge = self.access(virt, 4, false);
        assert_eq!(charge.violation, None);
        charge.cycles
    }

    fn flush_tlb(&mut self) {
        self.operate(Operation::Tlb(TlbOperation::All));
        self.operate(Operation::SyncBarrier);
    }

    /// Takes a line, by an address mapped where it is, out of both data caches.
    fn evict(&mut self, addr: u32) {
        self.evict_level1(addr);
        self.system.control_l2(pl310::Operation::Line { addr, clean: true, invalidate: true });
        self.system.control_l2(pl310::Operation::Sync);
    }

    fn evict_level1(&mut self, addr: u32) {
        self.operate(Operation::Cache(CacheOperation::DataLine { addr, clean: true, invalidate: true }));
        self.operate(Operation::SyncBarrier);
    }

    /// The descriptors of the page at VIRT.
    fn descriptors(&self) -> [u32; 2] {
        [self.root + 0x1000, self.pages]
    }
}
