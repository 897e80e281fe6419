//! Data accesses and fetches.

use super::MemorySystem;
use crate::attr::{MemAttr, Outer};
use crate::below::{MemoryRequest, Served};
use crate::counters::Counters;
use crate::mmu::{Found, Stale, Translation};
use crate::pl310::Master;
use crate::side::{DataSide, Put};
use crate::vmsa::{Fault, Mapping, Tables, WalkMemory};

/// One access, as its observer saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Virtual address.
    pub virt: u32,
    /// The physical address that the access really went to, when the observer knows it.
    pub phys: Option<u32>,
    /// The same of its first byte in the page behind, if it reaches into that.
    pub beyond: Option<u32>,
    /// Bytes, 1 to 32.
    pub size: u32,
    /// Whether it is a store.
    pub store: bool,
}

/// A defect that an access reveals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A translation that the tables no longer say is in use.
    Stale(Stale),
    /// A walk read a descriptor past a cache that holds its line changed: it saw an old one. The store to the table needs
    /// a clean to the point that walks look at.
    UncleanTable {
        /// The virtual address accessed.
        virt: u32,
        /// The descriptor.
        descriptor: u32,
        /// The cache that holds it.
        cache: Served,
    },
    /// The access went elsewhere than the tables say: the observer's copy of the tables is wrong.
    Elsewhere {
        /// The virtual address accessed.
        virt: u32,
        /// The physical address that it went to.
        went: u32,
        /// The physical address by the tables in use.
        expected: u32,
    },
}

impl Violation {
    /// The virtual address at which something is wrong: of an access that straddles two pages it can be the first byte in the second.
    pub const fn virt(&self) -> u32 {
        match self {
            Self::Stale(stale) => stale.virt,
            Self::UncleanTable { virt, .. } | Self::Elsewhere { virt, .. } => *virt,
        }
    }
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Stale(stale) => stale.fmt(f),
            Self::UncleanTable { virt, descriptor, .. } => {
                write!(f, "{virt:#010x}: the walk read {descriptor:#010x} past a cache that holds it changed")
            }
            Self::Elsewhere { virt, went, expected } => {
                write!(f, "{virt:#010x} went to {went:#010x}, the tables say {expected:#010x}")
            }
        }
    }
}

/// The cost of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    /// Cycles that it adds to those of the instruction.
    pub cycles: u32,
    /// Of these, for translation.
    pub translation: u32,
    /// Source of the (last) translation.
    pub found: Found,
    /// Why there was none.
    pub fault: Option<Fault>,
    /// The first thing that is wrong.
    pub violation: Option<Violation>,
}

/// Bytes that one fetch request brings where nothing caches: the width of the fetch port.
const FETCH_BYTES: u32 = 8;

impl MemorySystem {
    /// One data access. One that straddles two lines is charged for both, and for two translations if they lie in two
    /// pages. If translation faults, only the walk is charged. The clock advances by the cycles returned.
    pub fn data(&mut self, access: Access, tables: &impl Tables) -> Charge {
        let Access { virt, size, store, .. } = access;
        if self.data_at_once(&access, tables) {
            return Charge::NOTHING;
        }
        self.count(store);
        let (mut charge, mut mapping) = self.translate(virt, access.phys, false, tables);
        if !store && virt & (size.min(4) - 1) != 0 {
            charge.cycles += self.spend(self.unaligned_load);
        }
        let line = 1u32 << self.side.below.line_log2;
        let here = (line - (virt & (line - 1))).min(size);
        if let Some(m) = mapping {
            charge.cycles += self.part(m.translate(virt), here, store, &m);
        }
        if here < size && charge.fault.is_none() {
            let next = virt.wrapping_add(here);
            match mapping.filter(|m| m.covers(next)) {
                Some(same) => charge.violation = charge.violation.or_else(|| elsewhere(next, access.beyond, &same)),
                None => {
                    let (second, other) = self.translate(next, access.beyond, false, tables);
                    charge.add(&second);
                    mapping = other;
                }
            }
            if let Some(m) = mapping {
                charge.cycles += self.part(m.translate(next), size - here, store, &m);
            }
        }
        charge
    }

    /// A data access, if it costs nothing and nothing is wrong with it; otherwise nothing happens, and [`MemorySystem::data`] is to be
    /// called. Most are such, and an answer of one bit is cheap.
    #[inline]
    pub fn data_at_once(&mut self, access: &Access, tables: &impl Tables) -> bool {
        let at_once = self.again(access, tables);
        if at_once {
            self.count(access.store);
        }
        at_once
    }

    #[inline]
    fn count(&mut self, store: bool) {
        if store {
            self.counters.stores += 1;
        } else {
            self.counters.loads += 1;
        }
    }

    /// The same for a fetch, and [`MemorySystem::fetch`].
    #[inline]
    pub fn fetch_at_once(&mut self, virt: u32, tables: &impl Tables) -> bool {
        let Some(mapping) = self.mmu.fetch_again(virt, tables) else { return false };
        let (addr, cacheable) = (mapping.translate(virt), mapping.attr.cacheable);
        let Some(index) = self.side.below.find(addr, self.fetch_memory) else { return false };
        self.fetch_memory = index;
        self.cached_line(index, addr, cacheable) == Some(true)
    }

    /// Whether the instruction cache has the line at an address of a memory; none if it holds nothing of there.
    #[inline]
    fn cached_line(&mut self, memory: usize, addr: u32, cacheable: bool) -> Option<bool> {
        let below = &self.side.below;
        if !(cacheable && below.memories[memory].cacheable && self.icache.on) {
            return None;
        }
        let hit = self.icache.cache.access(u64::from(addr >> below.line_log2), false);
        self.counters.icache_hits += u64::from(hit);
        Some(hit)
    }

    /// Fetches the line of instructions at `virt`.
    pub fn fetch(&mut self, virt: u32, phys: Option<u32>, tables: &impl Tables) -> Charge {
        let again = self.mmu.fetch_again(virt, tables).filter(|m| phys.is_none_or(|went| went == m.translate(virt)));
        let (mut charge, mapping) = match again {
            Some(mapping) => (Charge::NOTHING, Some(*mapping)),
            None => self.translate(virt, phys, true, tables),
        };
        if let Some(m) = mapping {
            let stall = self.fetch_line(m.translate(virt), &m);
            self.counters.fetch_stalls += u64::from(stall);
            charge.cycles += self.spend(stall);
        }
        charge
    }

    /// Whether an access is one in the page of the last, to a line that the level-1 cache serves at once: most are.
    #[inline]
    fn again(&mut self, access: &Access, tables: &impl Tables) -> bool {
        let Access { virt, phys, size, store, .. } = *access;
        let line_log2 = self.side.below.line_log2;
        let within = virt.wrapping_add(size - 1) >> line_log2 == virt >> line_log2;
        if !within || !store && virt & (size.min(4) - 1) != 0 || !self.prefetcher.is_idle() {
            return false;
        }
        let Some(mapping) = self.mmu.again(virt, tables) else { return false };
        let addr = mapping.translate(virt);
        let attr = at_level1(mapping.attr, self.coherent);
        let hit = phys.is_none_or(|went| went == addr) && self.side.hit(addr >> line_log2, store, attr);
        self.counters.dcache_hits += u64::from(hit);
        hit
    }

    fn translate(
        &mut self,
        virt: u32,
        phys: Option<u32>,
        instruction: bool,
        tables: &impl Tables,
    ) -> (Charge, Option<Mapping>) {
        let (now, side, counters) = (self.now, &mut self.side, &mut self.counters);
        let mut unclean = None;
        let Translation { outcome, cycles, found, stale } =
            self.mmu.translate(virt, instruction, tables, |addr, memory, after| {
                let (stall, served, dirty) = read_descriptor(side, counters, addr, memory, now + u64::from(after));
                if let Some(cache) = dirty {
                    unclean.get_or_insert(Violation::UncleanTable { virt, descriptor: addr, cache });
                }
                (stall, served)
            });
        let elsewhere = outcome.ok().and_then(|mapping| elsewhere(virt, phys, &mapping));
        let violation = stale.map(Violation::Stale).or(unclean).or(elsewhere);
        let cycles = self.spend(cycles);
        (Charge { cycles, translation: cycles, found, fault: outcome.err(), violation }, outcome.ok())
    }

    /// The part of an access that lies within one line: stall cycles, already added to the clock.
    fn part(&mut self, addr: u32, size: u32, store: bool, mapping: &Mapping) -> u32 {
        let Some(index) = self.side.below.find(addr, 0) else {
            self.counters.outside += 1;
            return 0;
        };
        let attr = at_level1(mapping.attr, self.coherent);
        let request = MemoryRequest { outer: mapping.outer, master: Master::Data };
        let cached = self.side.below.memories[index].cacheable && attr.data_cacheable() && self.side.l1.on;
        let stall = match (cached, store) {
            (true, _) => self.cached(index, addr, size, store, attr, request),
            (false, true) => self.side.plain_store(index, addr, size, attr.strongly_ordered, self.now, request),
            (false, false) => {
                self.counters.uncached += 1;
                self.side.below.read(index, addr, size, size, self.now, request).0
            }
        };
        self.counters.data_stalls += u64::from(stall);
        self.spend(stall)
    }

    fn cached(
        &mut self,
        index: usize,
        addr: u32,
        size: u32,
        store: bool,
        attr: MemAttr,
        request: MemoryRequest,
    ) -> u32 {
        let line = self.side.line(addr);
        let (now, counters) = (self.now, &mut self.counters);
        let (stall, next) = if self.side.hit(line, store, attr) {
            counters.dcache_hits += 1;
            match self.prefetcher.found(line) {
                Some((ready, next)) => (ready.saturating_sub(now) as u32, next),
                None => (0, None),
            }
        } else {
            let there = self.side.l1.cache.probe(u64::from(line)).is_some();
            let stall = if store {
                self.side.store(index, Put { addr, size, attr }, now, request, counters)
            } else {
                self.side.load(index, addr, now, request, counters).0
            };
            (stall, if there { None } else { self.prefetcher.missed(line) })
        };
        if let Some(next) = next {
            self.ask_ahead(index, next, now + u64::from(stall), request);
        }
        stall
    }

    /// Brings a line in ahead of its use, behind what the program waits for.
    fn ask_ahead(&mut self, index: usize, next: (u32, usize), at: u64, request: MemoryRequest) {
        let addr = next.0 << self.side.below.line_log2;
        let there = self.side.l1.cache.probe(u64::from(next.0)).is_some();
        if there || !self.side.below.memories[index].holds(addr) {
            return;
        }
        let (cycles, _) = self.side.fill(index, next.0, false, at, request, &mut self.counters);
        self.prefetcher.asked(next, at + u64::from(cycles));
    }

    fn fetch_line(&mut self, addr: u32, mapping: &Mapping) -> u32 {
        let Some(index) = self.side.below.find(addr, 0) else {
            self.counters.outside += 1;
            return 0;
        };
        let cached = self.cached_line(index, addr, mapping.attr.cacheable);
        let below = &mut self.side.below;
        let request = MemoryRequest { outer: mapping.outer, master: Master::Instruction };
        let bytes = 1u32 << below.line_log2;
        match cached {
            Some(true) => return 0,
            Some(false) => {
                self.counters.icache_misses += 1;
                self.icache.cache.fill(u64::from(addr >> below.line_log2), false);
                return below.read(index, addr & !(bytes - 1), FETCH_BYTES, bytes, self.now, request).0;
            }
            None => {}
        }
        // MemoryRequest after request, as the fetch port has no line to keep the rest in.
        let first = addr & !(bytes - 1);
        (0..bytes / FETCH_BYTES).fold(0, |stall, n| {
            let now = self.now + u64::from(stall);
            stall + below.read(index, first + n * FETCH_BYTES, FETCH_BYTES, FETCH_BYTES, now, request).0
        })
    }
}

impl Charge {
    /// A hit everywhere.
    const NOTHING: Self = Self { cycles: 0, translation: 0, found: Found::Micro, fault: None, violation: None };

    /// Adds what a second translation of the same access cost.
    fn add(&mut self, other: &Self) {
        self.cycles += other.cycles;
        self.translation += other.translation;
        self.found = other.found;
        self.fault = self.fault.or(other.fault);
        self.violation = self.violation.or(other.violation);
    }
}

/// What is wrong if an access at `virt` went to another address than a mapping says.
fn elsewhere(virt: u32, went: Option<u32>, mapping: &Mapping) -> Option<Violation> {
    let (went, expected) = (went?, mapping.translate(virt));
    (went != expected).then_some(Violation::Elsewhere { virt, went, expected })
}

/// The memory type as the level-1 caches see it: they hold shareable memory when the core takes part in coherency.
const fn at_level1(attr: MemAttr, coherent: bool) -> MemAttr {
    MemAttr { shareable: attr.shareable && !coherent, ..attr }
}

/// Reads a descriptor as the walk does: through the level-1 data cache if its memory type says so (DDI 0388I 6.3), a miss
/// allocating as a load's does. Stall cycles, what answered, and a cache passed by that holds it changed.
fn read_descriptor(
    side: &mut DataSide,
    counters: &mut Counters,
    addr: u32,
    memory: WalkMemory,
    at: u64,
) -> (u32, Served, Option<Served>) {
    let Some(index) = side.below.find(addr, 0) else {
        counters.outside += 1;
        return (0, Served::Memory, None);
    };
    let request = MemoryRequest { outer: memory.outer, master: Master::Data };
    if memory.level1 && side.l1.on && side.below.memories[index].cacheable {
        let (stall, served) = side.load(index, addr, at, request, counters);
        return (stall, served, None);
    }
    let line = u64::from(side.line(addr));
    let in_l2 = side.below.l2.as_ref().is_some_and(|l2| l2.on && l2.cache().is_dirty(line));
    let dirty = match () {
        () if side.l1.cache.is_dirty(line) => Some(Served::Level1),
        () if in_l2 && memory.outer == Outer::NonCacheable => Some(Served::Level2),
        () => None,
    };
    let (stall, served) = side.below.read(index, addr, 4, 4, at, request);
    (stall, served, dirty)
}
