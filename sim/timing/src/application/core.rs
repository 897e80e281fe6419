//! An application core: the pipeline over the memory system.

use alloc::vec::Vec;

use super::{Access, Charge, MemorySystem, Violation};
use crate::block::{BlockCost, InsnCost};
use crate::core::{Charged, Core};
use crate::counters::Counters;
use crate::cp15::Operation;
use crate::front::{Code, Executes, Front, NO_LINE};
use crate::insn::InsnInfo;
use crate::pipeline::CostTable;
use crate::pl310;
use crate::profile::{Profile, ProfileError};
use crate::vmsa::Tables;

/// An exception taken or left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// From the last instruction before it to the first of its handler.
    Entry,
    /// Back from it.
    Return,
}

/// A change of the core itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// A write to the system control coprocessor, or a barrier.
    Coprocessor(Operation),
    /// A store to a register of the level-2 controller.
    Controller(pl310::Operation),
}

/// State of one Armv7-A core with its memories. Its clock is that of its memory system.
///
/// An observer calls [`Application::block`] or [`Application::instruction`] for what executes and [`Application::data`] for each access, as with
/// [`crate::Machine`]; and [`Application::operate`] when an instruction writes a register of translation or is a barrier, at that
/// instruction. A DSB's wait is charged with its block already; what it does to maintenance is not.
#[derive(Clone, Debug)]
pub struct Application {
    system: MemorySystem,
    /// Fetch, prediction and issue.
    pub front: Front,
    entry: u32,
    exit: u32,
    exceptions: u64,
    returns: u64,
    violation: Option<Violation>,
}

impl Application {
    /// A core at time 0, as after a reset.
    ///
    /// # Errors
    /// As [`MemorySystem::new`].
    pub fn new(profile: &Profile) -> Result<Self, Vec<ProfileError>> {
        Ok(Self {
            system: MemorySystem::new(profile)?,
            front: Front::new(profile),
            entry: profile.exception.entry.value,
            exit: profile.exception.exit.value,
            exceptions: 0,
            returns: 0,
            violation: None,
        })
    }

    /// Its memory system.
    pub const fn system(&self) -> &MemorySystem {
        &self.system
    }

    /// Cycles since the start.
    pub const fn now(&self) -> u64 {
        self.system.now()
    }

    /// Lets `cycles` pass in which the core sleeps.
    pub const fn idle(&mut self, cycles: u64) {
        self.system.idle(cycles);
        self.system.counters.idle_cycles += cycles;
    }

    /// Events so far.
    pub fn counters(&self) -> Counters {
        let counters = self.system.counters();
        Counters { cycles: self.now(), exceptions: self.exceptions, returns: self.returns, ..counters }
    }

    /// Cost table for [`BlockCost::new`].
    pub const fn costs(&self) -> &CostTable {
        &self.front.costs
    }

    /// As [`MemorySystem::data_at_once`].
    #[inline]
    pub fn data_at_once(&mut self, access: &Access, tables: &impl Tables) -> bool {
        self.system.data_at_once(access, tables)
    }

    /// One data access.
    pub fn data(&mut self, access: Access, tables: &impl Tables) -> Charge {
        self.system.data(access, tables)
    }

    /// One execution of a block, whose addresses are virtual.
    pub fn block(&mut self, block: &BlockCost, tables: &impl Tables) -> Charged<Violation> {
        let cycles = self.execute_block(block, tables);
        self.executed(cycles)
    }

    /// One execution of one instruction.
    pub fn instruction(&mut self, insn: &InsnCost, tables: &impl Tables) -> Charged<Violation> {
        let cycles = self.execute_instruction(insn, tables);
        self.executed(cycles)
    }

    /// Nearly never is there a violation: it is not moved when there is none.
    #[inline]
    fn executed(&mut self, cycles: u32) -> Charged<Violation> {
        Charged { cycles, violation: if self.violation.is_some() { self.violation.take() } else { None } }
    }

    /// Enters an exception, from the last instruction before it to the first of its handler.
    pub fn exception_entry(&mut self) -> u32 {
        self.exceptions += 1;
        self.front.empty();
        self.system.spend(self.entry)
    }

    /// Returns from one.
    pub fn exception_exit(&mut self) -> u32 {
        self.returns += 1;
        self.front.empty();
        self.system.spend(self.exit)
    }

    /// Performs what a write to the system control coprocessor or a barrier does.
    pub fn operate(&mut self, operation: Operation, tables: &impl Tables) -> u32 {
        if operation == Operation::Predictor {
            self.front.predictor.clear();
        }
        self.front.last_fetch_line = NO_LINE;
        self.system.operate(operation, tables)
    }

    /// As [`MemorySystem::disturb`].
    pub fn disturb(&mut self) {
        self.front.last_fetch_line = NO_LINE;
        self.system.disturb();
    }

    /// As [`MemorySystem::spoil`], and the predictor has learned the wrong things.
    pub fn spoil(&mut self) {
        self.front.last_fetch_line = NO_LINE;
        self.front.predictor.spoil();
        self.system.spoil();
    }

    /// Performs a store to a register of the level-2 controller.
    pub fn control_l2(&mut self, operation: pl310::Operation) -> u32 {
        self.system.control_l2(operation)
    }
}

impl<T: Tables> Executes<T> for Application {
    fn front(&mut self) -> &mut Front {
        &mut self.front
    }

    fn counts(&mut self) -> &mut Counters {
        &mut self.system.counters
    }

    fn pass(&mut self, cycles: u32) -> u32 {
        self.system.spend(cycles)
    }

    fn fetch_line(&mut self, line: u32, tables: &T) -> u32 {
        let virt = line << self.front.line_log2;
        if self.system.fetch_at_once(virt, tables) {
            return 0;
        }
        let charge = self.system.fetch(virt, None, tables);
        self.violation = self.violation.or(charge.violation);
        charge.cycles
    }

    fn wait_for_stores(&mut self, _: &T) -> u32 {
        self.system.drain()
    }
}

impl<T: Tables> Core<T> for Application {
    type Insn = InsnInfo;
    type Code = Code;
    type Access = Access;
    type System = System;
    type Exception = Exception;
    type Violation = Violation;

    fn describe(&self, pc: u32, instructions: &[InsnInfo], alone: bool) -> Code {
        self.front.describe(pc, instructions, alone)
    }

    #[inline]
    fn fetch(&mut self, code: &Code, tables: &T) -> Charged<Violation> {
        match code {
            Code::Instruction(insn) => self.instruction(insn, tables),
            Code::Block(block) => self.block(block, tables),
        }
    }

    fn behind(&self, code: &Code, count: u32) -> u32 {
        self.front.behind(code, count)
    }

    fn cut(&mut self) {
        self.front.cut();
    }

    fn data(&mut self, access: Access, tables: &T) -> Charged<Violation> {
        let charge = self.system.data(access, tables);
        Charged { cycles: charge.cycles, violation: charge.violation }
    }

    fn system(&mut self, operation: System, tables: &T) -> u32 {
        match operation {
            System::Coprocessor(operation) => self.operate(operation, tables),
            System::Controller(operation) => self.control_l2(operation),
        }
    }

    fn exception(&mut self, exception: Exception) -> u32 {
        match exception {
            Exception::Entry => self.exception_entry(),
            Exception::Return => self.exception_exit(),
        }
    }

    fn check(&self, tables: &T) -> Option<Violation> {
        self.system.mmu().left_behind(tables).map(Violation::Stale)
    }

    fn sleep(&mut self, cycles: u64) {
        self.idle(cycles);
    }

    fn spoil(&mut self) {
        Application::spoil(self);
    }

    fn disturb(&mut self) {
        Application::disturb(self);
    }

    fn counters(&self) -> Counters {
        Application::counters(self)
    }
}
