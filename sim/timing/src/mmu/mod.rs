//! The MMU of an application core: micro-TLBs, main TLB, walks, and the checker of what they hold.
//!
//! An access looks into a micro-TLB (no extra cycles), then into the main TLB, then walks the tables. Main TLB operations
//! and writes to CONTEXTIDR flush the micro-TLBs (DDI 0388I 6.2.1); so do writes to the table registers. A locked entry is
//! therefore reached at the cost of a micro-TLB miss and a main TLB hit, at most.

mod check;

pub use check::{Checker, Holder, Missing, Stale};

use alloc::format;

use crate::attr::{MemAttr, Outer};
use crate::below::Served;
use crate::cp15::{Operation, TlbOperation};
use crate::profile::{MmuParams, ProfileError};
use crate::tlb::{Entry, MainTlb, MicroTlb, Part};
use crate::vmsa::{Fault, Mapping, Registers, Tables, WalkMemory, walk};

/// The source of a translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Translation is off.
    Off,
    /// The micro-TLB.
    Micro,
    /// The main TLB.
    Main(Part),
    /// A walk.
    Walk {
        /// Descriptors read.
        levels: u32,
        /// The slowest thing that answered.
        slowest: Served,
    },
}

/// A translation and its price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The mapping that the core uses.
    pub outcome: Result<Mapping, Fault>,
    /// Extra cycles.
    pub cycles: u32,
    /// Its source.
    pub found: Found,
    /// The defect in it, if there is one.
    pub stale: Option<Stale>,
}

/// Events in the MMU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MmuCounters {
    /// Accesses that the micro-TLBs did not serve.
    pub micro_misses: u64,
    /// Of these, served by a lock entry.
    pub locked_hits: u64,
    /// Of these, served by the associative part of the main TLB.
    pub main_hits: u64,
    /// Of these, walks.
    pub walks: u64,
    /// Walks for data whose slowest descriptor came from: level 1, a locked way, on-chip RAM, another way, memory.
    pub slowest: [u64; 5],
    /// The same of walks for instructions.
    pub fetch_slowest: [u64; 5],
    /// Cycles that translation cost.
    pub stalls: u64,
    /// Of these, for data.
    pub data_stalls: u64,
    /// Stale translations seen.
    pub stale: u64,
}

/// State of one MMU.
#[derive(Clone, Debug)]
pub struct Mmu {
    registers: Registers,
    micro_instruction: MicroTlb,
    micro_data: MicroTlb,
    main: MainTlb,
    /// Lock entry that walks fill, instead of the associative part.
    lockdown: Option<u32>,
    checker: Checker,
    main_hit: u32,
    walk_start: u32,
    walk_level: u32,
    counters: MmuCounters,
}

impl Mmu {
    /// As at reset: translation off, TLBs empty.
    ///
    /// # Errors
    /// When the shape of the main TLB is impossible.
    pub fn new(p: &MmuParams) -> Result<Self, ProfileError> {
        let wrong = |why| ProfileError { path: "application.mmu.main_entries".into(), rule: format!("{why}") };
        let (entries, ways) = (p.main_entries.value, p.main_ways.value);
        Ok(Self {
            registers: Registers::RESET,
            micro_instruction: MicroTlb::new(p.micro_instruction.value),
            micro_data: MicroTlb::new(p.micro_data.value),
            main: MainTlb::new(entries, ways, p.lock_entries.value, p.main_replacement.value).map_err(wrong)?,
            lockdown: None,
            checker: Checker::default(),
            main_hit: p.main_hit.value,
            walk_start: p.walk_start.value,
            walk_level: p.walk_level.value,
            counters: MmuCounters::default(),
        })
    }

    /// The registers in force.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The lock entries.
    pub fn locked(&self) -> &[Option<Entry>] {
        self.main.locked()
    }

    /// Accesses that the micro-TLBs did not serve, so far.
    #[inline]
    pub const fn micro_misses(&self) -> u64 {
        self.counters.micro_misses
    }

    /// Events so far.
    pub const fn counters(&self) -> MmuCounters {
        self.counters
    }

    /// The first lock entry that the tables from which it was read no longer say, or else the first translation that a core may still
    /// hold and that they no longer say. Walks that begin at the same first-level table decide, whoever's identifier is current.
    /// Time: a walk for each.
    pub fn left_behind(&self, tables: &impl Tables) -> Option<Stale> {
        let locked = self.main.locked().iter().zip(0..).find_map(|(place, slot)| {
            let entry = (*place)?;
            let (virt, asid) = (entry.mapping.virt, entry.asid);
            let outcome = walk(&self.registers.with_root(virt, entry.root), tables, virt).outcome;
            let (holder, missing) = (Holder::Main(Part::Locked(slot)), Missing::ByAddress { locked: true });
            (outcome != Ok(entry.mapping)).then_some(Stale {
                virt,
                asid,
                holder,
                held: entry.mapping,
                tables: outcome,
                missing,
            })
        });
        locked.or_else(|| self.checker.left_behind(&self.registers, tables))
    }

    /// Drops every entry that is not locked, as another program that uses more pages than there are entries would.
    pub fn disturb(&mut self) {
        self.main.invalidate(false, |_| true);
        self.micro_instruction.flush();
        self.micro_data.flush();
    }

    /// The translation of a data access in the page accessed last, when it was found right and nothing has changed since: the
    /// answer of [`Mmu::translate`], which costs nothing then, without its price on the host.
    #[inline]
    pub fn again(&self, virt: u32, tables: &impl Tables) -> Option<&Mapping> {
        let asid = self.registers.asid();
        let judged = self.registers.enabled && self.checker.is_judged(virt, asid, tables.generation());
        if judged { self.micro_data.again(virt, asid) } else { None }
    }

    /// The same for a fetch.
    #[inline]
    pub fn fetch_again(&self, virt: u32, tables: &impl Tables) -> Option<&Mapping> {
        let asid = self.registers.asid();
        let judged = self.registers.enabled && self.checker.is_judged(virt, asid, tables.generation());
        if judged { self.micro_instruction.again(virt, asid) } else { None }
    }

    /// Translates `virt` for a fetch or a data access. `read` reads a descriptor through the memory system, at so many cycles
    /// from now: its extra cycles, and what answered.
    pub fn translate(
        &mut self,
        virt: u32,
        instruction: bool,
        tables: &impl Tables,
        read: impl FnMut(u32, WalkMemory, u32) -> (u32, Served),
    ) -> Translation {
        if !self.registers.enabled {
            return Translation { outcome: Ok(flat(virt, instruction)), cycles: 0, found: Found::Off, stale: None };
        }
        let asid = self.registers.asid();
        let micro = if instruction { &mut self.micro_instruction } else { &mut self.micro_data };
        if let Some(entry) = micro.look_up(virt, asid) {
            return self.answer(virt, tables, entry, Found::Micro);
        }
        self.counters.micro_misses += 1;
        if let Some((entry, place)) = self.main.look_up(virt, asid) {
            match place {
                Part::Locked(_) => self.counters.locked_hits += 1,
                Part::Associative => self.counters.main_hits += 1,
            }
            self.micro(instruction).fill(entry);
            self.stalled(self.main_hit, instruction);
            return self.answer(virt, tables, entry, Found::Main(place));
        }
        self.walk(virt, instruction, tables, read)
    }

    fn micro(&mut self, instruction: bool) -> &mut MicroTlb {
        if instruction { &mut self.micro_instruction } else { &mut self.micro_data }
    }

    /// Answers from an entry, which the checker judges.
    fn answer(&mut self, virt: u32, tables: &impl Tables, entry: Entry, found: Found) -> Translation {
        let (holder, cycles) = match found {
            Found::Main(place) => (Holder::Main(place), self.main_hit),
            _ => (Holder::Micro, 0),
        };
        let stale = self.checker.judge(virt, &self.registers, tables, Some((entry, holder)));
        self.counters.stale += u64::from(stale.is_some());
        Translation { outcome: Ok(entry.mapping), cycles, found, stale }
    }

    fn stalled(&mut self, cycles: u32, instruction: bool) {
        self.counters.stalls += u64::from(cycles);
        self.counters.data_stalls += if instruction { 0 } else { u64::from(cycles) };
    }

    fn walk(
        &mut self,
        virt: u32,
        instruction: bool,
        tables: &impl Tables,
        mut read: impl FnMut(u32, WalkMemory, u32) -> (u32, Served),
    ) -> Translation {
        let stale = self.checker.judge(virt, &self.registers, tables, None);
        let walk = walk(&self.registers, tables, virt);
        let mut cycles = self.main_hit + self.walk_start;
        let mut slowest = Served::Level1;
        for &addr in &walk.reads[..walk.levels as usize] {
            let (stall, served) = read(addr, walk.memory, cycles);
            cycles += self.walk_level + stall;
            slowest = slowest.max(served);
        }
        self.counters.walks += 1;
        let counts = &mut self.counters;
        let served = if instruction { &mut counts.fetch_slowest } else { &mut counts.slowest };
        served[slowest as usize] += 1;
        counts.stale += u64::from(stale.is_some());
        self.stalled(cycles, instruction);
        if let Ok(mapping) = walk.outcome {
            self.take(Entry { mapping, asid: self.registers.asid(), root: walk.root }, instruction);
        }
        Translation { outcome: walk.outcome, cycles, found: Found::Walk { levels: walk.levels, slowest }, stale }
    }

    /// Takes what a walk found: into the lock entry that the lockdown register names, or into the associative part.
    fn take(&mut self, entry: Entry, instruction: bool) {
        match self.lockdown.map(|slot| self.main.lock(slot, entry)) {
            Some(Ok(before)) => {
                if let Some(before) = before {
                    self.checker.unlocked(&before);
                }
                self.checker.learn(entry, true);
            }
            _ => {
                self.main.fill(entry);
                self.checker.learn(entry, false);
            }
        }
        self.micro(instruction).fill(entry);
    }

    /// Performs what a write to the system control coprocessor does to translation.
    pub fn operate(&mut self, operation: Operation) {
        let r = &mut self.registers;
        match operation {
            Operation::Control(value) => {
                r.enabled = value & 1 != 0;
                r.remap = value & 1 << 28 != 0;
                r.access_flag = value & 1 << 29 != 0;
            }
            Operation::Table0(value) => r.ttbr0 = value,
            Operation::Table1(value) => r.ttbr1 = value,
            Operation::TableControl(value) => r.ttbcr = value,
            Operation::ContextId(value) => r.contextidr = value,
            Operation::PrimaryRemap(value) => r.prrr = value,
            Operation::NormalRemap(value) => r.nmrr = value,
            Operation::TlbLockdown { preserve, victim } => {
                self.lockdown = preserve.then_some(u32::from(victim));
                return;
            }
            Operation::Tlb(operation) => self.invalidate(operation),
            Operation::SyncBarrier => return self.checker.sync(),
            _ => return,
        }
        self.checker.registers_changed();
        self.micro_instruction.flush();
        self.micro_data.flush();
    }

    /// TLB maintenance (DDI 0406 B4.2.2): TLBIALL and TLBIMVAA leave locked entries, the other two do not.
    fn invalidate(&mut self, operation: TlbOperation) {
        match operation {
            TlbOperation::All => self.drop(false, |_| true),
            TlbOperation::Address { addr, asid } => self.drop(true, |entry| entry.matches(addr, asid)),
            TlbOperation::Asid(asid) => self.drop(true, |entry| !entry.mapping.global && entry.asid == asid),
            TlbOperation::AddressAllSpaces(addr) => self.drop(false, |entry| entry.mapping.covers(addr)),
        }
    }

    fn drop(&mut self, and_locked: bool, condemned: impl Fn(&Entry) -> bool) {
        self.main.invalidate(and_locked, &condemned);
        self.checker.invalidate(and_locked, &condemned);
    }
}

/// Translation when it is off: addresses as they are; data strongly ordered, instructions not cacheable (DDI 0406 B3.2.1).
fn flat(virt: u32, instruction: bool) -> Mapping {
    let page = virt & 0xFFFF_F000;
    Mapping {
        virt: page,
        phys: page,
        size_log2: 12,
        global: true,
        domain: 0,
        access: 3,
        never: false,
        attr: if instruction { MemAttr::NON_CACHEABLE } else { MemAttr::STRONGLY_ORDERED },
        outer: Outer::NonCacheable,
    }
}

#[cfg(test)]
mod tests;
